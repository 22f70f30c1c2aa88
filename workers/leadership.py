"""Elects one of several processes for a job by a lease that the leader renews."""

import os
import secrets
import socket
from contextlib import suppress
from datetime import datetime, timedelta

from models.payment import leases
from specd.db import Clock, Database
from specd.errors import DatabaseUnavailable

TTL_S = 12.0
"""How long after its last renewal a killed leader is replaced."""


class Leadership:
    """A process's lease of a job. It is not thread-safe: use it in one worker."""

    def __init__(
        self, database: Database, clock: Clock, *, name: str, ttl_s: float = TTL_S
    ) -> None:
        self.holder = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._database = database
        self._clock = clock
        self._name = name
        self._ttl_s = ttl_s
        self._renew_at: datetime | None = None

    def try_lead(self) -> bool:
        """Acquire or renew the lease. Return False if another process has it.

        It is renewed when a third of its time is over, so that frequent calls rarely write.
        """
        now = self._clock.now()
        if self._renew_at is not None and now < self._renew_at:
            return True
        is_leader = self._database.run(
            lambda session: leases.try_acquire(
                session, name=self._name, holder=self.holder, now=now, ttl_s=self._ttl_s
            )
        )
        self._renew_at = now + timedelta(seconds=self._ttl_s / 3) if is_leader else None
        return is_leader

    def release(self) -> None:
        """Release the lease so that another process can lead immediately. If the database is
        unavailable, the lease expires.
        """
        if self._renew_at is not None:
            self._renew_at = None
            with suppress(DatabaseUnavailable):
                self._database.run(
                    lambda session: leases.release_lease(
                        session, name=self._name, holder=self.holder
                    )
                )
