"""Converts archives to tarballs in Zulip's export format."""

import io
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

import orjson

from adapters.archive_reader import ArchiveReader, ArchiveRefused
from adapters.images.pictures import NotAPicture, make_square
from models.chat.accounts.avatars import SIZE
from models.chat.zulip_form.to_zulip import Row, ToZulip

MESSAGES_IN_A_FILE = 1000
VERSION = "12.0"
"""The release of Zulip whose export format is written."""
_STATUS = orjson.dumps({"migrations_by_app": {}, "zulip_version": VERSION})


def write_zulip(archive: Path, target: Path, *, migration_status: bytes | None = None) -> int:
    """Convert a complete archive to a tarball and return the number of messages.
    `migration_status`: the file of this name from the Zulip server that will import the tarball,
    which rejects other files. Raise `ArchiveRefused`.
    """
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="zulip-") as folder:
        part = Path(folder) / "part.tar.gz"
        with ArchiveReader(archive) as reader, tarfile.open(part, "w:gz") as out:
            rows = _Rows(reader, Path(folder))
            tarball = _Tarball(out, ToZulip(rows), reader, Path(folder))
            count = tarball.write(migration_status or _STATUS)
        part.replace(target)
    return count


class _Rows:
    """The rows of an archive. Message edits are copied to a file, so that they can be read by
    message.
    """

    def __init__(self, reader: ArchiveReader, folder: Path) -> None:
        self._reader = reader
        self._places: dict[int, list[int]] = {}
        self._edits = (folder / "edits").open("w+b")
        for row in reader.read_lines("message_edit.jsonl"):
            self._places.setdefault(row["message_id"], []).append(self._edits.tell())
            self._edits.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))

    def lines(self, file: str) -> Iterator[Row]:
        return self._reader.read_lines(f"{file}.jsonl")

    def has_file(self, name: str) -> bool:
        return name in self._reader.uploads

    def edits_of(self, message_id: int) -> Sequence[Row]:
        edits = []
        for place in self._places.get(message_id, ()):
            self._edits.seek(place)
            edits.append(orjson.loads(self._edits.readline()))
        return edits


class _Tarball:
    """Writes a tarball. Large files are first written to disk, because their size must be known."""

    def __init__(
        self, out: tarfile.TarFile, form: ToZulip, reader: ArchiveReader, folder: Path
    ) -> None:
        self._out, self._form, self._reader, self._folder = out, form, reader, folder

    def write(self, migration_status: bytes) -> int:
        """Write all files. Return the number of messages."""
        form = self._form
        self._tables("realm.json", form.tables, import_source="zulip")
        self._tables("attachment.json", {"zerver_attachment": form.attachments})
        empty: Mapping[str, Callable[[], Iterator[Row]]] = {
            f"analytics_{kind}count": lambda: iter(()) for kind in ("realm", "stream", "user")
        }
        self._tables("analytics.json", empty)
        messages = self._messages()
        self._files("uploads", form.upload_files())
        self._files("emoji", form.emoji_files())
        self._avatars(form.avatar_files())
        self._add("realm_icons/records.json", b"[]")
        self._add("migration_status.json", migration_status)
        return messages

    def _messages(self) -> int:
        """Write the messages, and then the users' message copies in later files, because Zulip
        first reads the ids of all messages. Return the number of messages.
        """
        number = count = 0
        for table, rows in (
            ("zerver_message", self._form.messages()),
            ("zerver_usermessage", self._form.copies()),
        ):
            for some in _in_batches(rows):
                number += 1
                content: dict[str, list[Row]] = {"zerver_message": [], "zerver_usermessage": []} | {
                    table: some
                }
                self._add(f"messages-{number:06}.json", orjson.dumps(content))
                count += len(some) if table == "zerver_message" else 0
        return count

    def _tables(
        self, name: str, tables: Mapping[str, Callable[[], Iterator[Row]]], **facts: str
    ) -> None:
        path = self._folder / "tables.json"
        with path.open("wb") as out:
            out.write(b"{")
            separator = b""
            for table, rows in tables.items():
                out.write(separator + orjson.dumps(table) + b":[")
                separator = b""
                for row in rows():
                    out.write(separator + orjson.dumps(row))
                    separator = b",\n"
                out.write(b"]")
                separator = b",\n"
            for key, value in facts.items():
                out.write(separator + orjson.dumps(key) + b":" + orjson.dumps(value))
                separator = b",\n"
            out.write(b"}")
        with path.open("rb") as source:
            self._entry(name, source, path.stat().st_size)

    def _files(self, folder: str, files: Iterable[tuple[str, Row]]) -> None:
        records = []
        for name, record in files:
            if name in self._reader.uploads:
                self._copy(self._unpacked(name), f"{folder}/{record['path']}")
                records.append(record)
        self._add(f"{folder}/records.json", orjson.dumps(records))

    def _avatars(self, files: Iterable[tuple[str, Row]]) -> None:
        """Write each user's picture as the original and in the small size."""
        records = []
        small = self._folder / "small"
        for name, record in files:
            whole = self._unpacked(name)
            try:
                make_square(whole, small, SIZE)
            except NotAPicture:
                raise ArchiveRefused("is no picture", name) from None
            for path, ending in ((whole, ".original"), (small, ".png")):
                place = f"{record['path']}{ending}"
                self._copy(path, f"avatars/{place}")
                size = path.stat().st_size
                records.append({**record, "path": place, "s3_path": place, "size": size})
        self._add("avatars/records.json", orjson.dumps(records))

    def _unpacked(self, name: str) -> Path:
        path = self._folder / "file"
        with path.open("wb") as out:
            for piece in self._reader.read_pieces(name):
                out.write(piece)
        return path

    def _copy(self, path: Path, name: str) -> None:
        with path.open("rb") as source:
            self._entry(name, source, path.stat().st_size)

    def _add(self, name: str, content: bytes) -> None:
        self._entry(name, io.BytesIO(content), len(content))

    def _entry(self, name: str, source: IO[bytes], size: int) -> None:
        info = tarfile.TarInfo(f"zulip-export/{name}")
        info.size, info.mode = size, 0o600
        self._out.addfile(info, source)


def _in_batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    batch: list[Row] = []
    for row in rows:
        batch.append(row)
        if len(batch) == MESSAGES_IN_A_FILE:
            yield batch
            batch = []
    if batch:
        yield batch
