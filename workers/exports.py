"""The worker that writes archives of organizations' data. It needs no leader: exports are leased.

It reads a snapshot of the database in one read-only transaction, with one batch of rows in memory.
It pauses between batches to limit the load.
"""

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

import structlog
from sqlalchemy import Connection
from sqlalchemy.orm import Session

from adapters import archives
from adapters.archives import ArchiveWriter
from adapters.file_store.store import FileMissing, FileStore
from models.chat.common.hosts import published_url
from models.chat.exports import requests as exports
from models.chat.exports import runs as export_runs
from models.chat.exports.rows import count_rows, describe, find_files, read_lines
from models.chat.exports.runs import LeaseLost, Run, Written
from models.chat.exports.scope import Scope
from models.chat.exports.tables import PARTS
from specd.db import Clock, Database
from workers.periodic import PeriodicStep

REPORT_EVERY_S = 1.0
REST = 0.5  # pause, as a fraction of the duration of a batch
SWEEP_EVERY = timedelta(seconds=10)

Listener = Callable[[int, int], None]
"""Called with the number of finished rows and the total number of rows."""


class Stopped(Exception):
    """The process is stopping."""


class Passed(Protocol):
    """Wraps the iterators over an archive's content: `over` for batches of lines, and `beside` for
    pieces of files.
    """

    def over(self, batches: Iterator[list[bytes]]) -> Iterator[list[bytes]]: ...
    def beside(self, pieces: Iterator[bytes]) -> Iterator[bytes]: ...


def fill_archive(
    archive: ArchiveWriter, snapshot: Connection, files: FileStore, scope: Scope, passed: Passed
) -> dict[str, Any]:
    """Write all rows and files into an archive. Return the manifest's fields about the organization
    and the schema.
    """
    manifest = describe(snapshot, scope)
    for part in PARTS:
        archive.write_lines(
            f"{part.name}.jsonl",
            passed.over(read_lines(snapshot, part, scope)),
            table=part.table.__tablename__,
            columns=part.columns,
        )
    for file in find_files(snapshot, scope):
        try:
            pieces = files.read(file.key)
        except FileMissing:
            archive.note_missing(file.name)  # deleted after the snapshot
            continue
        archive.write_file(file.name, passed.beside(pieces))
    return manifest


class Exports:
    """Exports from one chat database, one per step. Archives are written to `folder`, and uploaded
    files are read from `files`.

    `public_url` contains the scheme and port for URLs. `retention`: how long archives are kept.
    `stopping` ends a running export.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        folder: Path,
        files: FileStore,
        *,
        public_url: str,
        retention: timedelta,
        stopping: threading.Event,
        listener: Listener = lambda done, total: None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._folder = folder
        self._files = files
        self._public_url = public_url
        self._stopping = stopping
        self._listener = listener
        self._retention = retention
        self._tidy = PeriodicStep(clock, SWEEP_EVERY, self._try_tidy_one)
        self._log = structlog.get_logger("exports")

    def try_work_one(self) -> bool:
        """Write one archive. If none is due, delete unused ones at intervals. Return whether there
        was any work.
        """
        return self.try_export_one() or self._tidy.try_one()

    def try_export_one(self) -> bool:
        """Write the archive that has waited longest. Return whether one was due."""
        now, holder = self._clock.now(), secrets.token_hex(16)
        was_due, run = export_runs.QUEUE.try_run(
            self._database,
            lambda session: export_runs.take_due(session, holder, base_of=self._base, now=now),
            now=now,
        ) or (False, None)
        if run is not None:
            self.make(run)
        return was_due

    def export_now(self, realm_id: int, export_type: str) -> tuple[Run, Written | None]:
        """Export for the operator in this process. Return the run, and None instead of the result
        if the export was stopped, canceled or taken over. Raise the error if it failed.
        """
        now, holder = self._clock.now(), secrets.token_hex(16)

        def work(session: Session) -> Run:
            export_id = exports.add_export(session, realm_id, None, export_type, now=now)
            return export_runs.take(session, export_id, holder, now=now)

        run = self._database.run(work)
        return run, self.make(run)

    def make(self, run: Run) -> Written | None:
        """Write the archive of a claimed export and record it. Return None if that failed; for an
        export of the operator, raise the error.
        """
        began = time.monotonic()
        log = self._log.bind(export_id=run.id, attempt=run.attempts)
        try:
            written = self._write(run)
            self._end(run, written)
        except Stopped:
            self._database.run(lambda s: export_runs.release_run(s, run, now=self._clock.now()))
            log.info("export_stopped")
            return None
        except LeaseLost:
            archives.remove_file(self._folder, run.archive)
            log.warning("export_lost")
            return None
        except Exception as fault:
            self._record_failure(run, type(fault).__name__)
            if run.acting_user_id is None:
                raise
            log.warning("export_fault", exc_info=True)
            return None
        took = round(time.monotonic() - began, 1)
        log.info("export_succeeded", rows=written.rows, bytes=written.bytes, seconds=took)
        return written

    def try_expire_one(self) -> bool:
        """Delete the oldest expired archive. Return whether there was one."""
        now = self._clock.now()
        return self._database.run(
            lambda session: export_runs.try_expire_one(
                session, ended_before=now - self._retention, base_of=self._base_of, now=now
            )
        )

    def sweep(self) -> int:
        """Delete files of killed workers, deleted exports and lost leases. Return their number."""
        # Files are listed first, so that the rows include exports that begin or end meanwhile.
        files = archives.list_files(self._folder)
        with self._database.reading() as reader:
            holders = export_runs.find_holders(reader)
            kept = export_runs.find_archives(reader)
        doomed = [
            name
            for name in files
            if name not in kept and name.partition("-")[2].partition(".")[0] not in holders
        ]
        for name in doomed:
            archives.remove_file(self._folder, name)
        return len(doomed)

    def _write(self, run: Run) -> Written:
        scope = Scope(run.realm_id, run.export_type)
        with (
            self._database.snapshot(may_take_long=True) as snapshot,
            ArchiveWriter(self._folder, run.archive) as archive,
        ):
            taken_at = self._clock.now()
            progress = _Progress(self, run, count_rows(snapshot, scope))
            manifest = fill_archive(archive, snapshot, self._files, scope, progress)
            size, digest = archive.finish(
                {
                    **manifest,
                    "export_id": run.id,
                    "requested_at": run.requested_at,
                    "taken_at": taken_at,
                    "rows": progress.done,
                }
            )
        return Written(size, digest, progress.done)

    def report(self, run: Run, done: int, total: int) -> None:
        """Renew the lease and record the progress. Raise `LeaseLost` and `Stopped`."""
        if self._stopping.is_set():
            raise Stopped()
        now = self._clock.now()
        self._database.run(
            lambda session: export_runs.report(session, run, done=done, total=total, now=now)
        )
        self._listener(done, total)

    def rest(self, seconds: float) -> None:
        self._stopping.wait(seconds)

    def _end(self, run: Run, written: Written) -> None:
        now, base = self._clock.now(), self._base(run)
        self._database.run(
            lambda session: export_runs.succeed(session, run, written, base=base, now=now)
        )
        self._listener(written.rows, written.rows)

    def _record_failure(self, run: Run, reason: str) -> None:
        """Schedule another attempt with another archive, or fail an export of the operator."""
        now, base = self._clock.now(), self._base(run)
        end = export_runs.fail if run.acting_user_id is None else export_runs.try_again
        try:
            self._database.run(lambda session: end(session, run, reason, base=base, now=now))
        except LeaseLost:
            return

    def _base(self, run: Run) -> str:
        return self._base_of(run.realm_host)

    def _base_of(self, realm_host: str) -> str:
        return published_url(self._public_url, realm_host)

    def _try_tidy_one(self) -> bool:
        return self.try_expire_one() or self.sweep() > 0


class _Progress:
    """Counts the lines that are written, reports at intervals, and pauses between batches."""

    def __init__(self, worker: Exports, run: Run, total: int) -> None:
        self._worker, self._run, self._total = worker, run, total
        self._reported_at = time.monotonic()
        self.done = 0
        worker.report(run, 0, total)

    def over(self, batches: Iterator[list[bytes]]) -> Iterator[list[bytes]]:
        began = time.monotonic()
        for lines in batches:
            yield lines
            self.done += len(lines)
            began = self._pause(began)

    def beside(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the pieces of a file. They do not count as rows."""
        began = time.monotonic()
        for piece in pieces:
            yield piece
            began = self._pause(began)

    def _pause(self, began: float) -> float:
        """Report if it is due, and pause. Return the time at which the next batch begins."""
        now = time.monotonic()
        if now - self._reported_at >= REPORT_EVERY_S:
            self._worker.report(self._run, self.done, self._total)
            self._reported_at = now
        self._worker.rest((now - began) * REST)
        return time.monotonic()
