"""Forged, damaged and malicious archives are rejected with file and line."""

import stat
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from adapters import archive_reader
from adapters.archive_reader import ArchiveReader, ArchiveRefused
from adapters.archives import MANIFEST, ArchiveWriter

LINES = [b'{"id":1,"name":"a"}\n', b'{"id":2,"name":"b"}\n']
Entries = dict[str, bytes]


def write(folder: Path, lines: list[bytes] = LINES) -> Path:
    with ArchiveWriter(folder, "a.zip") as archive:
        archive.write_lines("user.jsonl", [lines], table="user", columns=("id", "name"))
        archive.write_file("uploads/x-cat.png", [b"cat"])
        archive.note_missing("uploads/y-dog.png")
        archive.finish({"format": 1})
    return folder / "a.zip"


def refusal(path: Path) -> str:
    with pytest.raises(ArchiveRefused) as refused, ArchiveReader(path) as reader:
        reader.check()
    return str(refused.value)


def rewrite(path: Path, change: Callable[[Entries, dict[str, Any]], None]) -> None:
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    manifest = orjson.loads(entries[MANIFEST])
    change(entries, manifest)
    if entries.get(MANIFEST):
        entries[MANIFEST] = orjson.dumps(manifest)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)


def test_archive_of_the_writer_is_accepted(tmp_path: Path) -> None:
    with ArchiveReader(write(tmp_path)) as reader:
        assert list(reader.read_lines("user.jsonl")) == [orjson.loads(line) for line in LINES]
        assert b"".join(reader.read_pieces("uploads/x-cat.png")) == b"cat"
        assert reader.check()[0] == 2
        assert reader.manifest["format"] == 1


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compression_is_rejected(tmp_path: Path, method: int) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", method) as archive:
        archive.writestr(MANIFEST, b"{}")
    assert refusal(tmp_path / "a.zip").startswith(f"{MANIFEST!r}: is compressed")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{\n", "not JSON"),
        (b"\n", "not JSON"),
        (b'{"id":\xff,"name":"a"}\n', "not JSON"),
        (b'{"id":NaN,"name":"a"}\n', "not JSON"),
        (b"[]\n", "other columns"),
        (b"null\n", "other columns"),
        (b'{"id":1}\n', "other columns"),
        (b'{"id":1,"name":"a","realm_id":2}\n', "other columns"),
        (b'{"id":1,"name":"a"}', "no end"),
    ],
)
def test_error_names_the_line(tmp_path: Path, line: bytes, problem: str) -> None:
    told = refusal(write(tmp_path, [LINES[0], line]))
    assert told.startswith("'user.jsonl', line 2: ")
    assert problem in told


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda e, m: e.update({MANIFEST: b""}), "'manifest.json': is not JSON"),
        (lambda e, m: e.pop(MANIFEST), "'manifest.json': is missing"),
        (lambda e, m: m.pop("files"), "files is not a list"),
        (lambda e, m: m.update(uploads={}), "uploads is not a list"),
        (lambda e, m: m["files"].append({}), "without a name"),
        (lambda e, m: m["files"].append(None), "without a name"),
        (lambda e, m: m["files"].append(m["files"][0]), "names 'user.jsonl' twice"),
        (lambda e, m: m["uploads"].append(m["files"][0]), "names one file as two"),
        (lambda e, m: m["files"][0].update(rows=3), "has 2 lines, not 3"),
        (lambda e, m: m["files"][0].update(rows="2"), "has 2 lines, not '2'"),
        (lambda e, m: m["files"][0].update(bytes=1 << 40), "its size is not the manifest's"),
        (lambda e, m: m["files"][0].update(sha256="0"), "its SHA-256 is not the manifest's"),
        (lambda e, m: m["files"][0].update(columns=["id"]), "line 1: the line has other columns"),
        (lambda e, m: m["uploads"][0].update(sha256=None), "its SHA-256 is not the manifest's"),
        (lambda e, m: e.pop("uploads/x-cat.png"), "in the manifest and not in the archive"),
        (lambda e, m: e.update(more=b""), "in the archive and not in the manifest"),
        (lambda e, m: e.update({"../up": b""}), "'../up': is not the name of a file"),
        (lambda e, m: e.update({"/etc/up": b""}), "is not the name of a file"),
        (lambda e, m: e.update({"a\\b": b""}), "is not the name of a file"),
        (lambda e, m: e.update({"folder/": b""}), "is not the name of a file"),
    ],
)  # fmt: skip
def test_difference_from_the_manifest_is_rejected(
    tmp_path: Path, change: Callable[[Entries, dict[str, Any]], None], told: str
) -> None:
    path = write(tmp_path)
    rewrite(path, change)
    assert told in refusal(path)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFDIR, stat.S_IFIFO, stat.S_IFCHR])
def test_entry_other_than_a_regular_file_is_rejected(tmp_path: Path, kind: int) -> None:
    path = write(tmp_path)
    with zipfile.ZipFile(path, "a") as archive:
        entry = zipfile.ZipInfo("link")
        entry.external_attr = (kind | 0o777) << 16
        archive.writestr(entry, "/etc/passwd")
    assert refusal(path) == "'link': is not a regular file"


def test_duplicate_name_is_rejected(tmp_path: Path) -> None:
    path = write(tmp_path)
    with warnings.catch_warnings(), zipfile.ZipFile(path, "a") as archive:
        warnings.simplefilter("ignore")
        archive.writestr("user.jsonl", b"")
    assert refusal(path) == "'user.jsonl': is in the archive twice"


@pytest.mark.parametrize("kept", [0, 1, 30, -1, -200])
def test_truncated_archive_is_rejected(tmp_path: Path, kept: int) -> None:
    path = write(tmp_path)
    path.write_bytes(path.read_bytes()[:kept])
    assert "not a .zip file" in refusal(path)


def test_flipped_bit_is_rejected(tmp_path: Path) -> None:
    path = write(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"cat", b"cau", 2).replace(b"x-cau", b"x-cat"))
    assert "uploads/x-cat.png" in refusal(path)


def bomb(path: Path, **entries: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name.replace("_", "."), content)
    return path


def test_archive_out_of_proportion_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A manifest of 58 KB used to need 1.8 GB."""
    files = b'{"files":[' + b"{}," * 3_000_000 + b'{}],"uploads":[]}'
    found = refusal(bomb(tmp_path / "a.zip", manifest_json=files))
    assert found == "'manifest.json': is too large"
    monkeypatch.setattr(archive_reader, "FREE_BYTES", 0)
    found = refusal(bomb(tmp_path / "b.zip", manifest_json=b"{}", a_jsonl=bytes(1 << 20)))
    assert found == "'a.jsonl': the archive is 200 times larger unpacked"


def test_line_of_many_values_is_rejected(tmp_path: Path) -> None:
    line = b'{"id":1,"name":[' + b"0," * 250_000 + b"0]}\n"
    assert refusal(write(tmp_path, [line])) == "'user.jsonl', line 1: the line has too many values"
