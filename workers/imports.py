"""The import of an untrusted archive as an organization.

The archive is read twice: first to check it completely and to number its rows, then to write them.
Memory contains one batch of rows, and the ids of all rows with eight bytes each.
"""

import hashlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from types import MappingProxyType

import orjson
import structlog
from sqlalchemy import Table
from sqlalchemy.exc import DataError, IntegrityError
from sqlalchemy.orm import Session

from adapters.archive_reader import ArchiveReader, ArchiveRefused
from adapters.archives import MANIFEST
from adapters.file_store.store import FileMissing, FileStore
from adapters.images.pictures import NotAPicture, make_small, make_square
from models import row_numbers
from models.chat.accounts.avatars import SIZE, SIZE_MEDIUM
from models.chat.common.hosts import check_host
from models.chat.common.vault import Vault
from models.chat.exports.rows import FORMAT, avatar_file
from models.chat.exports.scope import FULL_WITHOUT_CONSENT
from models.chat.exports.tables import PARTS
from models.chat.identity.api_keys import KeyMaker
from models.chat.imports import runs
from models.chat.imports.completing import HELD
from models.chat.imports.errors import IdsInUse
from models.chat.imports.ids import Ids
from models.chat.imports.kept import KEPT_WITH_IDS, scope_of
from models.chat.imports.references import referring_to_itself
from models.chat.imports.rows import TABLES, WITH_IDS, RowMaker, RowRefused, parts_of
from models.chat.imports.runs import Import
from models.chat.imports.steps import COPIED, FILES, LINKS, ROWS, STEPS, TOPICS, removals
from models.chat.imports.target import Line, Row, Target
from models.chat.imports.texts import Texts
from models.chat.organization.emoji import STILL
from models.chat.organization.realms import check_realm_name
from models.chat.rendering.previews import THUMBNAIL_SIZE
from models.chat.retention import RULES
from models.chat.tables import Conversation, Message, Realm
from models.chat.uploads.names import AVATAR, AVATAR_MEDIUM, THUMBNAIL, key_of
from models.json import Json
from specd.db import Clock, Database, table_of

BATCH_ROWS = 10_000
"""The maximum number of rows per batch. For long rows, `archive_reader.BYTES_AT_ONCE` is lower."""
FILES_AT_ONCE = 20
CLOCKS_DIFFER = timedelta(days=1)
"""How far the times in an archive may be in the future."""

_REALM, _MESSAGE, _CONVERSATION = table_of(Realm), table_of(Message), table_of(Conversation)
AGED = frozenset(rule.table for rule in RULES) - {_MESSAGE.name}
"""Tables whose old rows the service deletes, even during an import."""

NO_HASHES: Mapping[int, str] = MappingProxyType({})
Listener = Callable[[str, int, int, int], None]
"""Called with the current part, its finished rows, and the finished and total rows of all files."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A file as described in its row. `size` and `is_picture` are known only for uploads.
    `is_avatar`: whether it is a user's picture.
    """

    handle: str
    suffix: str = ""
    size: int | None = None
    is_picture: bool = False
    is_avatar: bool = False


@dataclass(frozen=True, slots=True)
class Imported:
    """A finished import. `waiting`: the number of overdue scheduled messages that were not sent."""

    run: Import
    rows: int
    files: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Copied:
    """An organization that has been copied and is still hidden. `rows`: those of its archive."""

    run: Import
    target: Target
    rows: int


class Imports:
    """Imports into one chat database, whose files are stored in `files`. `arriving` is a folder for
    temporary files.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        files: FileStore,
        arriving: Path,
        *,
        keys: KeyMaker,
        vault: Vault,
        listener: Listener = lambda what, done, rows, total: None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._files = files
        self._arriving = arriving
        self._keys = keys
        self._vault = vault
        self._listener = listener
        self._log = structlog.get_logger("imports")

    def run(
        self,
        archive: Path,
        *,
        host: str,
        name: str | None = None,
        sends_overdue: bool = False,
        password_hashes: Mapping[int, str] = NO_HASHES,
    ) -> Imported:
        """Import an archive, or resume its import. A rejected archive leaves no data.

        `password_hashes`: hashes by user id, which archives do not contain.

        Raise `ArchiveRefused`, `ImportTaken`, `InvalidHost`, `InvalidRealmName`, `HostInUse`,
        `UnfinishedImport`.
        """
        if name is not None:
            name = check_realm_name(name)
        with ArchiveReader(archive) as reader:
            digest = hashlib.sha256(orjson.dumps(reader.manifest)).hexdigest()
            with self._database.reading() as connection:
                found = runs.access_import(connection, host, digest)
            if found is not None and found.finished_at is not None:
                return self._again(found, reader, sends_overdue)
            latest = self._clock.now() + CLOCKS_DIFFER
            host = check_host(host)
            work = _Work(self, reader, host, name, digest, found, password_hashes, latest=latest)
            try:
                return work.work(sends_overdue=sends_overdue)
            except ArchiveRefused:
                if work.run_ is not None and work.has_begun:
                    self.discard(host)
                raise

    def copy(
        self,
        archive: Path,
        *,
        host: str,
        above: Mapping[str, int],
        beside: Mapping[Table, Sequence[int]] = MappingProxyType({}),
        must_keep_ids: bool = False,
    ) -> Copied:
        """Import an archive, or resume its import, and leave the organization hidden, because more
        rows follow. Rows keep their ids if no row here uses one of these ids or of the ids of rows
        that follow later (`beside`). `above`: for each table, a lower limit of new ids.

        Raise `IdsInUse`, and the errors of `run`.
        """
        with ArchiveReader(archive) as reader:
            digest = hashlib.sha256(orjson.dumps(reader.manifest)).hexdigest()
            with self._database.reading() as connection:
                found = runs.access_import(connection, host, digest)
            work = _Work(self, reader, check_host(host), None, digest, found, NO_HASHES, above)
            try:
                return work.copy(beside, must_keep_ids=must_keep_ids)
            except ArchiveRefused:
                if work.run_ is not None and work.has_begun:
                    self.discard(host)
                raise

    def move_file(self, source: FileStore, before: str, after: str) -> None:
        """Copy a file from another store if it exists there."""
        self._arriving.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            dir=self._arriving, prefix="import-", delete=False
        ) as file:
            path = Path(file.name)
            try:
                for piece in source.read(before):
                    file.write(piece)
                file.close()
                self._files.put(after, path)
            except FileMissing:
                pass
            finally:
                path.unlink(missing_ok=True)

    def discard(self, host: str) -> None:
        """Delete the unfinished import at a host, with its files. Raise `NoSuchImport`."""
        with self._database.reading() as connection:
            run = runs.access_unfinished(connection, host)
        self._database.run(lambda session: runs.begin_removal(session, run))
        after = ("", 0)
        while True:
            with self._database.reading() as connection:
                found = runs.find_handles(connection, run, after=after, limit=500)
            if not found:
                break
            for _, _, handle in found:
                for suffix in ("", STILL, THUMBNAIL, AVATAR, AVATAR_MEDIUM):
                    self._files.delete(key_of(run.realm_id, handle) + suffix)
            after = (found[-1][0], found[-1][1])

        def find_ids(table: Table) -> Sequence[int]:
            with self._database.snapshot(may_take_long=True) as snapshot:
                return runs.find_ids(snapshot, run, table)

        for removal in removals(find_ids):
            links = referring_to_itself(removal.table)
            self._database.run(partial(runs.remove_rows, removal=removal, links=links))
        self._database.run(lambda session: runs.end_removal(session, run))

    def _again(self, run: Import, reader: ArchiveReader, sends_overdue: bool) -> Imported:
        now = self._clock.now()
        if sends_overdue:
            self._database.run(lambda session: runs.send_overdue(session, run, now=now))
        with self._database.reading() as connection:
            waiting = runs.count_overdue(connection, run)
        rows = sum(facts["rows"] for facts in reader.files.values())
        return Imported(run, rows, len(reader.uploads), waiting)


class _Work:
    """One run of an import."""

    def __init__(
        self,
        imports: Imports,
        reader: ArchiveReader,
        host: str,
        name: str | None,
        digest: str,
        found: Import | None,
        password_hashes: Mapping[int, str],
        above: Mapping[str, int] = MappingProxyType({}),
        latest: datetime | None = None,
    ) -> None:
        self._imports, self._reader = imports, reader
        self._above = above
        self._host, self._digest = host, digest
        self.run_ = found
        self.has_begun = False
        """Whether this run has written rows."""
        realm = _check_manifest(reader)
        salt = runs.make_salt() if found is None else found.salt
        self._ids = Ids(WITH_IDS, salt, KEPT_WITH_IDS)
        texts = Texts(self._ids, realm["host"], host, 0)
        self._target = Target(
            self._ids, texts, imports._keys, imports._vault, name,
            password_hashes=password_hashes, latest=latest,
        )  # fmt: skip
        self._salt = salt
        self._stored: dict[str, Stored] = {}
        """Files by their name in the archive."""
        self._total = sum(facts["rows"] for facts in reader.files.values())
        self._done = 0

    def work(self, *, sends_overdue: bool) -> Imported:
        self._fill(self._begin_with_new_ids)
        self._check_counts()
        return self._finish(sends_overdue)

    def copy(self, beside: Mapping[Table, Sequence[int]], *, must_keep_ids: bool) -> Copied:
        self._fill(partial(self._begin_with_old_ids, beside, must_keep=must_keep_ids))
        if self._here.step < COPIED:
            self._check_counts()
            self._advance(step=COPIED, done=0)
        with self._imports._database.reading() as connection:
            for name, new_ids in runs.find_moved(connection, self._here).items():
                self._ids.add_later(name, new_ids)
        return Copied(self._here, self._target, self._total)

    def _fill(self, begin: Callable[[], Import]) -> None:
        """Check the archive and write its content."""
        self._scan()
        if self.run_ is None:
            self.run_ = begin()
        elif dict(self.run_.counts) != self._ids.counts:
            raise ArchiveRefused("is not the archive of the unfinished import", MANIFEST)
        self._number(self.run_.first_ids)
        self.has_begun = True
        self._imports._database.run(runs.prepare)
        for number, (kind, table) in enumerate(STEPS):
            if number < self.run_.step:
                if kind == ROWS:
                    self._done += self._rows_of(table)
                continue
            perform = {
                ROWS: self._write_rows,
                LINKS: self._write_links,
                TOPICS: self._write_topics,
                FILES: self._write_files,
            }[kind]
            perform(table)
            self._advance(step=number + 1, done=0)

    # --- the first reading ----------------------------------------------------------------------

    def _scan(self) -> None:
        """Check the complete archive and collect the ids of its rows and its files."""
        for part in PARTS:
            is_first = part is parts_of(table_of(part.table))[0] and "id" in part.columns
            name = f"{part.name}.jsonl"
            note = {
                "attachment": self._note_attachment,
                "realm_emoji": self._note_emoji,
                "profile_field": self._note_field,
                "user": self._note_user,
            }.get(part.name)
            table = table_of(part.table).name
            number = 0
            for (lines,) in self._reader.read_together([name]):
                if is_first:
                    self._number_rows(table, name, number, lines)
                if note is not None:
                    for at, line in enumerate(lines, number + 1):
                        note(line, name, at)
                number += len(lines)
                self._imports._listener("checked", number, 0, self._total)
        if self._ids.counts[_REALM.name] != 1:
            raise ArchiveRefused("has not one line", f"{_REALM.name}.jsonl")
        for name in self._reader.uploads:
            stored = self._stored.get(name)
            if stored is None:
                raise ArchiveRefused("is a file of no row", name)
            size = sum(len(piece) for piece in self._reader.read_pieces(name))
            if stored.size is not None and size != stored.size:
                raise ArchiveRefused("has another size than its row says", name)

    def _number_rows(self, table: str, name: str, done: int, lines: Sequence[Line]) -> None:
        for number, line in enumerate(lines, done + 1):
            try:
                self._ids.add(table, _whole(line["id"]))
            except ValueError as problem:
                raise ArchiveRefused(f"id {problem}", name, number) from None

    def _note_attachment(self, line: Line, file: str, number: int) -> None:
        handle, path_name, size = line["handle"], line["path_name"], line["size"]
        if type(handle) is not str or type(path_name) is not str or type(size) is not int:
            raise ArchiveRefused("does not describe a file", file, number)
        self._note(
            f"uploads/{handle}-{path_name}",
            Stored(handle, size=size, is_picture=line["width"] is not None),
            file,
            number,
        )

    def _note_emoji(self, line: Line, file: str, number: int) -> None:
        handle = line["handle"]
        if handle is None:
            return
        if type(handle) is not str:
            raise ArchiveRefused("does not describe a file", file, number)
        self._note(f"emoji/{handle}.webp", Stored(handle), file, number)
        if line["still_url"] is not None:
            self._note(f"emoji/still/{handle}.webp", Stored(handle, STILL), file, number)

    def _note_user(self, line: Line, file: str, number: int) -> None:
        handle = line["avatar_handle"]
        if handle is None:
            return
        if type(handle) is not str:
            raise ArchiveRefused("does not describe a file", file, number)
        name = avatar_file(handle)
        self._note(name, Stored(handle, is_avatar=True), file, number)
        if name in self._reader.uploads:
            self._target.avatars.add(handle)

    def _note(self, name: str, stored: Stored, file: str, number: int) -> None:
        if name in self._stored:
            raise ArchiveRefused("has the handle of another file", file, number)
        self._stored[name] = stored

    def _note_field(self, line: Line, file: str, number: int) -> None:
        self._target.field_types[line["id"]] = line["type"]

    def _begin_with_old_ids(
        self, beside: Mapping[Table, Sequence[int]], *, must_keep: bool
    ) -> Import:
        """Begin with the ids of the archive if they are free, otherwise with new ids. Raise
        `IdsInUse` instead if `must_keep` is true.
        """
        database, counts = self._imports._database, self._ids.counts
        ids = {table: self._ids.old_ids(table.name) for table in TABLES if table.name in counts}
        ids |= beside
        try:
            with database.reading() as connection:
                newest = runs.find_newest(connection)
            for table, olds in ids.items():
                # Rows that are added here from now on have larger ids than the moved rows.
                above = max((*olds[-1:], self._above.get(table.name, 0)))
                database.run(partial(row_numbers.reserve, table=table, count=0, after=above))
            with database.snapshot(may_take_long=True) as snapshot:
                for table, olds in ids.items():
                    if not runs.are_free(snapshot, table, olds):
                        raise IdsInUse(reason=f"rows of {table.name} have some of them")
            return self._begin({}, newest)
        except IdsInUse:
            if must_keep:
                raise
        return self._begin_with_new_ids()

    def _begin_with_new_ids(self) -> Import:
        database = self._imports._database
        counts = self._ids.counts
        first_ids = {
            str(table.name): database.run(
                partial(
                    row_numbers.reserve,
                    table=table,
                    count=counts[table.name],
                    after=self._above.get(table.name, 0),
                )
            )
            for table in TABLES
            if table.name in counts
        }
        return self._begin(first_ids)

    def _begin(self, first_ids: Mapping[str, int], newest: int = 0) -> Import:
        self._number(first_ids)
        ((_, files),) = self._lines(_REALM, 0)
        (realm,) = self._made(RowMaker(_REALM, self._target), 1, files, [()])
        now = self._imports._clock.now()
        try:
            return self._imports._database.run(
                lambda session: runs.begin(
                    session, realm, host=self._host, archive_sha256=self._digest, salt=self._salt,
                    first_ids=first_ids, counts=self._ids.counts, newest=newest, now=now,
                )
            )  # fmt: skip
        except (IntegrityError, DataError) as problem:
            raise ArchiveRefused(_reason(problem), f"{_REALM.name}.jsonl", 1) from problem

    def _number(self, first_ids: Mapping[str, int]) -> None:
        if first_ids:
            self._ids.number(first_ids)
        else:
            self._ids.keep()
        texts = replace(self._target.texts, realm_id=self._ids.new_ids(_REALM.name)[0])
        self._target = replace(self._target, texts=texts)

    # --- the second reading ---------------------------------------------------------------------

    def _write_rows(self, table: Table) -> None:
        done = self._here.done
        maker = RowMaker(table, self._target)
        self._done += done
        users_of = self._members() if table is _CONVERSATION else None
        for first, files in self._lines(table, 0 if users_of else done):
            beside: Sequence[Sequence[int]] = [()] * len(files[0])
            if users_of is not None:
                beside = [users_of(line["id"]) for line in files[0]]
            rows = self._made(maker, first, files, beside)
            is_new = max(done - first + 1, 0)
            if rows[is_new:]:
                self._write_batch(table, first + is_new, rows[is_new:])

    def _made(
        self,
        maker: RowMaker,
        first: int,
        files: Sequence[Sequence[Line]],
        beside: Sequence[Sequence[int]],
    ) -> list[Row]:
        """Convert the lines of all files of a table to rows. `first` is the first line's number."""
        first_part, *others = parts_of(maker.table)
        part = first_part
        try:
            rows = maker.make(part.name, files[0])
            for part, lines in zip(others, files[1:], strict=True):
                for row, more in zip(rows, maker.make(part.name, lines), strict=True):
                    row.update(more)
            part = first_part
            maker.complete(rows, files[0], beside)
        except RowRefused as refusal:
            raise ArchiveRefused(str(refusal), f"{part.name}.jsonl", first + refusal.at) from None
        return rows

    def _write_batch(self, table: Table, first: int, rows: list[Row]) -> None:
        run, last = self._here, first + len(rows) - 1

        def write(session: Session) -> None:
            runs.advance(session, run, step=run.step, done=last)
            runs.write_rows(session, table, rows)

        try:
            self._imports._database.run(write)
        except (IntegrityError, DataError) as problem:
            self._blame(table, first, rows)
            raise ArchiveRefused(_reason(problem), _file_of(table)) from problem
        self.run_ = replace(run, done=last)
        self._done += len(rows)
        self._tell(table.name, last)

    def _blame(self, table: Table, first: int, rows: list[Row]) -> None:
        """Raise `ArchiveRefused` for the first row that the database rejects."""
        run = self._here

        def find(session: Session) -> None:
            # Raises `ImportTaken` if another process has continued the import.
            runs.advance(session, run, step=run.step, done=run.done + 1)
            for number, row in enumerate(rows, first):
                try:
                    with Database.savepoint(session):
                        runs.write_rows(session, table, [row])
                except (IntegrityError, DataError) as problem:
                    raise ArchiveRefused(_reason(problem), _file_of(table), number) from None

        self._imports._database.run(find)

    def _write_links(self, table: Table) -> None:
        maker = RowMaker(table, self._target)
        for first, files in self._lines(table, self._here.done):
            batch: list[Row] = []
            for number, line in enumerate(files[0], first):
                try:
                    references = maker.make_references(line)
                except RowRefused as refusal:
                    raise ArchiveRefused(str(refusal), _file_of(table), number) from None
                if references is not None:
                    batch.append(references)
            if batch:
                self._write_references(table, batch, first + len(files[0]) - 1)

    def _write_references(self, table: Table, batch: list[Row], done: int) -> None:
        run = self._here

        def write(session: Session) -> None:
            runs.advance(session, run, step=run.step, done=done)
            runs.write_references(session, table, batch)

        self._imports._database.run(write)
        self.run_ = replace(run, done=done)

    def _write_topics(self, table: Table) -> None:
        channels = self._ids.new_ids(table.name)
        for number in range(self._here.done, len(channels)):
            run, channel_id = self._here, channels[number]

            def write(
                session: Session, run: Import = run, channel_id: int = channel_id,
                number: int = number,
            ) -> None:  # fmt: skip
                runs.advance(session, run, step=run.step, done=number + 1)
                runs.write_topics(session, channel_id)

            self._imports._database.run(write)
            self.run_ = replace(run, done=number + 1)

    def _write_files(self, table: Table) -> None:
        names = list(self._reader.uploads)
        self._imports._arriving.mkdir(mode=0o700, parents=True, exist_ok=True)
        with ThreadPoolExecutor(FILES_AT_ONCE) as pool:
            for start in range(self._here.done, len(names), FILES_AT_ONCE):
                some = names[start : start + FILES_AT_ONCE]
                with ExitStack() as stack:
                    arrived = [file for name in some for file in self._unpacked(name, stack)]
                    # Syncing several files in parallel takes as long as syncing one.
                    list(pool.map(self._imports._files.put, *zip(*arrived, strict=True)))
                self._advance(step=self._here.step, done=start + len(some))
                self._tell("files", start + len(some))

    def _unpacked(self, name: str, stack: ExitStack) -> Iterator[tuple[str, Path]]:
        """Yield the key and path of a file and, for a picture, of its thumbnail, which archives do
        not contain. Closing `stack` deletes the files.
        """
        stored = self._stored[name]
        key = key_of(self._target.texts.realm_id, self._ids.handle(stored.handle))
        with tempfile.NamedTemporaryFile(
            dir=self._imports._arriving, prefix="import-", delete=False
        ) as file:
            path = Path(file.name)
            stack.callback(path.unlink, missing_ok=True)
            for piece in self._reader.read_pieces(name):
                file.write(piece)
        if stored.is_avatar:
            yield from self._squares(path, key, name, stack)
            return
        if stored.is_picture:
            small = path.with_name(f"{path.name}.small")
            stack.callback(small.unlink, missing_ok=True)
            with suppress(NotAPicture):
                make_small(path, small, *THUMBNAIL_SIZE, only_still=True)
                yield key + THUMBNAIL, small
        yield key + stored.suffix, path

    def _squares(
        self, path: Path, key: str, name: str, stack: ExitStack
    ) -> Iterator[tuple[str, Path]]:
        """Yield the keys and paths of both sizes of a user's picture. Raise `ArchiveRefused` if the
        file is not a picture.
        """
        for suffix, side in ((AVATAR_MEDIUM, SIZE_MEDIUM), (AVATAR, SIZE)):
            square = path.with_name(f"{path.name}.{side}")
            stack.callback(square.unlink, missing_ok=True)
            try:
                make_square(path, square, side)
            except NotAPicture:
                raise ArchiveRefused("is no picture", name) from None
            yield key + suffix, square

    # --- the end --------------------------------------------------------------------------------

    def _check_counts(self) -> None:
        """Compare the numbers of written rows with the manifest. Raise `ArchiveRefused`."""
        for table in TABLES:
            with self._imports._database.snapshot(may_take_long=True) as snapshot:
                found = runs.count_rows(snapshot, table, scope_of(self._here.realm_id))
            for part in parts_of(table):
                name = f"{part.name}.jsonl"
                wanted = self._reader.files[name]["rows"]
                if found > wanted or (found < wanted and table.name not in AGED):
                    raise ArchiveRefused(f"{found} of its {wanted} rows are there", name)

    def _finish(self, sends_overdue: bool) -> Imported:
        run, now = self._here, self._imports._clock.now()
        released = {table.name: self._released(table) for table in TABLES if table.name in HELD}
        self._imports._database.run(
            lambda session: runs.finish(
                session, run, released=released, sends_overdue=sends_overdue, now=now
            )
        )
        with self._imports._database.reading() as connection:
            waiting = runs.count_overdue(connection, run)
        return Imported(run, self._total, len(self._reader.uploads), waiting)

    def _released(self, table: Table) -> list[Row]:
        """Return the final values of a table's held columns for rows in which they differ."""
        held = {
            name: value
            for name, value in HELD[table.name].items()
            if any(name in part.columns for part in parts_of(table))
        }
        maker = RowMaker(table, self._target)
        rows: list[Row] = []
        if not held:
            return rows
        for _, (lines, *_) in self._lines(table, 0):
            others = [
                line for line in lines if any(line[name] != value for name, value in held.items())
            ]
            if others:
                made = maker.make(parts_of(table)[0].name, others)
                rows += [{"id_": row["id"], **{name: row[name] for name in held}} for row in made]
        return rows

    # --- reading --------------------------------------------------------------------------------

    def _lines(self, table: Table, done: int) -> Iterator[tuple[int, Sequence[Sequence[Line]]]]:
        """Yield batches of the lines of a table after the first `done`: the number of the first
        line, and a list for each file.
        """
        parts = parts_of(table)
        names = [f"{part.name}.jsonl" for part in parts]
        keys = parts[0].order
        number = done + 1
        for files in self._reader.read_together(names, after=done, most=BATCH_ROWS):
            for name, lines in zip(names[1:], files[1:], strict=True):
                for at, (line, beside) in enumerate(zip(files[0], lines, strict=True), number):
                    if any([beside[key] != line[key] for key in keys]):
                        raise ArchiveRefused("is of another row", name, at)
            yield number, files
            number += len(files[0])

    def _members(self) -> Callable[[int], list[int]]:
        """Return a function that returns the users of a conversation. It must be called for the
        conversations in their order.
        """
        file = "conversation_member.jsonl"
        lines = enumerate(self._reader.read_lines(file), 1)
        ahead = next(lines, None)

        def users_of(conversation_id: int) -> list[int]:
            nonlocal ahead
            users: list[int] = []
            while ahead is not None and ahead[1]["conversation_id"] == conversation_id:
                user_id = ahead[1]["user_id"]
                new = self._ids.find("user", user_id) if type(user_id) is int else None
                if new is None:
                    raise ArchiveRefused("user_id refers to no user", file, ahead[0])
                users.append(new)
                ahead = next(lines, None)
            return users

        return users_of

    # --- progress -------------------------------------------------------------------------------

    @property
    def _here(self) -> Import:
        assert self.run_ is not None
        return self.run_

    def _advance(self, *, step: int, done: int) -> None:
        run = self._here
        self._imports._database.run(
            lambda session: runs.advance(session, run, step=step, done=done)
        )
        self.run_ = replace(run, step=step, done=done)

    def _rows_of(self, table: Table) -> int:
        return int(self._reader.files[_file_of(table)]["rows"])

    def _tell(self, what: str, done: int) -> None:
        self._imports._listener(what, done, self._done, self._total)


def _check_manifest(reader: ArchiveReader) -> dict[str, Json]:
    """Check the manifest and return its facts about the organization. Raise `ArchiveRefused`."""
    manifest = reader.manifest
    if manifest.get("service") != "specd chat" or manifest.get("format") != FORMAT:
        raise ArchiveRefused("is of another service or another format", MANIFEST)
    if manifest.get("export_type") != FULL_WITHOUT_CONSENT:
        raise ArchiveRefused(
            f"is no export of the type {FULL_WITHOUT_CONSENT}, which alone has everything", MANIFEST
        )
    realm = manifest.get("realm")
    if not isinstance(realm, dict) or type(realm.get("host")) is not str or not realm["host"]:
        raise ArchiveRefused("does not describe the organization", MANIFEST)
    wanted = {f"{part.name}.jsonl": part for part in PARTS}
    if reader.files.keys() != wanted.keys():
        raise ArchiveRefused("has other files than this release", MANIFEST)
    for name, part in wanted.items():
        facts = reader.files[name]
        if facts.get("columns") != list(part.columns):
            raise ArchiveRefused(f"{name} has other columns than in this release", MANIFEST)
        if type(facts.get("rows")) is not int:
            raise ArchiveRefused(f"{name} has no number of rows", MANIFEST)
    return realm


def _file_of(table: Table) -> str:
    return f"{parts_of(table)[0].name}.jsonl"


def _whole(value: Json) -> int:
    if type(value) is not int:
        raise ValueError("is no integer")
    return value


def _reason(problem: Exception) -> str:
    """Return the reason for which the database rejects a row, without the row's values."""
    orig = getattr(problem, "orig", None)
    return f"the row breaks a rule of its table ({str(orig).splitlines()[0]})"
