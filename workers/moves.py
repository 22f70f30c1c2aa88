"""A move: an organization goes from the installation where it is to this one, while people use it.

First an archive of the source becomes a hidden organization here, as any import does. Meanwhile
triggers at the source note what changes. Then round after round brings over what has changed, until
one is short. Then the source is stopped, the last rounds follow, and the organization is shown.

Each unit of work here moves the progress on, and what the source has noted is forgotten only after
it is here. So a move that was killed goes on where it was.
"""

import fcntl
import os
import time
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, Table, func, select
from sqlalchemy.orm import Session

from adapters.archives import ArchiveWriter
from adapters.file_store.store import FileMissing, FileStore
from models import row_numbers
from models.chat.errors import RefusedCommand
from models.chat.exports.rows import count_rows
from models.chat.exports.tables import Part
from models.chat.identity.actors import find_realm_at
from models.chat.imports import runs
from models.chat.imports.completing import HELD
from models.chat.imports.errors import IdsInUse, UnfinishedImport
from models.chat.imports.kept import KEPT_PARTS, KEPT_TABLES, LAST_PARTS, scope_of
from models.chat.imports.rows import TABLES
from models.chat.imports.runs import Import, ImportTaken
from models.chat.imports.target import Row, Target
from models.chat.moves import capture, clients, rows, stopping
from models.chat.moves.capture import CAPTURED, FOLLOWED, Key
from models.chat.moves.errors import (
    MoveIsFinished,
    NoSuchOrganization,
    NotFollowed,
    NotNoted,
    NotTheSame,
    TooManyIds,
)
from models.chat.moves.rows import Lines, Maker, RowNotMoved
from models.chat.organization.emoji import STILL
from models.chat.organization.errors import HostInUse
from models.chat.queues.queues import find_head
from models.chat.tables import Attachment, Conversation, RealmEmoji, User, UserMessage
from models.chat.uploads.names import AVATAR, AVATAR_MEDIUM, THUMBNAIL, key_of
from specd.db import Clock, Database, table_of
from specd.errors import DatabaseUnavailable
from workers.exports import fill_archive
from workers.imports import AGED, Imports, Listener

BATCH = 1000
"""Rows of a unit of work."""
EVENTS = 200
"""Of a unit of work: one may be long."""
SHORT = 2000
"""Changes that may be left when the source is stopped."""
ROUNDS_MAX = 100
ROOM = 1_000_000
"""Ids of each table that the source may still hand out while the organization moves."""
FORGOTTEN_AT_ONCE = 5000
TRIES, TRIES_STOPPED, TRY_EVERY_S = 120, 2, 0.5
"""Of a lock that others hold, such as that of a table from which a trigger is to be removed. Each
one lasts as long as the database waits for locks.
"""

_CONVERSATION, _ATTACHMENT, _EMOJI, _USER = map(
    table_of, (Conversation, Attachment, RealmEmoji, User)
)
_AT_ONCE = {table_of(UserMessage)}
"""Tables whose rows may go while others come: nothing refers to them, and no other row takes the
place of one.
"""
_WITH_FILES = {
    _ATTACHMENT: ("handle", (THUMBNAIL, "")),
    _EMOJI: ("handle", (STILL, "")),
    _USER: ("avatar_handle", (AVATAR_MEDIUM, AVATAR)),
}
"""Tables of files: the column with the handle, and the endings of the keys, in the order in which
the files are stored.
"""


@dataclass(frozen=True, slots=True)
class Place:
    """An installation: its database and its files."""

    database: Database
    files: FileStore


@dataclass(frozen=True, slots=True)
class Moved:
    """A finished move. `stopped_s`: for how long nobody could use the organization; None where the
    command was killed in between, or had nothing left to do.
    """

    run: Import
    rounds: int
    changes: int
    stopped_s: float | None


@dataclass(frozen=True, slots=True)
class _End:
    """What is written as the organization is shown: `released` as in `runs.finish`, and rows."""

    released: Mapping[str, list[Row]]
    last: list[tuple[Table, list[Row]]]
    queues: list[Row]
    presences: list[Row]
    spent_links: list[Row]


@dataclass(slots=True)
class _Round:
    """What one round has found at the source."""

    ids: "array[int]" = field(default_factory=lambda: array("q"))
    files: list[tuple[str, str, tuple[str, ...]]] = field(default_factory=list)
    """Keys at the source and here, and the endings."""
    gone: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    """Keys here of files that are no more."""


class Moves:
    """Moves of organizations to the installation `here`; `folder` is for archives meanwhile. An
    organization keeps its ids where no row here has one of them; `must_keep_ids`: else it stays.
    """

    def __init__(
        self,
        source: Place,
        here: Place,
        imports: Imports,
        clock: Clock,
        folder: Path,
        *,
        listener: Listener = lambda what, done, rows, total: None,
        rest: Callable[[float], object] = time.sleep,
        must_keep_ids: bool = False,
    ) -> None:
        self._source, self._here, self.imports = source, here, imports
        self._clock, self._folder, self.listener = clock, folder, listener
        self._rest = rest
        self._must_keep_ids = must_keep_ids
        self.above: Mapping[str, int] = {}
        """Table -> an id that all new ones are larger than."""

    def run(self, host: str, *, switch: Callable[[], None] = lambda: None) -> Moved:
        """Move the organization at a host, or carry its move on. `switch` has the proxy send people
        here, while they wait.

        Raise `NoSuchOrganization`, `NotFollowed`, `NotTheSame`, `TooManyIds`, and what
        `Imports.copy` raises. After `IdsInUse` nothing is left of the move.
        """
        with self._alone(host):
            return self._run(host, switch)

    def _run(self, host: str, switch: Callable[[], None]) -> Moved:
        realm_id = self._access_source(host)
        finished = self._find_finished(host, realm_id)
        if finished is not None:
            switch()
            self._clean_up(host, realm_id, finished)
            return Moved(finished, 0, 0, None)
        self._check_free(host)
        self._capture(host, realm_id)
        archive = self._archive(host, realm_id)
        self.above = self._ids_above()
        try:
            copied = self.imports.copy(
                archive, host=host, above=self.above, beside=self._ids_beside(realm_id),
                must_keep_ids=self._must_keep_ids,
            )  # fmt: skip
        except IdsInUse:
            self._release(host, realm_id)
            raise
        self._here.database.run(partial(rows.analyse, tables=CAPTURED))
        work = _Work(self, realm_id, copied.run, copied.target)
        total = rounds = 0
        if not self._is_stopped(realm_id):
            while True:
                changes, rounds = work.follow(), rounds + 1
                total += changes
                if changes <= SHORT:
                    break
                if rounds >= ROUNDS_MAX:
                    raise NotFollowed(changes=changes)
        began = time.monotonic()
        self._stop(realm_id)
        with self._going_on_after(
            realm_id, RowNotMoved, RefusedCommand, DatabaseUnavailable, OSError
        ):
            end = None
            while end is None:
                total, rounds = total + work.follow(), rounds + 1
                end = work.prepare_end()
        with self._going_on_after(realm_id, RefusedCommand):  # of another error nobody knows
            work.show(end)
        switch()
        stopped_s = time.monotonic() - began
        self._clean_up(host, realm_id, work.run_)
        return Moved(work.run_, rounds, total, stopped_s)

    def discard(self, host: str) -> None:
        """Remove what a move that is not finished has left here and at the source, where people go
        on. Raise `NoSuchOrganization`, `MoveIsFinished`, `ImportTaken`.
        """
        with self._alone(host):
            self._discard(host)

    def _discard(self, host: str) -> None:
        realm_id = self._access_source(host)
        if self._find_finished(host, realm_id) is not None:
            raise MoveIsFinished(host=host)
        with self._here.database.reading() as connection:
            found = runs.find_import(connection, host)
        if found is not None and found.finished_at is None:
            self.imports.discard(host)
        self._release(host, realm_id)
        self._source.database.run(partial(stopping.go_on, realm_id=realm_id))

    @contextmanager
    def _alone(self, host: str) -> Iterator[None]:
        """Keep other processes of this machine from the same move. Raise `ImportTaken`."""
        folder = self._archive_of(host).parent
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ImportTaken() from None
            try:
                yield
            finally:
                with suppress(OSError):  # it has the archive while the move is unfinished
                    folder.rmdir()
        finally:
            os.close(lock)

    # --- the source -----------------------------------------------------------------------------

    def _access_source(self, host: str) -> int:
        with self._source.database.reading() as connection:
            realm = find_realm_at(connection, host)
        if realm is None:
            raise NoSuchOrganization(host=host)
        return realm.id

    def _is_stopped(self, realm_id: int) -> bool:
        with self._source.database.reading() as connection:
            return stopping.is_stopped(connection, realm_id)

    def _capture(self, host: str, realm_id: int) -> None:
        """Note from now on what changes, and what no archive has as if it had changed. Raise
        `NotNoted`.
        """
        if self._archive_of(host).exists():
            with self._source.database.reading() as connection:
                if not capture.is_installed(connection, realm_id):
                    raise NotNoted(host=host)
            return
        for table in CAPTURED:
            self._patiently(partial(capture.install, realm_id=realm_id, table=table))
        for part in KEPT_PARTS:
            self._source.database.run(partial(capture.note_all, realm_id=realm_id, part=part))

    def _archive(self, host: str, realm_id: int) -> Path:
        """Return the archive of the first copy."""
        path, scope = self._archive_of(host), scope_of(realm_id)
        if path.exists():
            return path
        with (
            self._source.database.snapshot(may_take_long=True) as snapshot,
            ArchiveWriter(path.parent, path.name) as archive,
        ):
            passed = _Passed(self.listener, count_rows(snapshot, scope))
            manifest = fill_archive(archive, snapshot, self._source.files, scope, passed)
            archive.finish({**manifest, "taken_at": self._clock.now(), "rows": passed.done})
        return path

    def _archive_of(self, host: str) -> Path:
        return self._folder / host / "first-copy.zip"

    def _ids_above(self) -> dict[str, int]:
        """Return ids that all of the source are below, for as long as the move takes: a client that
        still has an old one must not mean another row here.
        """
        with self._source.database.reading() as connection:
            return {
                table.name: ROOM
                + connection.execute(select(func.coalesce(func.max(table.c.id), 0))).scalar_one()
                for table in FOLLOWED
                if "id" in table.c and table.name != "realm"
            }

    def _ids_beside(self, realm_id: int) -> dict[Table, list[int]]:
        """Return the ids of rows that no archive has."""
        tables = [table for table in KEPT_TABLES if "id" in table.c]
        with self._source.database.reading() as connection:
            return {table: rows.find_ids(connection, table, scope_of(realm_id)) for table in tables}

    def _stop(self, realm_id: int) -> None:
        database, now = self._source.database, self._clock.now()
        database.run(partial(stopping.stop, realm_id=realm_id, now=now))
        with self._going_on_after(realm_id, DatabaseUnavailable):
            for _ in range(2):
                self._patiently(
                    partial(stopping.await_writes, realm_id=realm_id), tries=TRIES_STOPPED
                )

    @contextmanager
    def _going_on_after(self, realm_id: int, *errors: type[Exception]) -> Iterator[None]:
        """Let people use the source again after an error that leaves it the only one."""
        try:
            yield
        except errors:
            self._source.database.run(partial(stopping.go_on, realm_id=realm_id))
            raise

    def _patiently(self, work: Callable[[Session], None], tries: int = TRIES) -> None:
        """Run a unit at the source that others may keep waiting. Raise `DatabaseUnavailable`."""
        for tried in range(1, tries + 1):
            try:
                self._source.database.run(work)
                return
            except DatabaseUnavailable:
                if tried == tries:
                    raise
            self._rest(TRY_EVERY_S)

    def _release(self, host: str, realm_id: int) -> None:
        """Note nothing any more, and forget what was noted."""
        self._archive_of(host).unlink(missing_ok=True)
        for table in CAPTURED:
            self._patiently(partial(capture.remove, realm_id=realm_id, table=table))
        forget = partial(capture.forget_some, realm_id=realm_id, most=FORGOTTEN_AT_ONCE)
        while self._source.database.run(forget):
            pass

    # --- this installation ----------------------------------------------------------------------

    def _find_finished(self, host: str, realm_id: int) -> Import | None:
        """Return the move of the stopped organization if it is finished."""
        with self._here.database.reading() as connection:
            found = runs.find_import(connection, host)
            is_here = find_realm_at(connection, host) is not None
        if found is None or found.finished_at is None or not is_here:
            return None
        return found if self._is_stopped(realm_id) else None

    def _check_free(self, host: str) -> None:
        """Raise `HostInUse`, `UnfinishedImport`."""
        with self._here.database.reading() as connection:
            found = runs.find_import(connection, host)
            if find_realm_at(connection, host) is not None:
                raise HostInUse(host=host)
        if found is not None and found.finished_at is None and not self._archive_of(host).exists():
            raise UnfinishedImport(host=host)

    def _clean_up(self, host: str, realm_id: int, run: Import) -> None:
        """Leave nothing of the move but the organization here, and the stopped one."""
        self._release(host, realm_id)
        self._source.database.run(partial(stopping.forget_work, realm_id=realm_id))
        self._here.database.run(lambda session: runs.forget_moved(session, run))


class _Passed:
    """Counts what goes into the archive."""

    def __init__(self, listener: Listener, total: int) -> None:
        self._listener, self._total = listener, total
        self.done = 0

    def over(self, batches: Iterator[list[bytes]]) -> Iterator[list[bytes]]:
        for lines in batches:
            yield lines
            self.done += len(lines)
            self._listener("read", self.done, self.done, self._total)

    def beside(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        return pieces


class _Work:
    """The rounds of one run over a hidden organization."""

    def __init__(self, moves: Moves, realm_id: int, run: Import, target: Target) -> None:
        self._moves, self._realm_id, self._target = moves, realm_id, target
        self._scope = scope_of(realm_id)
        self._source, self._here = moves._source, moves._here
        self.run_ = run
        with self._here.database.reading() as connection:
            self._last_event = find_head(connection, run.realm_id)
        """The last event that is here; 0: none."""
        self._follows_log = run.keeps_ids

    def follow(self) -> int:
        """Bring over what has changed; return how many changes were noted, and events."""
        found = _Round()
        with self._source.database.snapshot(may_take_long=True) as snapshot:
            self._target.field_types.update(rows.find_field_types(snapshot, self._realm_id))
            names = capture.find_changed(snapshot, self._realm_id)
            changed = [table for table in FOLLOWED if table.name in names]
            for table in changed:
                if "id" in table.c:
                    self._number(snapshot, table)
            for table in reversed(changed):
                if table not in _AT_ONCE:
                    self._remove(snapshot, table, found)
            for table in changed:
                self._write(snapshot, table, found)
            events = self._follow_log(snapshot)
        self._move_files(found)
        for start in range(0, len(found.ids), FORGOTTEN_AT_ONCE):
            some = found.ids[start : start + FORGOTTEN_AT_ONCE].tolist()
            self._source.database.run(partial(capture.forget_changes, ids=some))
        return len(found.ids) + events

    def prepare_end(self) -> "_End | None":
        """Return what is left to write; None: something has changed since the last round. Raise
        `NotTheSame`, `TooManyIds`.
        """
        with self._source.database.snapshot(may_take_long=True) as snapshot:
            if capture.count_changes(snapshot, self._realm_id, 1):
                return None
            if self._next_events(snapshot, 1):
                return None
            self._check_ids(snapshot)
            self._check_counts(snapshot)
            released: dict[str, list[Row]] = {}
            for table in TABLES:
                if table.name in HELD:
                    released[table.name] = rows.find_held(
                        snapshot, table, self._scope, self._target
                    )
            last = [self._last_rows(snapshot, part) for part in LAST_PARTS]
            keeps, now = self.run_.keeps_ids, self._moves._clock.now()
            return _End(
                released,
                last,
                queues=self._live_queues(snapshot),
                presences=clients.find_presences(snapshot, self._realm_id) if keeps else [],
                spent_links=clients.find_spent_links(snapshot, now) if keeps else [],
            )

    def show(self, end: "_End") -> None:
        """Show the organization. Raise `HostInUse`, `ImportTaken`."""
        run, now = self.run_, self._moves._clock.now()

        def show(session: Session) -> None:
            runs.finish(
                session, run, released=end.released, sends_overdue=False, goes_on=True, now=now
            )
            for table, added in end.last:
                rows.write(session, table, added)
            clients.add(session, end.queues, end.presences, end.spent_links)

        self._here.database.run(show)

    # --- a round --------------------------------------------------------------------------------

    def _batches(self, snapshot: Connection, table: Table) -> Iterator[tuple[list[int], list[Key]]]:
        """Yield the ids of entries and their keys, each key once in a batch."""
        after = 0
        while True:
            changes = capture.find_changes(snapshot, self._realm_id, table, after=after, most=BATCH)
            if not changes:
                return
            after = changes[-1].id
            yield [each.id for each in changes], list(dict.fromkeys(each.key for each in changes))

    def _number(self, snapshot: Connection, table: Table) -> None:
        """Give the rows that are new ids of their own, before anything refers to them."""
        ids = self._target.ids
        for _, keys in self._batches(snapshot, table):
            new = [key for key in keys if ids.find(table.name, int(key[0])) is None]
            if not new:
                continue
            there = rows.find_present_keys(snapshot, table, self._scope, new)
            present = sorted(int(key[0]) for key in there)
            if not present:
                continue

            def work(
                session: Session, run: Import = self.run_, present: list[int] = present
            ) -> dict[int, int]:
                runs.advance(session, run, step=run.step, done=run.done + 1)
                new_ids = self._new_ids(session, table, present)
                runs.add_moved(session, run, table, new_ids)
                return new_ids

            ids.add_later(table.name, self._here.database.run(work))
            self.run_ = replace(self.run_, done=self.run_.done + 1)

    def _new_ids(self, session: Session, table: Table, olds: Sequence[int]) -> dict[int, int]:
        """Return the ids here of rows that are new at the source. Raise `TooManyIds`."""
        above = self._moves.above.get(table.name, 0)
        if self.run_.keeps_ids:
            row_numbers.reserve(session, table, 0, max(olds[-1], above))
            if not runs.are_free(session, table, olds):
                raise TooManyIds(table=table.name)
            return {old: old for old in olds}
        first = row_numbers.reserve(session, table, len(olds), above)
        return {old: first + number for number, old in enumerate(olds)}

    def _remove(self, snapshot: Connection, table: Table, found: _Round) -> None:
        """Remove what is gone, and let other rows have the unique texts of what has changed."""
        maker = Maker(table, self._target)
        for _, keys in self._batches(snapshot, table):
            there = rows.find_present_keys(snapshot, table, self._scope, keys)
            gone = maker.new_keys(key for key in keys if key not in there)
            changed = maker.new_keys(key for key in keys if key in there)
            if gone and table in _WITH_FILES:
                self._note_gone(table, gone, found)

            def work(
                session: Session, gone: list[Key] = gone, changed: list[Key] = changed
            ) -> None:
                rows.remove(session, table, gone)
                rows.free_texts(session, table, changed)

            if gone or (changed and rows.unique_texts(table)):
                self._in_unit(work)

    def _write(self, snapshot: Connection, table: Table, found: _Round) -> None:
        """Add what is new, and change what has changed."""
        maker = Maker(table, self._target)
        links: list[Row] = []
        done = 0
        for entries, keys in self._batches(snapshot, table):
            lines = rows.find_lines(snapshot, table, self._scope, keys)
            members: Mapping[int, list[int]] = {}
            if table is _CONVERSATION:
                members = rows.find_members(snapshot, [int(key[0]) for key in lines])
            if table in _WITH_FILES:
                self._note_files(maker, lines, found)
            made = []
            for key in sorted(lines):
                made.append(maker.make(key, lines[key], members.get(int(key[0]), ())))
                if link := maker.make_links(key, lines[key]):
                    links.append(link)
            gone: list[Key] = []
            if table in _AT_ONCE:
                gone = maker.new_keys(key for key in keys if key not in lines)

            def work(session: Session, gone: list[Key] = gone, made: list[Row] = made) -> None:
                rows.remove(session, table, gone)
                rows.write(session, table, made)

            if gone or made:
                self._in_unit(work)
            found.ids.extend(entries)
            done += len(entries)
            self._tell(table.name, done)
        for start in range(0, len(links), BATCH):
            some = links[start : start + BATCH]
            self._in_unit(partial(runs.write_references, table=table, rows=some))

    def _follow_log(self, snapshot: Connection) -> int:
        """Bring over new events; return how many there were. Where others have their ids, there is
        no log to read on in, and clients register again.
        """
        count = 0
        if self._follows_log and not self._last_event:
            self._last_event = clients.find_start(
                snapshot, self._realm_id, self._moves._clock.now()
            )
            above = find_head(snapshot, self._realm_id) + ROOM
            self._here.database.run(partial(clients.number_events_after, last_id=above))
        while events := self._next_events(snapshot, EVENTS):
            try:
                self._in_unit(partial(clients.add_events, events=events))
            except TooManyIds:
                self._follows_log = False
                break
            self._last_event = events[-1]["id"]
            count += len(events)
        return count

    def _next_events(self, snapshot: Connection, most: int) -> list[Row]:
        if not self._follows_log:
            return []
        return clients.find_events(snapshot, self._realm_id, after=self._last_event, most=most)

    def _live_queues(self, snapshot: Connection) -> list[Row]:
        if not self._follows_log:
            return []
        with self._here.database.reading() as connection:
            first = clients.find_first(connection, self.run_.realm_id)
        now = self._moves._clock.now()
        return clients.find_queues(snapshot, self._realm_id, first=first, now=now)

    def _in_unit(self, work: Callable[[Session], None]) -> None:
        run = self.run_

        def advance(session: Session) -> None:
            runs.advance(session, run, step=run.step, done=run.done + 1)
            work(session)

        self._here.database.run(advance)
        self.run_ = replace(run, done=run.done + 1)

    # --- files ----------------------------------------------------------------------------------

    def _note_files(self, maker: Maker, lines: Mapping[Key, Lines], found: _Round) -> None:
        """Note the files of rows that were added or changed, and those that they had before."""
        table = maker.table
        column, endings = _WITH_FILES[table]
        handles = set()
        for line in lines.values():
            handle = line[table.name][column]
            if handle is None:
                continue
            before = key_of(self._realm_id, handle)
            if table is _USER:
                if not _is_stored(self._source.files, before + AVATAR):
                    continue
                self._target.avatars.add(handle)
            new = self._target.ids.handle(handle)
            handles.add(new)
            found.files.append((before, self._key(new), endings))
        self._note_gone(table, maker.new_keys(lines), found, but=handles)

    def _note_gone(
        self, table: Table, keys: Sequence[Key], found: _Round, but: Collection[str] = ()
    ) -> None:
        """Note the files that rows here have, apart from some handles."""
        column, endings = _WITH_FILES[table]
        with self._here.database.reading() as connection:
            for handle in rows.find_handles(connection, table.c[column], table, keys):
                if handle not in but:
                    found.gone.append((self._key(handle), endings))

    def _key(self, handle: str) -> str:
        return key_of(self._target.texts.realm_id, handle)

    def _move_files(self, found: _Round) -> None:
        for before, after, endings in found.files:
            if not _is_stored(self._here.files, after + endings[-1]):
                for ending in endings:
                    self._moves.imports.move_file(
                        self._source.files, before + ending, after + ending
                    )
        for key, endings in found.gone:
            for ending in endings:
                self._here.files.delete(key + ending)

    # --- the end --------------------------------------------------------------------------------

    def _check_ids(self, snapshot: Connection) -> None:
        for name, first in self.run_.first_ids.items():
            if name not in self._moves.above:
                continue
            column = TABLES[0].metadata.tables[name].c.id
            last = snapshot.execute(select(func.coalesce(func.max(column), 0))).scalar_one()
            if last >= first:
                raise TooManyIds(table=name)

    def _check_counts(self, snapshot: Connection) -> None:
        """Compare how many rows of each table are here and at the source."""
        there = scope_of(self._target.texts.realm_id)
        with self._here.database.snapshot(may_take_long=True) as here:
            for table in FOLLOWED:
                before = runs.count_rows(snapshot, table, self._scope)
                after = runs.count_rows(here, table, there)
                if after > before or (after < before and table.name not in AGED):
                    raise NotTheSame(table=table.name, before=before, after=after)

    def _last_rows(self, snapshot: Connection, part: Part) -> tuple[Table, list[Row]]:
        """Return the rows of a part that follows at the end, with new ids."""
        table = table_of(part.table)
        lines = rows.find_last_lines(snapshot, part, self._scope)
        if not lines:
            return table, []
        reserve = partial(row_numbers.reserve, table=table, count=len(lines))
        first = self._here.database.run(reserve)
        ids = {line["id"]: first + number for number, line in enumerate(lines)}
        self._target.ids.add_later(table.name, ids)
        maker = Maker(table, self._target)
        return table, [maker.make((line["id"],), {part.name: line}) for line in lines]

    def _tell(self, what: str, done: int) -> None:
        self._moves.listener(what, done, done, done)


def _is_stored(files: FileStore, key: str) -> bool:
    try:
        next(files.read(key, 0, 1), b"")
    except FileMissing:
        return False
    return True
