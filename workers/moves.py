"""Moves an organization from another installation to this one while it is in use.

First an archive of the source is imported here as a hidden organization. Meanwhile triggers at the
source record changes. Then rounds copy the recorded changes, until a round is short. Then the
source is stopped, the last rounds follow, and the organization is shown.

Each transaction here advances the stored progress, and recorded changes are deleted at the source
only after they have been written here. So a move that was killed can be resumed.
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
"""The maximum number of rows per transaction."""
EVENTS = 200
"""The maximum number of events per transaction, because an event may be long."""
SHORT = 2000
"""The source is stopped after a round with at most this many changes."""
ROUNDS_MAX = 100
ROOM = 1_000_000
"""How many new ids the source may assign in each table during a move."""
FORGOTTEN_AT_ONCE = 5000
TRIES, TRIES_STOPPED, TRY_EVERY_S = 120, 2, 0.5
"""The number of attempts to get a lock, for example of a table to remove its trigger, and the pause
between them. Each attempt lasts as long as the database waits for locks.
"""

_CONVERSATION, _ATTACHMENT, _EMOJI, _USER = map(
    table_of, (Conversation, Attachment, RealmEmoji, User)
)
_AT_ONCE = {table_of(UserMessage)}
"""Tables whose rows can be deleted in the same transaction in which others are added, because no
rows refer to them and new rows do not conflict with them.
"""
_WITH_FILES = {
    _ATTACHMENT: ("handle", (THUMBNAIL, "")),
    _EMOJI: ("handle", (STILL, "")),
    _USER: ("avatar_handle", (AVATAR_MEDIUM, AVATAR)),
}
"""For each table with files, the column of the handle, and the suffixes of the keys in the order in
which the files are stored.
"""


@dataclass(frozen=True, slots=True)
class Place:
    """An installation: its database and its files."""

    database: Database
    files: FileStore


@dataclass(frozen=True, slots=True)
class Moved:
    """A finished move. `stopped_s`: how long the organization could not be used, or None if the
    move was already finished when this run began.
    """

    run: Import
    rounds: int
    changes: int
    stopped_s: float | None


@dataclass(frozen=True, slots=True)
class _End:
    """The last data, written when the organization is shown. `released` is as in `runs.finish`."""

    released: Mapping[str, list[Row]]
    last: list[tuple[Table, list[Row]]]
    queues: list[Row]
    presences: list[Row]
    spent_links: list[Row]


@dataclass(slots=True)
class _Round:
    """The changes that one round found at the source."""

    ids: "array[int]" = field(default_factory=lambda: array("q"))
    files: list[tuple[str, str, tuple[str, ...]]] = field(default_factory=list)
    """The key at the source, the key here, and the suffixes of each file."""
    gone: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    """The keys here, and the suffixes, of deleted files."""


class Moves:
    """Moves organizations to the installation `here`. `folder` is for temporary archives. An
    organization keeps its ids if no row here uses one of them. If `must_keep_ids` is true, it is
    not moved otherwise.
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
        """For each table, a lower limit of new ids."""

    def run(self, host: str, *, switch: Callable[[], None] = lambda: None) -> Moved:
        """Move the organization at a host, or resume its move. `switch` makes the proxy route the
        organization's requests here. It is called when the organization is shown here.

        Raise `NoSuchOrganization`, `NotFollowed`, `NotTheSame`, `TooManyIds`, and the errors of
        `Imports.copy`. Before `IdsInUse` is raised, all data of the move is deleted.
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
        with self._going_on_after(realm_id, RefusedCommand):  # other errors: outcome unknown
            work.show(end)
        switch()
        stopped_s = time.monotonic() - began
        self._clean_up(host, realm_id, work.run_)
        return Moved(work.run_, rounds, total, stopped_s)

    def discard(self, host: str) -> None:
        """Delete the data of an unfinished move here and at the source, and resume the source.
        Raise `NoSuchOrganization`, `MoveIsFinished` and `ImportTaken`.
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
        """Lock the move on this machine. Raise `ImportTaken` if another process runs it."""
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
                with suppress(OSError):  # not empty while the move is unfinished
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
        """Start to record changes. Rows that archives do not contain are recorded as changed. Raise
        `NotNoted` if changes after the first copy were not recorded.
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
        """Return the path of the first copy's archive. Write it if it does not exist."""
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
        """Return for each table an upper limit of the source's ids during the move. New ids are
        larger, so that an old id in a client never identifies another row here.
        """
        with self._source.database.reading() as connection:
            return {
                table.name: ROOM
                + connection.execute(select(func.coalesce(func.max(table.c.id), 0))).scalar_one()
                for table in FOLLOWED
                if "id" in table.c and table.name != "realm"
            }

    def _ids_beside(self, realm_id: int) -> dict[Table, list[int]]:
        """Return the ids of rows that archives do not contain."""
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
        """Resume the source after one of the errors, which mean that nothing was shown here."""
        try:
            yield
        except errors:
            self._source.database.run(partial(stopping.go_on, realm_id=realm_id))
            raise

    def _patiently(self, work: Callable[[Session], None], tries: int = TRIES) -> None:
        """Run a transaction at the source that may have to wait for locks, with several attempts.
        Raise `DatabaseUnavailable`.
        """
        for tried in range(1, tries + 1):
            try:
                self._source.database.run(work)
                return
            except DatabaseUnavailable:
                if tried == tries:
                    raise
            self._rest(TRY_EVERY_S)

    def _release(self, host: str, realm_id: int) -> None:
        """Stop recording changes, and delete the recorded ones and the archive."""
        self._archive_of(host).unlink(missing_ok=True)
        for table in CAPTURED:
            self._patiently(partial(capture.remove, realm_id=realm_id, table=table))
        forget = partial(capture.forget_some, realm_id=realm_id, most=FORGOTTEN_AT_ONCE)
        while self._source.database.run(forget):
            pass

    # --- this installation ----------------------------------------------------------------------

    def _find_finished(self, host: str, realm_id: int) -> Import | None:
        """Return the finished move of the organization, or None. The source must be stopped."""
        with self._here.database.reading() as connection:
            found = runs.find_import(connection, host)
            is_here = find_realm_at(connection, host) is not None
        if found is None or found.finished_at is None or not is_here:
            return None
        return found if self._is_stopped(realm_id) else None

    def _check_free(self, host: str) -> None:
        """Raise `HostInUse` if the host has an organization here, and `UnfinishedImport` if it has
        an unfinished import that is not this move.
        """
        with self._here.database.reading() as connection:
            found = runs.find_import(connection, host)
            if find_realm_at(connection, host) is not None:
                raise HostInUse(host=host)
        if found is not None and found.finished_at is None and not self._archive_of(host).exists():
            raise UnfinishedImport(host=host)

    def _clean_up(self, host: str, realm_id: int, run: Import) -> None:
        """Delete all data of the move except the organization here and the stopped one."""
        self._release(host, realm_id)
        self._source.database.run(partial(stopping.forget_work, realm_id=realm_id))
        self._here.database.run(lambda session: runs.forget_moved(session, run))


class _Passed:
    """Counts the rows that are written into the archive."""

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
    """The rounds of one run, for a hidden organization."""

    def __init__(self, moves: Moves, realm_id: int, run: Import, target: Target) -> None:
        self._moves, self._realm_id, self._target = moves, realm_id, target
        self._scope = scope_of(realm_id)
        self._source, self._here = moves._source, moves._here
        self.run_ = run
        with self._here.database.reading() as connection:
            self._last_event = find_head(connection, run.realm_id)
        """The id of the last copied event, or 0 if there is none."""
        self._follows_log = run.keeps_ids

    def follow(self) -> int:
        """Copy changes. Return the number of recorded changes and events."""
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
        """Return the last data to write, or None if there are changes since the last round. Raise
        `NotTheSame` and `TooManyIds`.
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
        """Write the last data and show the organization. Raise `HostInUse` and `ImportTaken`."""
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
        """Yield batches: the ids of recorded changes, and their distinct keys."""
        after = 0
        while True:
            changes = capture.find_changes(snapshot, self._realm_id, table, after=after, most=BATCH)
            if not changes:
                return
            after = changes[-1].id
            yield [each.id for each in changes], list(dict.fromkeys(each.key for each in changes))

    def _number(self, snapshot: Connection, table: Table) -> None:
        """Assign ids to new rows before other rows refer to them."""
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
        """Return the ids here by the ids at the source, for new rows. Raise `TooManyIds`."""
        above = self._moves.above.get(table.name, 0)
        if self.run_.keeps_ids:
            row_numbers.reserve(session, table, 0, max(olds[-1], above))
            if not runs.are_free(session, table, olds):
                raise TooManyIds(table=table.name)
            return {old: old for old in olds}
        first = row_numbers.reserve(session, table, len(olds), above)
        return {old: first + number for number, old in enumerate(olds)}

    def _remove(self, snapshot: Connection, table: Table, found: _Round) -> None:
        """Delete rows that no longer exist, and free the unique texts of changed rows."""
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
        """Add new rows and update changed ones."""
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
        """Copy new events and return their number. If their ids are in use here, the event log is
        not continued, and clients register again.
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
        """Record the files of added or changed rows, and their previous files."""
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
        """Record the files of rows here for deletion, except those with the handles `but`."""
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
        """Compare the number of rows of each table here and at the source. Raise `NotTheSame`."""
        there = scope_of(self._target.texts.realm_id)
        with self._here.database.snapshot(may_take_long=True) as here:
            for table in FOLLOWED:
                before = runs.count_rows(snapshot, table, self._scope)
                after = runs.count_rows(here, table, there)
                if after > before or (after < before and table.name not in AGED):
                    raise NotTheSame(table=table.name, before=before, after=after)

    def _last_rows(self, snapshot: Connection, part: Part) -> tuple[Table, list[Row]]:
        """Return the rows of a part that is copied at the end, with new ids."""
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
