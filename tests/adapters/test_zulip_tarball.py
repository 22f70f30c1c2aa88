"""Tarballs that claim to be exports of Zulip."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from adapters import zulip_tarball
from adapters.archive_reader import ArchiveRefused
from adapters.zulip_tarball import ZulipTarball, split_rows, split_tables
from tests.support.chat.zulip_acme import make_acme
from tests.support.chat.zulip_export import write_tarball

FOLDER = "zulip-export-acme"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "export.tar.gz"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "unpacked"
    made.mkdir()
    return made


def contents() -> dict[str, bytes]:
    return {f"{FOLDER}/{name}": content for name, content in make_acme(12).contents().items()}


def with_entry(path: Path, change: Callable[[tarfile.TarInfo], None], content: bytes = b"") -> Path:
    """Return the export with an additional entry."""
    write_tarball(path, contents())
    with tarfile.open(path, "r:gz") as source:
        entries = [(each, source.extractfile(each)) for each in source.getmembers()]
        with tarfile.open(path.with_suffix(".new"), "w:gz", format=tarfile.GNU_FORMAT) as target:
            for info, file in entries:
                target.addfile(info, file)
            info = tarfile.TarInfo(f"{FOLDER}/uploads/more.txt")
            info.size = len(content)
            change(info)
            target.addfile(info, io.BytesIO(content))
    return path.with_suffix(".new").replace(path)


def test_complete_export_is_read(path: Path, folder: Path) -> None:
    export = make_acme(12)
    tarball = ZulipTarball(export.write(path), folder)
    for name, rows in export.tables.items():
        assert tarball.counts.get(name, 0) == len(rows), name
    users = [row for _, row in tarball.rows("zerver_userprofile")]
    assert users == sorted(export.tables["zerver_userprofile"], key=lambda row: row["id"])
    messages = [row["id"] for _, row in tarball.rows("zerver_message")]
    assert messages == sorted(row["id"] for row in export.tables["zerver_message"])
    assert list(tarball.rows("zerver_useractivity")) == []
    assert {path.read_bytes() for path in tarball.files.values()} == {
        content
        for name, content in export.files.items()
        if name.startswith(("uploads", "emoji", "avatars"))
    }


@pytest.mark.parametrize("root", ["", "./", "/srv/converted/", "a/b/"])
def test_folder_may_have_any_name(root: str, path: Path, folder: Path) -> None:
    files = {f"{root}{name}": content for name, content in make_acme(12).contents().items()}
    tarball = ZulipTarball(write_tarball(path, files), folder)
    assert tarball.counts["zerver_realm"] == 1


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT])
def test_long_names(form: int, path: Path, folder: Path) -> None:
    long = f"uploads/2/{'x' * 90}/" + ("é" if form != tarfile.USTAR_FORMAT else "e") * 40
    with tarfile.open(path, "w:gz", format=form) as archive:
        for name, content in {**contents(), f"{FOLDER}/{long}": b"long"}.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    assert ZulipTarball(path, folder).files[long].read_bytes() == b"long"


def renamed(name: str) -> Callable[[tarfile.TarInfo], None]:
    def change(info: tarfile.TarInfo) -> None:
        info.name = name

    return change


def of_type(kind: bytes) -> Callable[[tarfile.TarInfo], None]:
    def change(info: tarfile.TarInfo) -> None:
        info.type, info.linkname, info.size = kind, "/etc/passwd", 0

    return change


ENTRIES: dict[str, tuple[Callable[[tarfile.TarInfo], None], str]] = {
    "a folder up": (renamed(f"{FOLDER}/../x"), "is not the name of a file"),
    "a folder up at its end": (renamed(f"{FOLDER}/uploads/.."), "is not the name of a file"),
    "a backslash": (renamed(f"{FOLDER}/uploads/..\\x"), "is not the name of a file"),
    "a line break": (renamed(f"{FOLDER}/uploads/a\nb"), "is not the name of a file"),
    "another folder": (renamed("etc/passwd"), "outside of the export's folder"),
    "an absolute name": (renamed("/etc/passwd"), "outside of the export's folder"),
    "the same name again": (renamed(f"{FOLDER}/attachment.json"), "in the tarball twice"),
    "another organization": (renamed("other/realm.json"), "has not one realm.json"),
    "an unfinished file": (
        renamed(f"{FOLDER}/messages-000009.json.partial"), "export was not finished",
    ),
    "a symbolic link": (of_type(tarfile.SYMTYPE), "is not a regular file"),
    "a hard link": (of_type(tarfile.LNKTYPE), "is not a regular file"),
    "a device": (of_type(tarfile.CHRTYPE), "is not a regular file"),
    "a pipe": (of_type(tarfile.FIFOTYPE), "is not a regular file"),
    "a sparse file": (of_type(tarfile.GNUTYPE_SPARSE), "is not a regular file"),
}  # fmt: skip


@pytest.mark.parametrize("case", ENTRIES)
def test_hostile_entries(case: str, path: Path, folder: Path) -> None:
    change, problem = ENTRIES[case]
    with_entry(path, change)
    with pytest.raises(ArchiveRefused, match=problem):
        ZulipTarball(path, folder)
    assert list(folder.iterdir()) == []
    with_entry(path, lambda info: None)
    ZulipTarball(path, folder)


def block(**values: Any) -> bytes:
    info = tarfile.TarInfo(values.pop("name", f"{FOLDER}/realm.json"))
    for name, value in values.items():
        setattr(info, name, value)
    return info.tobuf(tarfile.GNU_FORMAT)


RAW: dict[str, tuple[bytes, str]] = {
    "no tarball": (b"x" * 2000, "cannot be read"),
    "nothing": (b"", "has not one realm.json"),
    "an early end": (block(size=5000) + b"{", "ends too early"),
    "a name of gigabytes": (
        block(type=tarfile.XHDTYPE, size=1 << 33), "has a name that is too long",
    ),
    "a header of nonsense": (
        block(type=tarfile.XHDTYPE, size=8) + b"0 path=x" + bytes(504), "has a broken header",
    ),
    "a size of nonsense": (
        block(type=tarfile.XHDTYPE, size=13) + b"13 size=many\n" + bytes(499) + block(),
        "cannot be read",
    ),
    "a negative size": (
        block(type=tarfile.XHDTYPE, size=11) + b"11 size=-5\n" + bytes(501) + block(),
        "has a negative size",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", RAW)
def test_hostile_tarballs(case: str, path: Path, folder: Path) -> None:
    content, problem = RAW[case]
    path.write_bytes(gzip.compress(content))
    with pytest.raises(ArchiveRefused, match=problem):
        ZulipTarball(path, folder)
    assert list(folder.iterdir()) == []


def test_file_other_than_gzip_is_rejected(path: Path, folder: Path) -> None:
    path.write_bytes(b"PK\3\4 and so on")
    with pytest.raises(ArchiveRefused, match="cannot be read"):
        ZulipTarball(path, folder)
    whole = gzip.compress(block(size=10) + b"{" * 10 + bytes(502))
    path.write_bytes(whole[:-20])
    with pytest.raises(ArchiveRefused, match="cannot be read"):
        ZulipTarball(path, folder)


def test_decompression_bomb_is_rejected(path: Path, folder: Path) -> None:
    """A tarball of ten kilobytes contains a hundred million spaces."""
    with gzip.open(path, "wb", compresslevel=9) as out:
        out.write(block(size=100_000_000))
        for _ in range(100):
            out.write(b" " * 1_000_000)
    assert path.stat().st_size < 200_000
    with pytest.raises(ArchiveRefused, match="200 times larger unpacked"):
        ZulipTarball(path, folder)
    assert list(folder.iterdir()) == []


JSON: dict[str, tuple[bytes, str]] = {
    "no JSON": (b"hello", "is not JSON where { is expected"),
    "a list": (b"[]", "is not JSON where { is expected"),
    "no end": (b'{"zerver_realm": [{"id": 1}', "ends too early"),
    "no end of a text": (b'{"zerver_realm": [{"id": "1', "ends too early"),
    "a row that is not an object": (b'{"zerver_realm": [1]}', "has a row that is no object"),
    "a broken row": (b'{"zerver_realm": [{"id": 1,, }]}', "line 1: the row is not JSON"),
    "brackets that do not match": (b'{"zerver_realm": [{"id": [}]]}', "the row is not JSON"),
    "something between rows": (b'{"zerver_realm": [{} x {}]}', "is not JSON where ] is expected"),
    "something after it": (b'{"zerver_realm": []} {}', "has something after its end"),
    "an invalid id": (b'{"zerver_stream": [{"id": -4}]}', "id is no id"),
    "an object next to tables": (b'{"x": {}}', "ends too early|has neither"),
    "rows that are too deep": (
        b'{"zerver_realm": [{"id": ' + b"[" * 100_000 + b"]" * 100_000 + b"}]}",
        "the row is not JSON",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", JSON)
def test_hostile_tables(case: str, path: Path, folder: Path) -> None:
    content, problem = JSON[case]
    write_tarball(path, {**contents(), f"{FOLDER}/realm.json": content})
    with pytest.raises(ArchiveRefused, match=problem):
        ZulipTarball(path, folder)


def test_long_rows_are_rejected(path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zulip_tarball, "CHUNK", 1000)
    row = {"id": 1, "name": "x" * 5000}
    files = {**contents(), f"{FOLDER}/realm.json": orjson.dumps({"zerver_realm": [row]})}
    write_tarball(path, files)
    ZulipTarball(path, folder)
    for left in folder.iterdir():
        left.unlink()
    monkeypatch.setattr(zulip_tarball, "ROW_BYTES_MAX", 3000)
    with pytest.raises(ArchiveRefused, match="has a row that is too long"):
        ZulipTarball(path, folder)


def test_many_unknown_tables(path: Path, folder: Path) -> None:
    tables = {f"zerver_pigeon{number}": [{"id": 1}] for number in range(1000)}
    content = orjson.dumps(tables)
    write_tarball(path, {**contents(), f"{FOLDER}/analytics.json": content})
    with pytest.raises(ArchiveRefused, match="has too many tables"):
        ZulipTarball(path, folder)


@pytest.mark.parametrize("width", [1, 2, 3, 7, 64, 1000])
def test_rows_do_not_depend_on_the_size_of_pieces(width: int) -> None:
    """A piece may end anywhere."""
    rows = [
        {"id": 1, "text": 'a "quoted" \\ text } ] [ {'}, {"id": 2, "list": [1, {"x": []}]}, {},
        {"text": "\\", "more": "é\u2028"},
    ]  # fmt: skip
    tables = {
        "first": rows,
        "none": [],
        "is": True,
        "text": 'a"b',
        "number": -1.5e3,
        "nothing": None,
    }
    for option in (0, orjson.OPT_INDENT_2):
        content = orjson.dumps(tables, option=option)
        pieces = [content[at : at + width] for at in range(0, len(content), width)]
        found: dict[str, Any] = {}
        for key, value in split_tables(iter(pieces), "x"):
            if isinstance(value, bytes):
                found.setdefault(key, []).append(orjson.loads(value))
            else:
                found[key] = value
        assert found == {name: value for name, value in tables.items() if value != []}
        content = orjson.dumps(rows, option=option)
        pieces = [content[at : at + width] for at in range(0, len(content), width)]
        assert [orjson.loads(row) for row in split_rows(iter(pieces), "x")] == rows


def test_long_names_count(path: Path, folder: Path) -> None:
    """Names of 2 MB used to need a gigabyte."""
    with tarfile.open(path, "w:gz", format=tarfile.GNU_FORMAT, compresslevel=1) as target:
        for number in range(200):
            target.addfile(tarfile.TarInfo(f"{FOLDER}/uploads/{number}{'a' * 65_000}"))
    with pytest.raises(ArchiveRefused, match="the names of files are too long together"):
        ZulipTarball(path, folder)


def test_headers_in_a_row_count(path: Path, folder: Path) -> None:
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 512
    path.write_bytes(gzip.compress((info.tobuf() + b"a" * 512) * 17))
    with pytest.raises(ArchiveRefused, match="has too many headers for one file"):
        ZulipTarball(path, folder)
