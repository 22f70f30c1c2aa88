"""Reads untrusted export archives and checks all their content.

An archive is read as a stream, so memory use does not depend on its size. The first error is
reported with its file and, in a file of lines, its line.
"""

import hashlib
import stat
import zipfile
import zlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, NoReturn

import orjson

from adapters.archives import MANIFEST

CHUNK = 1 << 16
ENTRIES_MAX = 1_000_000
MANIFEST_BYTES_MAX = 256 << 20
MANIFEST_BYTES_OF_A_FILE = 4096
"""The manifest's size limit for each entry of the archive (its name, columns and digest)."""
MANIFEST_FREE_BYTES = 1 << 20
PACKED_AT_MOST = 200
"""The maximum ratio of the unpacked size to the archive's size."""
FREE_BYTES = 64 << 20
"""The unpacked bytes that are allowed in addition to the ratio, so that small archives pass."""
LINE_BYTES_MAX = 16 << 20
VALUES_MAX = 200_000
"""The maximum number of commas and opening brackets in a line. A parsed value needs up to sixty
times as much memory as its text.
"""
ROWS_AT_ONCE = 2000
BYTES_AT_ONCE = 1 << 20
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The compression methods of our archives. Others would add their own kinds of errors."""
_FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)


class ArchiveRefused(Exception):
    """An archive is invalid. The message contains the error and its location."""

    def __init__(self, problem: str, file: str | None = None, line: int | None = None) -> None:
        place = (
            "" if file is None else f"{file!r}: " if line is None else f"{file!r}, line {line}: "
        )
        super().__init__(place + problem)
        self.problem, self.file, self.line = problem, file, line


class ArchiveReader:
    """An open archive whose file names and manifest have been checked; a context manager.

    The constructor and all methods raise `ArchiveRefused`.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
        except (*_FAULTS, ValueError) as problem:
            raise ArchiveRefused(f"this is not a .zip file ({type(problem).__name__})") from problem
        try:
            self._entries = _check_entries(self._zip.infolist(), path.stat().st_size)
            self.manifest = self._read_manifest()
            self.files = self._described("files")
            self.uploads = self._described("uploads")
            self._check_names()
        except BaseException:
            self._zip.close()
            raise

    def __enter__(self) -> "ArchiveReader":
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def check(self) -> tuple[int, int]:
        """Read and check all files. Return the number of lines and the unpacked bytes."""
        rows = sum(sum(1 for _ in self.read_lines(name)) for name in self.files)
        for name in self.uploads:
            for _ in self.read_pieces(name):
                pass
        return rows, sum(entry.file_size for entry in self._entries.values())

    def read_lines(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield the objects of a file of lines. Compare the file with the manifest at its end."""
        for (rows,) in self.read_together([name]):
            yield from rows

    def read_together(
        self, names: Sequence[str], *, after: int = 0, most: int = ROWS_AT_ONCE
    ) -> Iterator[list[list[dict[str, Any]]]]:
        """Read files in parallel whose lines correspond. Yield batches: one list of objects for
        each file, all of the same length, at most `most`. The first `after` lines are skipped
        without parsing. Compare each file with the manifest at its end.
        """
        together = zip_longest(*map(self._lines, names))
        deque(islice(together, after), maxlen=0)
        number, size = after, 0
        block: list[tuple[bytes, ...]] = []
        for number, lines in enumerate(together, after + 1):
            if None in lines:
                _refuse_lengths(names, lines, number)
            block.append(lines)
            size += sum(map(len, lines))
            if len(block) >= most or size >= BYTES_AT_ONCE:
                yield self._parsed(names, block, number)
                block, size = [], 0
        if block:
            yield self._parsed(names, block, number)

    def _parsed(
        self, names: Sequence[str], block: Sequence[tuple[bytes, ...]], last: int
    ) -> list[list[dict[str, Any]]]:
        first = last - len(block) + 1
        return [
            _parse_rows(lines, self.files[name], name, first)
            for name, lines in zip(names, zip(*block, strict=True), strict=True)
        ]

    def _lines(self, name: str) -> Iterator[bytes]:
        facts, rows = self.files[name], 0
        begun: list[bytes] = []  # pieces of the current, incomplete line
        size = 0
        for piece in self._read(name, facts):
            *lines, rest = piece.split(b"\n")
            if lines:
                lines[0] = b"".join((*begun, lines[0]))
                begun, size = [], 0
                rows += len(lines)
                yield from lines
            begun.append(rest)
            size += len(rest)
            if size > LINE_BYTES_MAX:
                raise ArchiveRefused("the line is too long", name, rows + 1)
        if size:
            raise ArchiveRefused("the line has no end", name, rows + 1)
        if rows != facts.get("rows"):
            raise ArchiveRefused(f"has {rows} lines, not {facts.get('rows')!r}", name)

    def read_pieces(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of an uploaded file. Compare the file with the manifest at its end."""
        yield from self._read(name, self.uploads[name])

    def _read(self, name: str, facts: Mapping[str, Any]) -> Iterator[bytes]:
        if facts.get("bytes") != self._entries[name].file_size:
            raise ArchiveRefused("its size is not the manifest's", name)
        digest = hashlib.sha256()
        try:
            with self._zip.open(name) as source:
                while piece := source.read(CHUNK):  # at most `file_size` bytes in total
                    digest.update(piece)
                    yield piece
        except _FAULTS as problem:
            raise ArchiveRefused(f"cannot be read ({type(problem).__name__})", name) from problem
        if digest.hexdigest() != facts.get("sha256"):
            raise ArchiveRefused("its SHA-256 is not the manifest's", name)

    def _read_manifest(self) -> dict[str, Any]:
        entry = self._entries.get(MANIFEST)
        if entry is None:
            raise ArchiveRefused("is missing", MANIFEST)
        most = MANIFEST_FREE_BYTES + MANIFEST_BYTES_OF_A_FILE * len(self._entries)
        if entry.file_size > min(MANIFEST_BYTES_MAX, most):
            raise ArchiveRefused("is too large", MANIFEST)
        try:
            manifest = orjson.loads(self._zip.read(MANIFEST))
        except orjson.JSONDecodeError as problem:
            raise ArchiveRefused("is not JSON", MANIFEST) from problem
        except _FAULTS as problem:
            raise ArchiveRefused(
                f"cannot be read ({type(problem).__name__})", MANIFEST
            ) from problem
        if not isinstance(manifest, dict):
            raise ArchiveRefused("is not an object", MANIFEST)
        return manifest

    def _described(self, key: str) -> dict[str, dict[str, Any]]:
        """Return the manifest's entry of each file by name, without files marked as missing."""
        listed = self.manifest.get(key)
        if not isinstance(listed, list):
            raise ArchiveRefused(f"{key} is not a list", MANIFEST)
        described: dict[str, dict[str, Any]] = {}
        for facts in listed:
            if not isinstance(facts, dict) or not isinstance(facts.get("name"), str):
                raise ArchiveRefused(f"{key} has an entry without a name", MANIFEST)
            if facts["name"] in described:
                raise ArchiveRefused(f"{key} names {facts['name']!r} twice", MANIFEST)
            if facts.get("missing") is not True:
                described[facts["name"]] = facts
        return described

    def _check_names(self) -> None:
        names = [MANIFEST, *self.files, *self.uploads]
        named = set(names)
        for name in names:
            if name not in self._entries:
                raise ArchiveRefused("is in the manifest and not in the archive", name)
        if len(named) != len(names):
            raise ArchiveRefused("names one file as two", MANIFEST)
        for name in self._entries:
            if name not in named:
                raise ArchiveRefused("is in the archive and not in the manifest", name)


def _check_entries(entries: list[zipfile.ZipInfo], size: int) -> dict[str, zipfile.ZipInfo]:
    """Return the entries by name. Reject unsafe names, links, and entries with shared bytes."""
    if len(entries) > ENTRIES_MAX:
        raise ArchiveRefused("has too many files")
    checked: dict[str, zipfile.ZipInfo] = {}
    for entry in entries:
        name, mode = entry.filename, entry.external_attr >> 16
        if name in checked:
            raise ArchiveRefused("is in the archive twice", name)
        if "\\" in name or any(part in ("", ".", "..") for part in name.split("/")):
            raise ArchiveRefused("is not the name of a file", name)
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise ArchiveRefused("is not a regular file", name)
        if entry.flag_bits & 1:
            raise ArchiveRefused("is encrypted", name)
        if entry.compress_type not in _METHODS:
            raise ArchiveRefused("is compressed by a method that no archive of ours has", name)
        checked[name] = entry
    if sum(entry.compress_size for entry in entries) > size:
        raise ArchiveRefused("has files that share their bytes")
    if sum(entry.file_size for entry in entries) > FREE_BYTES + PACKED_AT_MOST * size:
        largest = max(entries, key=lambda entry: entry.file_size)
        raise ArchiveRefused(
            f"the archive is {PACKED_AT_MOST} times larger unpacked", largest.filename
        )
    return checked


def has_many_values(line: bytes) -> bool:
    """Return whether a JSON row has more values than a row of any of our tables can have."""
    return len(line) > VALUES_MAX and sum(map(line.count, (b",", b"[", b"{"))) > VALUES_MAX


def _refuse_lengths(names: Sequence[str], lines: Sequence[bytes | None], number: int) -> NoReturn:
    """Raise `ArchiveRefused` for the file that has fewer or more lines than the first one."""
    if lines[0] is None:
        longer = next(name for name, line in zip(names, lines, strict=True) if line is not None)
        raise ArchiveRefused("has more lines than there are rows", longer, number)
    shorter = names[lines.index(None)]
    raise ArchiveRefused("has fewer lines than there are rows", shorter)


def _parse_rows(
    lines: Sequence[bytes], facts: Mapping[str, Any], name: str, first: int
) -> list[dict[str, Any]]:
    """Return the objects of lines. `first` is the number of the first line."""
    columns = facts.get("columns")
    if max(map(len, lines)) <= VALUES_MAX:
        try:
            rows = [orjson.loads(line) for line in lines]
        except orjson.JSONDecodeError:
            rows = [None]
        if all([type(row) is dict and list(row) == columns for row in rows]):
            return rows
    return [_parse_row(line, facts, name, number) for number, line in enumerate(lines, first)]


def _parse_row(line: bytes, facts: Mapping[str, Any], name: str, number: int) -> dict[str, Any]:
    if len(line) > LINE_BYTES_MAX:
        raise ArchiveRefused("the line is too long", name, number)
    if has_many_values(line):
        raise ArchiveRefused("the line has too many values", name, number)
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as problem:
        raise ArchiveRefused("the line is not JSON", name, number) from problem
    if not isinstance(row, dict) or list(row) != facts.get("columns"):
        raise ArchiveRefused("the line has other columns than the manifest", name, number)
    return row
