"""Files, mails, pictures and payloads with excessive cost are rejected or read within limits of
processor time and memory, with a description of the error.

Documents: tests/specd/engine/test_document_bombs.py. Bodies of requests:
tests/specd/engine/test_cost.py.
"""

import gzip
import io
import json
import resource
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Sized
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from adapters.archive_reader import ArchiveReader, ArchiveRefused
from adapters.archives import MANIFEST, ArchiveWriter
from adapters.images.pictures import NotAPicture, make_small
from adapters.zulip_tarball import ZulipTarball
from cli.chat_mail import read_at_once
from models.chat.incoming_mail import TEXT_MAX, UnreadableMail
from models.chat.integrations.catalogue import INTEGRATIONS, find_posts
from models.chat.integrations.errors import MalformedPayload
from models.chat.integrations.payloads import MAX_POSTS, Asked
from specd._engine.http.multipart import parse_parts
from specd.errors import InvalidRequest
from tests.support.cpu import cost_of
from tests.support.pictures import (
    PIXEL,
    black_png,
    endless_jpeg,
    endless_mpo,
    endless_tiff,
    picture,
)

MIB = 1024 * 1024
SECONDS, BYTES = 2.0, 64 * MIB
Make = Callable[[Path], bytes]


def repeated(unit: str | bytes, size: int = MIB) -> bytes:
    raw = unit.encode() if isinstance(unit, str) else unit
    return raw * (size // len(raw))


# --- multipart bodies ----------------------------------------------------------------------------

HEAD = b'--x\r\nContent-Disposition: form-data; name="a"'
MULTIPART: dict[str, tuple[Callable[[], bytes], str]] = {
    "parts": (lambda: repeated(HEAD + b"\r\n\r\n\r\n") + b"--x--", "more than"),
    "heads without an end": (lambda: repeated(HEAD + b"\r\n", 40_000), "boundary is missing"),
    "options": (lambda: HEAD + repeated(b"; a=b") + b"\r\n\r\n\r\n--x--", ""),
    "quotes": (lambda: HEAD[:-1] + repeated(b'\\"') + b"\r\n\r\n\r\n--x--", ""),
    "almost boundaries": (lambda: HEAD + b"\r\n\r\n" + repeated(b"\r\n--"), "boundary is missing"),
}


def read_multipart(raw: bytes) -> str:
    with pytest.raises(InvalidRequest) as refused:
        parse_parts(raw, "multipart/form-data; boundary=x", limit=1000)
    return str([(each.path, each.message) for each in refused.value.violations])


@pytest.mark.parametrize("name", MULTIPART)
def test_multipart(name: str) -> None:
    make, message = MULTIPART[name]
    raw = make()
    cost = cost_of(lambda: read_multipart(raw))
    assert_bounded(cost.seconds, cost.growth)
    assert "/body" in cost.result
    assert message in cost.result


# --- mails ---------------------------------------------------------------------------------------


def nested_parts(levels: int) -> bytes:
    head = "Content-Type: multipart/mixed; boundary={0}\n\n--{0}\n"
    return "".join(head.format(level) for level in range(levels)).encode()


MIXED = b"Content-Type: multipart/mixed; boundary=x\n\n"
PLAIN = b"Content-Type: text/plain"
HTML = b"Content-Type: text/html\n\n"
MAILS: dict[str, Callable[[], bytes]] = {
    "nested parts": lambda: nested_parts(20_000),
    "parts": lambda: MIXED + repeated("--x\n\na\n"),
    "parameters": lambda: PLAIN + repeated("; a=b") + b"\n\nx",
    "continued parameters": lambda: (
        PLAIN + b"".join(b"; a*%d=b" % n for n in range(100_000)) + b"\n\nx"
    ),
    "encoded words": lambda: b"Subject: " + repeated("=?utf-8?q?a?= ") + b"\n\nx",
    "comments": lambda: b"From: " + repeated("(") + b"\n\nx",
    "addresses": lambda: b"From: " + repeated("a@b.example, ") + b"\n\nx",
    "headers": lambda: repeated("A: b\n") + b"\nx",
    "tags": lambda: HTML + repeated("<div>", 4 * MIB),
    "unclosed links": lambda: HTML + repeated('<a href="', 4 * MIB),
    "base64": lambda: (
        PLAIN + b"\nContent-Transfer-Encoding: base64\n\n" + repeated("YWFh\n", 16 * MIB)
    ),
    "an unknown charset": lambda: PLAIN + b"; charset=" + repeated("x") + b"\n\nx",
}


def read_a_mail(raw: bytes) -> str:
    try:
        return read_at_once(b"From: a@b.example\nMIME-Version: 1.0\n" + raw).text
    except UnreadableMail as refused:
        return str(refused)


@pytest.mark.parametrize("name", MAILS)
def test_mail(name: str) -> None:
    raw = MAILS[name]()
    cost = cost_of(lambda: read_a_mail(raw))
    assert_bounded(cost.seconds, cost.growth)
    assert len(cost.result) < 2 * TEXT_MAX


# --- pictures ------------------------------------------------------------------------------------


def png_with(kind: bytes, data: bytes) -> bytes:
    """Return a picture of one pixel with an additional chunk."""
    chunk = struct.pack(">I", len(data)) + kind + data
    chunk += struct.pack(">I", zlib.crc32(kind + data))
    return PIXEL[:33] + chunk + PIXEL[33:]


def jpeg_of(width: int, height: int) -> bytes:
    raw = bytearray(picture("JPEG", 8, 8))
    at = raw.index(b"\xff\xc0")
    raw[at + 5 : at + 9] = struct.pack(">HH", height, width)
    return bytes(raw)


def gif_of(width: int, height: int) -> bytes:
    raw = bytearray(picture("GIF", 8, 8))
    raw[6:10] = struct.pack("<HH", width, height)
    at = raw.index(b",\0\0\0\0")
    raw[at + 5 : at + 9] = struct.pack("<HH", width, height)
    return bytes(raw)


def webp_of(width: int, height: int) -> bytes:
    raw = bytearray(picture("WEBP", 8, 8))
    at = raw.index(b"\x9d\x01\x2a")
    raw[at + 3 : at + 7] = struct.pack("<HH", width, height)
    return bytes(raw)


def gif_of_frames(number: int) -> bytes:
    raw = picture("GIF", 1000, 1000, frames=2)
    second = raw.rindex(b"!\xf9")
    return raw[:second] + raw[second:-1] * number + b";"


@cache
def zeros() -> bytes:
    return zlib.compress(bytes(64 * MIB), 9)


PICTURES: dict[str, Callable[[], bytes]] = {
    "PNG of 20,000 pixels": lambda: black_png(20_000, 20_000),
    "PNG with a text": lambda: png_with(b"zTXt", b"a\0\0" + zeros()),
    "PNG with a text of any script": lambda: png_with(b"iTXt", b"a\0\1\0\0\0" + zeros()),
    "PNG with a profile": lambda: png_with(b"iCCP", b"a\0\0" + zeros()),
    "PNG with many texts": lambda: (
        PIXEL[:33]
        + png_with(b"zTXt", b"a\0\0" + zlib.compress(bytes(MIB)))[33 : -len(PIXEL) + 33] * 500
        + PIXEL[33:]
    ),
    "JPEG of 65,500 pixels": lambda: jpeg_of(65_500, 65_500),
    "JPEG of many scans": lambda: endless_jpeg(1500),
    "MPO of many scans": lambda: endless_mpo(1500),
    "TIFF of many scans": lambda: endless_tiff(1500),
    "GIF of 65,535 pixels": lambda: gif_of(65_535, 65_535),
    "GIF of 5,000 frames": lambda: gif_of_frames(5_000),
    "WebP of 16,383 pixels": lambda: webp_of(16_383, 16_383),
    "nothing but a head": lambda: b"\x89PNG\r\n\x1a\n" + bytes(MIB),
}
STILL = {"GIF of 5,000 frames"}
"""Files of which only the first frame is read."""


def shrink(folder: Path, raw: bytes) -> tuple[bool, float, int]:
    """Return whether a picture is rejected, and the seconds and bytes of its process."""
    source = folder / "source"
    source.write_bytes(raw)
    try:
        make_small(source, folder / "small", 100, 80)
        is_refused = False
    except NotAPicture:
        is_refused = True
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return is_refused, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


@pytest.fixture(scope="module")
def plain(cold_pictures: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[bool, float, int]:
    """The cost of a picture of one pixel: the start of the process."""
    folder = tmp_path_factory.mktemp("plain")
    found: tuple[bool, float, int] = cost_of(lambda: shrink(folder, PIXEL)).result
    assert not found[0]
    return found


@pytest.mark.parametrize("name", PICTURES)
def test_picture(name: str, plain: tuple[bool, float, int], tmp_path: Path) -> None:
    raw = PICTURES[name]()
    cost = cost_of(lambda: shrink(tmp_path, raw))
    is_refused, seconds, peak = cost.result
    assert is_refused == (name not in STILL)
    assert seconds < plain[1] * 4 + SECONDS / 2, f"{seconds:.2f} s, a pixel {plain[1]:.2f} s"
    assert peak - plain[2] < BYTES, f"{(peak - plain[2]) / MIB:.0f} MiB"
    if is_refused:
        assert [path.name for path in tmp_path.iterdir()] == ["source"]


# --- payloads of webhooks ------------------------------------------------------------------------

ALERT = {"status": "firing", "labels": {"alertname": "a", "instance": "i"}, "annotations": {}}
LONG = "`" * 500_000
PAYLOADS: dict[str, tuple[str, Any, str | None]] = {
    "alerts": ("alertmanager", {"alerts": [ALERT] * 8_000}, None),
    "alerts of a long name": (
        "alertmanager", {"alerts": [{**ALERT, "labels": {"alertname": LONG}}]}, None,
    ),
    "blocks": ("slack_incoming", {"blocks": [{"type": "divider"}] * 40_000}, "payload"),
    "elements in each other": (
        "slack_incoming", {"blocks": [{"type": "rich_text", "elements": [json.loads(
            '{"type":"rich_text_quote","elements":[' * 30 + "]}" * 30)]}]}, "payload",
    ),
    "a long text": ("slack_incoming", {"text": LONG}, None),
    "markup": ("slack_incoming", {"text": "<http://a|b>" * 80_000}, None),
    "stars": ("slack_incoming", {"text": "*a _b ~c " * 100_000}, None),
    "attachments": ("slack_incoming", {"attachments": [{"text": "x"}] * 40_000}, None),
    "a long title of Grafana": ("grafana", {"title": LONG, "message": "x", "state": "ok"}, None),
    "alerts of Grafana": ("grafana", {"alerts": [ALERT] * 8_000, "status": "firing"}, "payload"),
    "another type": ("alertmanager", {"alerts": {"a": LONG}}, "payload.alerts"),
}  # fmt: skip


def read_payload(name: str, payload: Any) -> str:
    try:
        posts = find_posts(INTEGRATIONS[name], payload, Asked(), only=None, exclude=None)
    except MalformedPayload as refused:
        return str(refused)
    assert len(posts) <= MAX_POSTS
    return ""


@pytest.mark.parametrize("name", PAYLOADS)
def test_payload(name: str) -> None:
    integration, payload, message = PAYLOADS[name]
    cost = cost_of(lambda: read_payload(integration, payload))
    assert_bounded(cost.seconds, cost.growth)
    assert message is None or message in cost.result or not cost.result


def assert_bounded(seconds: float, growth: int) -> None:
    assert seconds < SECONDS, f"{seconds:.2f} s"
    assert growth < BYTES, f"{growth / MIB:.0f} MiB"


# --- archives ------------------------------------------------------------------------------------


def written(folder: Path, *lines: bytes, files: int = 0) -> Path:
    """Write an archive with these lines, like the service."""
    with ArchiveWriter(folder, "a.zip") as archive:
        archive.write_lines("user.jsonl", [list(lines)], table="user", columns=("id", "name"))
        for number in range(files):
            archive.write_file(f"uploads/{number}", [b""])
        archive.finish({"format": 1})
    return folder / "a.zip"


def zipped(folder: Path, **entries: bytes) -> Path:
    with zipfile.ZipFile(folder / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name.replace("_", "."), content)
    return folder / "a.zip"


def shared_bytes(folder: Path) -> Path:
    """Write an archive with a hundred names for one entry of a megabyte."""
    path = zipped(folder, manifest_json=b"{}", a=bytes(MIB))
    with zipfile.ZipFile(path, "a") as archive:
        (kept,) = (each for each in archive.infolist() if each.filename == "a")
        for number in range(100):
            other = zipfile.ZipInfo(f"a{number}")
            for name in ("header_offset", "compress_size", "file_size", "CRC", "compress_type"):
                setattr(other, name, getattr(kept, name))
            archive.filelist.append(other)
        archive._didModify = True  # type: ignore[attr-defined]
    return path


NESTED = b'{"id":1,"name":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
ARCHIVES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "a manifest of many files": (
        lambda folder: zipped(folder, manifest_json=b'{"files":[' + b"{}," * 3_000_000 + b"{}]}"),
        f"'{MANIFEST}': is too large",
    ),
    "a manifest of brackets": (
        lambda folder: zipped(folder, manifest_json=b"[" * 1_000_000), f"'{MANIFEST}': is not JSON",
    ),
    "a manifest of a number": (
        lambda folder: zipped(folder, manifest_json=b'{"files":' + b"9" * 1_000_000 + b"}"),
        f"'{MANIFEST}': ",
    ),
    "zeros": (
        lambda folder: zipped(folder, manifest_json=b"{}", a=bytes(100 * MIB)),
        "'a': the archive is 200 times larger unpacked",
    ),
    "shared bytes": (shared_bytes, "has files that share their bytes"),
    "a long line": (
        lambda folder: written(folder, b'{"id":1,"name":"' + b"a" * (17 * MIB) + b'"}\n'),
        "'user.jsonl', line 1: the line is too long",
    ),
    "a line of many values": (
        lambda folder: written(folder, b'{"id":1,"name":[' + b"0," * 250_000 + b"0]}\n"),
        "'user.jsonl', line 1: the line has too many values",
    ),
    "a deep line": (lambda folder: written(folder, NESTED), "'user.jsonl', line 1: "),
    "a line without an end": (
        lambda folder: written(folder, b"{" * (8 * MIB)), "'user.jsonl', line 1: ",
    ),
}  # fmt: skip


def read_archive(path: Path) -> str:
    with pytest.raises(ArchiveRefused) as refused, ArchiveReader(path) as reader:
        reader.check()
    return str(refused.value)


@pytest.mark.parametrize("name", ARCHIVES)
def test_archive(name: str, tmp_path: Path) -> None:
    make, message = ARCHIVES[name]
    path = make(tmp_path)
    cost = cost_of(lambda: read_archive(path))
    assert_bounded(cost.seconds, cost.growth)
    assert message in cost.result


# --- exports of Zulip ----------------------------------------------------------------------------


def tarball(folder: Path, level: int = 1, **files: bytes) -> Path:
    with tarfile.open(folder / "a.tar.gz", "w:gz", compresslevel=level) as target:
        for name, content in {**files, "attachment_json": b'{"zerver_attachment":[]}'}.items():
            info = tarfile.TarInfo(f"x/{name.replace('_', '.')}")
            info.size = len(content)
            target.addfile(info, io.BytesIO(content))
    return folder / "a.tar.gz"


def long_names(folder: Path) -> Path:
    path = folder / "a.tar.gz"
    with tarfile.open(path, "w:gz", format=tarfile.GNU_FORMAT, compresslevel=1) as target:
        for number in range(200):
            target.addfile(tarfile.TarInfo(f"x/uploads/{number}{'a' * 65_000}"))
    return path


def headers(folder: Path, kind: bytes) -> Path:
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = kind, 512
    path = folder / "a.tar.gz"
    path.write_bytes(gzip.compress((info.tobuf() + b"a" * 512) * 20_000))
    return path


def table(rows: bytes) -> bytes:
    return b'{"zerver_realm":[' + rows + b"]}"


TARBALLS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "names": (long_names, "the names of files are too long together"),
    "headers": (lambda folder: headers(folder, tarfile.GNUTYPE_LONGNAME), "too many headers"),
    "extended headers": (lambda folder: headers(folder, tarfile.XHDTYPE), ""),
    "zeros": (
        lambda folder: tarball(folder, level=9, realm_json=b"{}", a=bytes(100 * MIB)),
        "times larger",
    ),
    "brackets": (lambda folder: tarball(folder, realm_json=b"[" * 1_000_000), "'realm.json'"),
    "a deep row": (
        lambda folder: tarball(folder, realm_json=table(b'{"a":' + b"[" * 1_000_000)), "realm",
    ),
    "a long row": (
        lambda folder: tarball(folder, realm_json=table(b'{"a":"' + b"a" * (17 * MIB) + b'"}')),
        "realm",
    ),
    "a text without an end": (
        lambda folder: tarball(folder, realm_json=table(b'{"a":"' + b'\\"' * 8_000_000)), "realm",
    ),
    "a row of many values": (
        lambda folder: tarball(folder, realm_json=table(b'{"a":[' + b"0," * 300_000 + b"0]}")),
        "realm",
    ),
    "tables": (
        lambda folder: tarball(
            folder,
            realm_json=b"{" + b",".join(b'"t%d":[{}]' % n for n in range(20_000)) + b"}",
        ),
        "too many tables",
    ),
    "white space": (lambda folder: tarball(folder, realm_json=b" " * (40 * MIB)), "realm"),
}  # fmt: skip


def read_tarball(path: Path) -> str:
    folder = path.parent / "unpacked"
    folder.mkdir()
    with pytest.raises(ArchiveRefused) as refused:
        for _ in ZulipTarball(path, folder).rows("zerver_realm"):
            pass
    return str(refused.value)


@pytest.mark.parametrize("name", TARBALLS)
def test_tarball(name: str, tmp_path: Path) -> None:
    make, message = TARBALLS[name]
    path = make(tmp_path)
    cost = cost_of(lambda: read_tarball(path))
    assert_bounded(cost.seconds, cost.growth)
    assert message in cost.result


def test_corpus_has_forty_files() -> None:
    """With those of documents, there are 60."""
    corpora: tuple[Sized, ...] = (MULTIPART, MAILS, PICTURES, PAYLOADS, ARCHIVES, TARBALLS)
    assert sum(map(len, corpora)) >= 40
