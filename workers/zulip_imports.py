"""Converts Zulip exports to archives, which are then imported.

All files are in one folder, which is deleted at the end, or by the next run if the process is
killed. The same export always results in the same archive, so that a killed import can be resumed.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import orjson

from adapters.archive_reader import ArchiveRefused
from adapters.archives import ArchiveWriter
from adapters.images.pictures import NotAPicture, Picture, make_small, make_square
from adapters.zulip_tarball import CHUNK, ZulipTarball
from models.chat.accounts.avatars import SIZE_MEDIUM
from models.chat.common.hosts import check_host
from models.chat.exports.rows import BATCH, FORMAT, avatar_file
from models.chat.exports.scope import FULL_WITHOUT_CONSENT
from models.chat.exports.tables import PARTS, Part
from models.chat.organization.emoji import SIZE
from models.chat.rendering.previews import THUMBNAIL_SIZE
from models.chat.zulip_form.files import Measured
from models.chat.zulip_form.from_zulip import Conversion
from models.chat.zulip_form.rows import BrokenRow
from models.chat.zulip_form.table import losses
from models.json import Json
from specd.db import table_of
from workers.imports import Listener

ARCHIVE = "converted.zip"
NO_PASSWORDS: Mapping[str, str] = {}


class ConversionTaken(Exception):
    """Another process is converting an export here."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Data of an export that is not in the archive: `count` rows or values."""

    table: str
    what: str
    count: int


@dataclass(frozen=True, slots=True)
class Converted:
    """A converted archive, and data that archives cannot contain."""

    archive: Path
    password_hashes: Mapping[int, str]
    messages: int
    losses: list[Loss]


@contextmanager
def converted(
    tarball: Path,
    folder: Path,
    *,
    host: str,
    zulip_host: str | None = None,
    passwords: Mapping[str, str] = NO_PASSWORDS,
    listener: Listener = lambda what, done, rows, total: None,
) -> Iterator[Converted]:
    """Convert an export to an archive in a subfolder of `folder`, which is deleted at the end.
    `host`: the new host. `zulip_host`: the previous host, which links in texts contain.
    `passwords`: Django password hashes by lower-case address.

    Raise `ArchiveRefused`, `ConversionTaken` and `InvalidHost`.
    """
    with _own_folder(folder / f"zulip-{check_host(host)}") as own:
        try:
            export = ZulipTarball(tarball, own)
            files = _Files(export, own)
            conversion = Conversion(export, files, host=zulip_host or "zulip.invalid")
            conversion.add_passwords(passwords)
            _write(conversion, files, export, own, listener)
        except BrokenRow as broken:
            raise ArchiveRefused(broken.problem, broken.table, broken.number) from broken
        yield Converted(
            own / ARCHIVE,
            conversion.password_hashes,
            export.counts.get("zerver_message", 0),
            list(_losses(export, conversion)),
        )


@contextmanager
def _own_folder(folder: Path) -> Iterator[Path]:
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = os.open(folder.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder)
    except BlockingIOError:
        raise ConversionTaken() from None
    finally:
        os.close(lock)


def _write(
    conversion: Conversion,
    files: "_Files",
    export: ZulipTarball,
    folder: Path,
    listener: Listener,
) -> None:
    total = sum(export.counts.values())
    rows = 0
    with ArchiveWriter(folder, ARCHIVE) as archive:
        for part in PARTS:
            lines = _Lines(conversion, part, listener, rows, total)
            archive.write_lines(
                f"{part.name}.jsonl", lines.batches(), table=part.table.__tablename__,
                columns=part.columns,
            )  # fmt: skip
            rows += lines.done
        for name, path in conversion.uploads.archive_files():
            source = export.files.get(path)
            if source is None:
                archive.note_missing(name)
            else:
                archive.write_file(name, _pieces(source))
        for picture, path in conversion.uploads.archive_emoji():
            small = files.emoji[path]
            archive.write_file(f"emoji/{picture.handle}.webp", _pieces(small.small))
            if small.still is not None:
                archive.write_file(f"emoji/still/{picture.handle}.webp", _pieces(small.still))
        for handle, path in conversion.uploads.archive_avatars():
            archive.write_file(avatar_file(handle), _pieces(files.avatars[path]))
        archive.finish(
            {
                "format": FORMAT,
                "service": "specd chat",
                "schema_version": "zulip",
                "realm": {
                    "id": conversion.realm_id, "host": conversion.host, "name": conversion.name,
                },
                "export_type": FULL_WITHOUT_CONSENT,
                "consenting_user_ids": None,
                "rows": rows,
            }
        )  # fmt: skip


class _Lines:
    """Converts the lines of one file."""

    def __init__(
        self, conversion: Conversion, part: Part, listener: Listener, before: int, total: int
    ) -> None:
        self._conversion, self._part = conversion, part
        self._listener, self._before, self._total = listener, before, total
        self.done = 0

    def batches(self) -> Iterator[list[bytes]]:
        batch: list[bytes] = []
        name = table_of(self._part.table).name
        for row in self._conversion.rows(self._part):
            batch.append(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
            self.done += 1
            if len(batch) == BATCH:
                yield batch
                batch = []
                self._listener(f"converted {name}", self.done, 0, self._total)
        if batch:
            yield batch


class _Files:
    """The files of an export. Emoji and users' pictures are converted to the sizes used here."""

    def __init__(self, export: ZulipTarball, folder: Path) -> None:
        self._files, self._folder = export.files, folder
        self.emoji: dict[str, Picture] = {}
        self.avatars: dict[str, Path] = {}

    def size(self, path: str) -> int | None:
        source = self._files.get(path)
        return None if source is None else source.stat().st_size

    def measure(self, path: str) -> Measured | None:
        source = self._files.get(path)
        if source is None:
            return None
        target = self._folder / "measured"
        try:
            picture = make_small(source, target, *THUMBNAIL_SIZE, only_still=True)
        except NotAPicture:
            return None
        finally:
            target.unlink(missing_ok=True)
        return Measured(picture.width, picture.height, picture.is_animated)

    def has_emoji(self, path: str) -> tuple[bool, bool]:
        # The original is preferred, because the small form may have lost quality.
        for name in (f"{path}.original", path):
            source = self._files.get(name)
            if source is None:
                continue
            target = self._folder / f"emoji-{len(self.emoji)}"
            try:
                picture = make_small(source, target, SIZE, SIZE)
            except NotAPicture:
                continue
            self.emoji[path] = picture
            return True, picture.still is not None
        return False, False

    def has_avatar(self, path: str) -> bool:
        if path in self.avatars:
            return True
        source = self._files.get(path)
        if source is None:
            return False
        target = self._folder / f"avatar-{len(self.avatars)}"
        try:
            make_square(source, target, SIZE_MEDIUM)
        except NotAPicture:
            return False
        self.avatars[path] = target
        return True


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as source:
        while piece := source.read(CHUNK):
            yield piece


def _losses(export: ZulipTarball, conversion: Conversion) -> Iterator[Loss]:
    dropped = export.losses.dropped
    for table, why, fields in losses():
        count = max(dropped[table, field] for field in fields)
        if count:
            yield Loss(table, why, count)
    for (table, field), count in sorted(export.losses.unknown.items()):
        yield Loss(table, f"{field or 'the table'} is not known here", count)
    for (table, reason), count in sorted(conversion.changes.counts.items()):
        yield Loss(table, reason, count)


def describe(losses: list[Loss]) -> list[Json]:
    """Return the losses as JSON values."""
    return [{"table": each.table, "what": each.what, "count": each.count} for each in losses]
