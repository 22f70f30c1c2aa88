"""Unpacks untrusted tarballs of Zulip's `manage.py export`.

A tarball is read twice as a stream: first to check all names and sizes before anything is written,
then to write its tables as lines of JSON and its files under generated names. Memory use is one row
plus about twenty bytes for each row.
"""

import gzip
import re
import tarfile
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import orjson

from adapters.archive_reader import ENTRIES_MAX, ArchiveRefused, has_many_values
from models.chat.zulip_form.table import ZulipTable, zulip_tables
from models.json import Json

CHUNK = 1 << 20
ROW_BYTES_MAX = 16 << 20
NAME_BYTES_MAX = 1 << 16
PACKED_AT_MOST = 200
"""The maximum ratio of the unpacked size to the tarball's size. It is high, because indented JSON
compresses well.
"""
FREE_BYTES = 64 << 20
"""The unpacked bytes that are allowed in addition to the ratio, so that small tarballs pass."""
UNKNOWN_MAX = 200
"""The maximum number of unknown tables and fields whose names are kept."""

NAMES_BYTES_MAX = 8 << 20
"""The maximum total length of all file names, not counting the first 200 characters of each."""
HEADERS_MAX = 16
"""The maximum number of consecutive extended headers for one file."""

_BLOCK = 512
_REALM = "realm.json"
_TABLES = re.compile(r"realm\.json|attachment\.json|analytics\.json|messages-[0-9]{6,9}\.json")
_LISTS = re.compile(r"(?:uploads|emoji|avatars|realm_icons)/records\.json")
_UNFINISHED = re.compile(r"messages-[0-9]+\.json\.(?:partial|locked)")
_FACTS = frozenset(("import_source", "sort_by_date"))
"""Fields of the realm's file that are not tables."""
_KEPT = ("uploads/", "emoji/", "avatars/")
"""Folders whose files are imported."""
_FAULTS = (tarfile.TarError, zlib.error, EOFError, OSError, ValueError)
_SPACE = re.compile(rb"[ \t\r\n]*")
_SCALAR = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[-+.0-9A-Za-z]+', re.DOTALL)
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}"]', re.DOTALL)
_INSIDE = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
"""Matches the inside of a string up to its end, or up to a backslash that is the last byte."""


@dataclass(frozen=True, slots=True)
class Losses:
    """Data that is not imported. `dropped` counts values by table and known field. `unknown` counts
    rows by unknown table (the field is empty) or by table and unknown field.
    """

    dropped: Counter[tuple[str, str]]
    unknown: Counter[tuple[str, str]]


class ZulipTarball:
    """An export that is unpacked into `folder`. The constructor and all methods raise
    `ArchiveRefused`.
    """

    def __init__(self, path: Path, folder: Path) -> None:
        self._folder = folder
        self._tables: dict[str, _Lines] = {}
        self.facts: dict[str, Json] = {}
        """The known fields of the realm's file that are not tables."""
        self.files: dict[str, Path] = {}
        """The unpacked uploaded files by their paths in the export."""
        self.losses = Losses(Counter(), Counter())
        root = _check_entries(path)
        try:
            self._unpack(path, root)
        finally:
            for lines in self._tables.values():
                lines.close()

    def has(self, table: str) -> bool:
        """Return whether the export contains rows of the table."""
        return table in self._tables

    def rows(self, table: str) -> Iterator[tuple[int, Mapping[str, Json]]]:
        """Yield the rows with their numbers in the tarball in the order of their ids. Messages are
        in the order of their times if the export has `sort_by_date`.
        """
        lines = self._tables.get(table)
        if lines is not None:
            by_time = table == "zerver_message" and self.facts.get("sort_by_date") is True
            yield from lines.read(by_time=by_time)

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows of each table."""
        return {name: lines.count for name, lines in self._tables.items()}

    def _unpack(self, path: Path, root: str) -> None:
        for name, size, source in _entries(path):
            inner = name.removeprefix(root)
            if _TABLES.fullmatch(inner):
                for key, value in split_tables(_pieces(source, size), inner):
                    if isinstance(value, bytes):
                        self._keep(key, value, inner)
                    elif inner == _REALM and key in _FACTS:
                        self.facts[key] = value
            elif _LISTS.fullmatch(inner):
                for row in split_rows(_pieces(source, size), inner):
                    self._keep(inner, row, inner)
            elif inner.startswith(_KEPT):
                target = self._folder / f"file-{len(self.files)}"
                with target.open("xb") as out:
                    for piece in _pieces(source, size):
                        out.write(piece)
                self.files[inner] = target

    def _keep(self, table: str, row: bytes, file: str) -> None:
        lines = self._tables.get(table)
        if lines is None:
            if len(self._tables) > len(zulip_tables()) + UNKNOWN_MAX:
                raise ArchiveRefused("has too many tables", file)
            known = zulip_tables().get(table)
            lines = _Lines(table, known, self._folder / f"table-{len(self._tables)}", self.losses)
            self._tables[table] = lines
        lines.keep(row)


class _Lines:
    """The rows of one table in a file of lines."""

    def __init__(self, name: str, table: ZulipTable | None, path: Path, losses: Losses) -> None:
        self._name, self._table, self._path, self._losses = name, table, path, losses
        self._out: IO[bytes] | None = path.open("xb")
        self.count = 0
        self._end = 0
        self._ids, self._starts, self._times = array("q"), array("q"), array("q")
        self._fields = frozenset() if table is None else table.fields

    def keep(self, row: bytes) -> None:
        self.count += 1
        if has_many_values(row):
            raise ArchiveRefused("the row has too many values", self._name, self.count)
        try:
            values = orjson.loads(row)
        except orjson.JSONDecodeError:
            raise ArchiveRefused("the row is not JSON", self._name, self.count) from None
        if self._table is None:
            self._losses.unknown[self._name[:100], ""] += 1
            return
        self._note(self._table, values)
        if not self._table.taken:
            return
        number = values.get("id", self.count)
        if type(number) is not int or not 0 < number < 1 << 62:
            raise ArchiveRefused("id is no id", self._name, self.count)
        self._ids.append(number)
        self._starts.append(self._end)
        if self._name == "zerver_message":
            sent = values.get("date_sent")
            if type(sent) not in (int, float) or not 0 <= sent < 1 << 40:
                raise ArchiveRefused("date_sent is no time", self._name, self.count)
            self._times.append(int(sent))
        line = orjson.dumps(values, option=orjson.OPT_APPEND_NEWLINE)
        assert self._out is not None
        self._out.write(line)
        self._end += len(line)

    def _note(self, table: ZulipTable, values: Mapping[str, Json]) -> None:
        for field in values.keys() & table.dropped.keys():
            if values[field] not in (None, "", False, 0, [], {}):
                self._losses.dropped[self._name, field] += 1
        for field in values.keys() - self._fields:
            key = (self._name, field[:100])
            if key in self._losses.unknown or len(self._losses.unknown) < UNKNOWN_MAX:
                self._losses.unknown[key] += 1

    def close(self) -> None:
        if self._out is not None:
            self._out.close()
            self._out = None

    def read(self, *, by_time: bool) -> Iterator[tuple[int, Mapping[str, Json]]]:
        ids, times = self._ids, self._times
        places: Iterable[int] = range(len(ids))
        if by_time:
            places = sorted(places, key=lambda place: (times[place], ids[place]))
        elif any(ids[place] <= ids[place - 1] for place in range(1, len(ids))):
            places = sorted(places, key=ids.__getitem__)
        last, at = 0, -1
        with self._path.open("rb") as source:
            for place in places:
                if not by_time and ids[place] == last:
                    raise ArchiveRefused(f"id {last} is there twice", self._name, place + 1)
                last = ids[place]
                if self._starts[place] != at:
                    source.seek(self._starts[place])
                    at = self._starts[place]
                line = source.readline()
                at += len(line)
                yield place + 1, orjson.loads(line)


# --- tar ------------------------------------------------------------------------------------------


def _check_entries(path: Path) -> str:
    """Return the folder of the export with a slash at its end, or "" if there is none. Reject names
    outside of it, links, duplicate names, and content that is too large.
    """
    names: set[str] = set()
    most = FREE_BYTES + PACKED_AT_MOST * path.stat().st_size
    total = long_names = 0
    for name, size, source in _entries(path):
        long_names += max(0, len(name) - 200)
        if long_names > NAMES_BYTES_MAX:
            raise ArchiveRefused("the names of files are too long together", name[:100])
        if name in names:
            raise ArchiveRefused("is in the tarball twice", name)
        names.add(name)
        total = source.read_so_far + size
        if len(names) > ENTRIES_MAX:
            raise ArchiveRefused("has too many files")
        if total > most:
            raise ArchiveRefused(f"the tarball is {PACKED_AT_MOST} times larger unpacked", name)
    roots = [name for name in names if name == _REALM or name.endswith(f"/{_REALM}")]
    if len(roots) != 1:
        raise ArchiveRefused(f"has not one {_REALM}, so it is no export of Zulip's")
    root = roots[0].removesuffix(_REALM)
    for name in names:
        if not name.startswith(root):
            raise ArchiveRefused("is outside of the export's folder", name)
        if _UNFINISHED.fullmatch(name.removeprefix(root)):
            raise ArchiveRefused("the export was not finished", name)
    if f"{root}attachment.json" not in names:
        raise ArchiveRefused("is missing", "attachment.json")
    return root


def _entries(path: Path) -> Iterator[tuple[str, int, "_Content"]]:
    """Yield the name, size and content of each file. The content is only readable until the next
    file is requested.
    """
    try:
        with gzip.open(path, "rb") as source:
            yield from _members(source)
    except ArchiveRefused:
        raise
    except _FAULTS as problem:
        raise ArchiveRefused(f"cannot be read ({type(problem).__name__})") from problem


def _members(source: gzip.GzipFile) -> Iterator[tuple[str, int, "_Content"]]:
    # Python's `tarfile` reads long headers and sparse maps of any size into memory, before a caller
    # can reject them.
    long_name: str | None = None
    long_size: int | None = None
    headers = 0
    while True:
        block = source.read(_BLOCK)
        if not block or block == bytes(_BLOCK):
            return
        info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        size = info.size if long_size is None else long_size
        name = info.name if long_name is None else long_name
        if size < 0:
            raise ArchiveRefused("has a negative size")
        if info.type in (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME):
            headers += 1
            if headers > HEADERS_MAX:
                raise ArchiveRefused("has too many headers for one file", info.name[:100])
            header = _read_header(source, size)
            if info.type == tarfile.GNUTYPE_LONGNAME:
                long_name = header.split(b"\0")[0].decode("utf-8", "surrogateescape")
            elif info.type == tarfile.XHDTYPE:
                records = _records(header)
                long_name = records.get("path", long_name)
                if "size" in records:
                    long_size = int(records["size"])
            continue
        long_name = long_size = None
        headers = 0
        if info.type == tarfile.DIRTYPE:
            continue
        if info.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
            raise ArchiveRefused("is not a regular file", name)
        content = _Content(source, size)
        yield _check_name(name), size, content
        content.skip()


class _Content:
    """The unread rest of one file of a tarball."""

    def __init__(self, source: gzip.GzipFile, size: int) -> None:
        self._source, self._left = source, size
        self._padding = -size % _BLOCK

    @property
    def read_so_far(self) -> int:
        """The number of bytes of the tarball that have been unpacked, including headers."""
        return self._source.tell()

    def read(self, most: int) -> bytes:
        piece = self._source.read(min(most, self._left))
        if not piece and self._left:
            raise ArchiveRefused("the tarball ends too early")
        self._left -= len(piece)
        return piece

    def skip(self) -> None:
        while self._left:
            self.read(CHUNK)
        self._source.read(self._padding)


def _read_header(source: gzip.GzipFile, size: int) -> bytes:
    if size > NAME_BYTES_MAX:
        raise ArchiveRefused("has a name that is too long")
    content = source.read(size)
    source.read(-size % _BLOCK)
    return content


def _records(content: bytes) -> dict[str, str]:
    """Parse the records of an extended header, such as `12 path=name`."""
    records: dict[str, str] = {}
    while content:
        digits, _, _ = content.partition(b" ")
        length = int(digits[:8])
        if length <= len(digits) + 1:
            raise ArchiveRefused("has a broken header")
        key, _, value = content[len(digits) + 1 : length - 1].partition(b"=")
        records[key.decode("utf-8", "replace")] = value.decode("utf-8", "surrogateescape")
        content = content[length:]
    if any(key.startswith("GNU.sparse") for key in records):
        raise ArchiveRefused("is not a regular file", records.get("path"))
    return records


def _check_name(name: str) -> str:
    """Return the name without leading `./` and slashes. Reject unsafe names."""
    name = name.removeprefix("./").lstrip("/")
    if "\\" in name or any(part in ("", ".", "..") for part in name.split("/")):
        raise ArchiveRefused("is not the name of a file", name)
    if not name.isprintable():
        raise ArchiveRefused("is not the name of a file", ascii(name))
    return name


def _pieces(source: _Content, size: int) -> Iterator[bytes]:
    left = size
    while left:
        piece = source.read(min(CHUNK, left))
        left -= len(piece)
        yield piece


# --- JSON -----------------------------------------------------------------------------------------


def split_tables(pieces: Iterator[bytes], file: str) -> Iterator[tuple[str, Json]]:
    """Yield (table, row) pairs of an object of tables. Each row is the bytes of its JSON. For
    strings, numbers and other scalars, yield the key and the value.
    """
    scanner = _Scanner(pieces, file)
    scanner.expect(b"{")
    if scanner.peek() != b"}":
        while True:
            key = scanner.scalar()
            if type(key) is not str:
                raise ArchiveRefused("has a table without a name", file)
            scanner.expect(b":")
            if scanner.peek() == b"[":
                for row in scanner.rows():
                    yield key, row
            else:
                yield key, scanner.scalar()
            if scanner.peek() != b",":
                break
            scanner.expect(b",")
    scanner.expect(b"}")
    scanner.end()


def split_rows(pieces: Iterator[bytes], file: str) -> Iterator[bytes]:
    """Yield the objects of an array, each as the bytes of its JSON."""
    scanner = _Scanner(pieces, file)
    yield from scanner.rows()
    scanner.end()


class _Scanner:
    """Reads JSON in pieces, and parses only as much as is needed to split it into rows."""

    def __init__(self, pieces: Iterator[bytes], file: str) -> None:
        self._pieces, self._file = pieces, file
        self._buffer, self._at = b"", 0

    def peek(self) -> bytes:
        """Skip spaces and return the next byte without consuming it."""
        while True:
            found = _SPACE.match(self._buffer, self._at)
            assert found is not None
            self._at = found.end()
            if self._at < len(self._buffer):
                return self._buffer[self._at : self._at + 1]
            self._more(self._at)

    def expect(self, sign: bytes) -> None:
        if self.peek() != sign:
            raise ArchiveRefused(f"is not JSON where {sign.decode()} is expected", self._file)
        self._at += 1

    def scalar(self) -> Json:
        """Return the next string, number, boolean or null."""
        self.peek()
        while True:
            found = _SCALAR.match(self._buffer, self._at)
            if found is not None and found.end() < len(self._buffer):
                break
            if len(self._buffer) - self._at > NAME_BYTES_MAX:
                raise ArchiveRefused("has neither a text nor a number where one is due", self._file)
            self._more(self._at)
        self._at = found.end()
        try:
            return orjson.loads(found[0])
        except orjson.JSONDecodeError:
            raise ArchiveRefused("is not JSON", self._file) from None

    def rows(self) -> Iterator[bytes]:
        """Yield the objects of an array as bytes."""
        self.expect(b"[")
        if self.peek() != b"]":
            while True:
                if self.peek() != b"{":
                    raise ArchiveRefused("has a row that is no object", self._file)
                yield self._object()
                if self.peek() != b",":
                    break
                self.expect(b",")
        self.expect(b"]")

    def end(self) -> None:
        """Reject any further content except spaces."""
        rest = [self._buffer[self._at :], *self._pieces]
        if any(piece.strip() for piece in rest):
            raise ArchiveRefused("has something after its end", self._file)

    def _object(self) -> bytes:
        depth, place = 0, self._at
        while True:
            found = _TOKEN.search(self._buffer, place)
            if found is None:
                place = self._more(len(self._buffer))
                continue
            token = found[0]
            place = found.end()
            if token == b'"':  # the buffer does not contain the end of the string
                place = self._text_end(place)
                continue
            if token in (b"{", b"["):
                depth += 1
            elif token in (b"}", b"]"):
                depth -= 1
                if depth == 0:
                    row = self._buffer[self._at : place]
                    self._at = place
                    return row

    def _text_end(self, place: int) -> int:
        """Return the position after the string that contains `place`. Each byte is scanned once."""
        while True:
            found = _INSIDE.match(self._buffer, place)
            assert found is not None
            place = found.end()
            if self._buffer[place : place + 1] == b'"':
                return place + 1
            place = self._more(place)

    def _more(self, place: int) -> int:
        """Read another piece and discard consumed bytes. Return the new value of `place`."""
        piece = next(self._pieces, None)
        if piece is None:
            raise ArchiveRefused("ends too early", self._file)
        if len(self._buffer) - self._at > ROW_BYTES_MAX:
            raise ArchiveRefused("has a row that is too long", self._file)
        self._buffer = self._buffer[self._at :] + piece
        moved = place - self._at
        self._at = 0
        return moved
