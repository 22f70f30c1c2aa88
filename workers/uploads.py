"""The worker that deletes unused files. It needs no leader: each step can safely be repeated.

First a row is marked, then its file is deleted, and then the row. If a worker is killed in between,
another one continues.
"""

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import islice
from pathlib import Path

import structlog

from adapters.file_store.store import FileStore
from models.chat.uploads import removal
from models.chat.uploads.names import THUMBNAIL, handle_of
from specd.db import Clock, Database
from workers.periodic import PeriodicStep

EXPIRE_EVERY = timedelta(seconds=30)
SWEEP_EVERY = timedelta(hours=1)
ORPHANED_AFTER = timedelta(hours=1)
"""The age at which a file without a row is deleted, because its request must have failed."""
BATCH = 500


class Uploads:
    """Deletes unused files of one chat database. `arriving`: the folder of unfinished uploads.
    `retention`: how long a file is kept that no message uses.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        store: FileStore,
        arriving: Path,
        *,
        retention: timedelta,
        rest: Callable[[float], object],
    ) -> None:
        self._database = database
        self._clock = clock
        self._store = store
        self._arriving = arriving
        self._retention = retention
        self._rest = rest
        self._expiry = PeriodicStep(clock, EXPIRE_EVERY, self.try_expire_one)
        self._sweep = PeriodicStep(clock, SWEEP_EVERY, self._sweep_once)
        self._log = structlog.get_logger("uploads")

    def try_work_one(self) -> bool:
        """Delete one marked file, or at intervals find more unused files. Return whether there were
        any.
        """
        return self.try_remove_one() or self._expiry.try_one() or self._sweep.try_one()

    def try_remove_one(self) -> bool:
        """Delete one marked file and its row. Return whether there was one."""
        with self._database.reading() as reader:
            deleted = removal.find_deleted(reader)
        if deleted is None:
            return False
        self._store.delete(deleted.key + THUMBNAIL)
        self._store.delete(deleted.key)
        self._database.run(lambda session: removal.forget_deleted(session, deleted))
        return True

    def try_expire_one(self) -> bool:
        """Mark one file that no message has used for the retention time. Return whether there was
        one.
        """
        now = self._clock.now()
        return self._database.run(
            lambda session: removal.try_expire_one(
                session, detached_before=now - self._retention, now=now
            )
        )

    def sweep(self) -> int:
        """Delete old files without a row and old unfinished uploads. Return their number."""
        before = self._clock.now() - ORPHANED_AFTER
        swept = 0
        for keys in _batches(self._store.find_older(before)):
            began = time.monotonic()
            handles = {key: handle_of(key.rpartition("/")[2]) for key in keys}
            with self._database.reading() as reader:
                known = removal.find_used_handles(reader, set(handles.values()))
            for key in keys:
                if handles[key] not in known:
                    self._store.delete(key)
                    swept += 1
            self._rest(time.monotonic() - began)
        if self._arriving.is_dir():
            for path in self._arriving.iterdir():
                if path.stat().st_mtime < before.timestamp():
                    path.unlink(missing_ok=True)
                    swept += 1
        return swept

    def _sweep_once(self) -> bool:
        swept = self.sweep()
        if swept:
            self._log.info("files_swept", files=swept)
        return False


def _batches(keys: Iterator[str]) -> Iterator[list[str]]:
    while batch := list(islice(keys, BATCH)):
        yield batch
