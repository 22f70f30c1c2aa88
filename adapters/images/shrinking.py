"""A program that scales one picture down, under limits that a malicious picture cannot exceed.

    python shrinking.py SOURCE TARGET WIDTH HEIGHT (all | still | square)

The picture is written to TARGET as WebP. For an animation, `still` writes only the first frame, and
`all` also writes the first frame to TARGET.still. `square` writes the first frame to TARGET as PNG,
cropped and scaled to exactly this width and height. The output is one line of JSON: the width and
height of the source, and whether it is animated. The exit status is 1 if the file is not a picture
or exceeds a limit.
"""

import json
import os
import resource
import sys
import warnings
from pathlib import Path

# If these two are not imported, Pillow imports all its forty formats to find them.
import PIL.AvifImagePlugin
import PIL.WebPImagePlugin  # noqa: F401
from PIL import Image, ImageOps, UnidentifiedImageError
from PIL.JpegImagePlugin import JpegImageFile
from PIL.TiffImagePlugin import STRIPOFFSETS, TILEOFFSETS, TiffImageFile

MEMORY = 512 * 1024 * 1024
"""The limit of the address space in bytes, including the interpreter."""
CPU_S = 3
NICENESS = 10
"""Lowers the process's priority, so that the server's requests have precedence."""
WRITTEN = 8 * 1024 * 1024
"""The maximum size of an output file in bytes."""
PIXELS = 32_000_000
"""The maximum number of pixels of a decoded frame, each of four bytes."""
FRAMES = 150
PIXELS_OF_FRAMES = 100_000_000
SCANS = 100
"""The maximum number of scans of a JPEG, an MPO (several JPEGs) or a TIFF (a JPEG per strip). Each
scan is a pass over the complete picture or strip; encoders create about ten.
"""
START_OF_SCAN = b"\xff\xda"
FORMATS = ("AVIF", "BMP", "GIF", "JPEG", "PNG", "TIFF", "WEBP")
REFUSED = 1


def main(source: Path, target: Path, width: int, height: int, frames: str) -> int:
    """Set the limits and scale the picture down. Return the exit status."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_FSIZE, (WRITTEN, WRITTEN))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(NICENESS)
    Image.MAX_IMAGE_PIXELS = None  # PIXELS is checked instead
    warnings.simplefilter("ignore")
    try:
        with Image.open(source, formats=FORMATS) as image:
            facts = _shrink(image, source, target, (width, height), frames)
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, MemoryError, EOFError):
        return REFUSED
    print(json.dumps(facts))
    return 0


def _shrink(
    image: Image.Image, source: Path, target: Path, box: tuple[int, int], wanted: str
) -> dict[str, object]:
    size = image.size
    if isinstance(image, JpegImageFile):
        image.draft("RGB", box)  # a JPEG can be decoded at an eighth of its size
    if isinstance(image, JpegImageFile | TiffImageFile) and (
        source.read_bytes().count(START_OF_SCAN) > SCANS + _strips(image)
    ):
        raise ValueError("too many scans")
    pixels = image.size[0] * image.size[1]
    if pixels > PIXELS:
        raise ValueError("too many pixels")
    # The pictures of an MPO are views of one scene, not an animation.
    frames = min(getattr(image, "n_frames", 1), FRAMES) if image.format != "MPO" else 1
    is_animated = frames > 1 and pixels * frames <= PIXELS_OF_FRAMES
    still = _cut(image, box) if wanted == "square" else _fitted(image, box)
    if wanted == "square":
        still.save(target, "PNG")
    elif is_animated and wanted == "all":
        still.save(target.with_name(target.name + ".still"), "WEBP")
        moving = []
        durations = []
        for number in range(frames):
            image.seek(number)
            durations.append(int(image.info.get("duration") or 100))
            moving.append(_fitted(image, box))
        moving[0].save(
            target, "WEBP", save_all=True, append_images=moving[1:], duration=durations, loop=0
        )
    else:
        still.save(target, "WEBP", quality=80)
    turned = image.getexif().get(0x0112, 1) >= 5  # EXIF: its rows are columns
    width, height = size[::-1] if turned else size
    return {"width": width, "height": height, "is_animated": is_animated}


def _strips(image: JpegImageFile | TiffImageFile) -> int:
    """Return the number of strips or tiles of a TIFF, 0 for a JPEG."""
    if isinstance(image, JpegImageFile):
        return 0
    return max(len(image.tag_v2.get(tag, ())) for tag in (STRIPOFFSETS, TILEOFFSETS))


def _fitted(image: Image.Image, box: tuple[int, int]) -> Image.Image:
    """Return the frame upright, in RGBA, scaled down to fit the box. A smaller frame is not
    enlarged.
    """
    frame = image.convert("RGBA")
    frame.thumbnail(box)
    return _upright(frame)


def _cut(image: Image.Image, box: tuple[int, int]) -> Image.Image:
    """Return the middle of the frame upright, in RGBA, scaled to exactly the size of the box."""
    return _upright(ImageOps.fit(image.convert("RGBA"), box))


def _upright(frame: Image.Image) -> Image.Image:
    upright = ImageOps.exif_transpose(frame)
    upright.info.clear()
    return upright


if __name__ == "__main__":
    _, source, target, width, height, frames = sys.argv
    sys.exit(main(Path(source), Path(target), int(width), int(height), frames))
