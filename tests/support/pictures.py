"""Valid and malicious images for tests."""

import io
import struct
import zlib
from functools import cache

from PIL import Image

from tests.support.cpu import cost_of

SCRIPT = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


def picture(kind: str, width: int = 1, height: int = 1, *, frames: int = 1) -> bytes:
    """Return an image in one of Pillow's formats, animated if it has several frames."""
    made = [
        Image.new("RGB", (width, height), (at * 37 % 256, 40, 90)).convert("RGB")
        for at in range(frames)
    ]
    out = io.BytesIO()
    more = {"save_all": True, "append_images": made[1:], "duration": 50} if frames > 1 else {}
    made[0].save(out, kind, **more)
    return out.getvalue()


def endless_jpeg(scans: int, size: int = 5600) -> bytes:
    """Return a progressive JPEG whose last scan is repeated `scans` times."""
    image = _progressive("JPEG", size)
    last = image.rindex(b"\xff\xda")
    return image[:last] + image[last:-2] * scans + image[-2:]


def endless_mpo(scans: int, size: int = 5600) -> bytes:
    """Return an MPO whose first JPEG is an endless one."""
    image = _progressive("MPO", size)
    end = image.index(b"\xff\xd9\xff\xd8")
    last = image.rindex(b"\xff\xda", 0, end)
    return image[:last] + image[last:end] * scans + image[end:]


def endless_tiff(scans: int, size: int = 5600) -> bytes:
    """Return a TIFF whose only strip is an endless JPEG."""
    strip = endless_jpeg(scans, size)
    tags = {256: size, 257: size, 258: 8, 259: 7, 262: 1, 273: 0, 277: 1, 278: size}
    tags[279] = len(strip)
    tags[273] = 8 + 2 + 12 * len(tags) + 4
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags.items())
    head = struct.pack("<2sHIH", b"II", 42, 8, len(tags))
    return head + entries + bytes(4) + strip


@cache
def _progressive(kind: str, size: int) -> bytes:
    """Return a large progressive image. It is encoded in a separate process, because that takes 200
    MB.
    """

    def encode() -> bytes:
        out = io.BytesIO()
        image, view = (Image.new("L", (side, side), 90) for side in (size, 8))
        more = {"save_all": True, "append_images": [view]} if kind == "MPO" else {}
        image.save(out, kind, progressive=True, **more)
        return out.getvalue()

    encoded: bytes = cost_of(encode).result
    return encoded


def black_png(width: int, height: int) -> bytes:
    """Return a PNG with one bit per pixel, which compresses to a thousandth of its size."""
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    packer = zlib.compressobj(9)
    row = bytes(1 + (width + 7) // 8)
    data = b"".join(packer.compress(row * 100) for _ in range(height // 100))
    data += packer.compress(row * (height % 100)) + packer.flush()
    return (
        b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    crc = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc)


PIXEL = picture("PNG")
