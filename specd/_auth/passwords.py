"""Password hashes: argon2id, with limits on bytes, memory and concurrency."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable
from contextlib import suppress
from threading import BoundedSemaphore
from typing import ParamSpec, TypeVar

from specd._engine.pools import Pool
from specd._settings import MissingExtra

P = ParamSpec("P")
T = TypeVar("T")
NICENESS = 10
"""A hash runs on several threads, which inherit the niceness of the thread that starts them.
Without it, hashes would compete with the event loop for the processor.
"""
_SALT_BYTES, _HASH_BYTES = 16, 32


class Passwords:
    """Hashes passwords with argon2id, and verifies them.

    By default a hash takes 64 MiB and about 50 ms on four threads (RFC 9106, section 4).
    `memory_kib` is in KiB, `time_cost` is the number of passes over this memory, and `lanes` is the
    number of threads. Each process hashes at most `concurrency` passwords at the same time. A
    password has at most `max_bytes` bytes in UTF-8.

    Hash outside of transactions, because other requests wait for their locks. Use `run` in an
    `async def` handler, or the `prepare` phase of `before_transaction`.
    """

    def __init__(
        self,
        *,
        time_cost: int = 3,
        memory_kib: int = 64 * 1024,
        lanes: int = 4,
        concurrency: int = 2,
        max_bytes: int = 1024,
    ) -> None:
        """Raise `MissingExtra` without the extra `auth`."""
        try:
            from argon2 import PasswordHasher, exceptions
        except ImportError as error:
            raise MissingExtra("Hashing passwords", "auth") from error
        self._hasher = PasswordHasher(
            time_cost, memory_kib, lanes, hash_len=_HASH_BYTES, salt_len=_SALT_BYTES
        )
        self._invalid, self._different = exceptions.InvalidHashError, exceptions.VerificationError
        self._mismatch = exceptions.VerifyMismatchError
        self._decoy = f"$argon2id$v=19$m={memory_kib},t={time_cost},p={lanes}" + "".join(
            f"${base64.b64encode(secrets.token_bytes(size)).decode().rstrip('=')}"
            for size in (_SALT_BYTES, _HASH_BYTES)
        )
        self._max_bytes = max_bytes
        self._slots = BoundedSemaphore(concurrency)
        self._pool = Pool("hashes", concurrency, niceness=NICENESS)

    def hash(self, password: str, *, pointer: str = "/body/password") -> str:
        """Return the hash of a password, with its salt and parameters, for a column of text.

        Raise `InvalidRequest` for a password that is too long. `pointer` is its place in the
        request.
        """
        content = self._encode(password)
        if content is None:
            from specd._engine.errors import invalid

            problem = f"is longer than {self._max_bytes} bytes"
            raise invalid(pointer, problem, "maxLength", limit=self._max_bytes)
        with self._slots:
            return self._hasher.hash(content)

    def verify(self, password: str, password_hash: str | None) -> bool:
        """Return whether the hash is of the password.

        None, an invalid hash and a password that is too long take as long as a wrong password. Call
        it even if the user does not exist, so that the response time does not reveal who has an
        account.
        """
        content = self._encode(password)
        with self._slots:
            if content is not None and password_hash is not None:
                try:
                    return self._hasher.verify(password_hash, content)
                except self._mismatch:
                    return False
                except (self._different, self._invalid, ValueError):
                    pass  # the stored text is not a whole hash
            with suppress(self._different):
                self._hasher.verify(self._decoy, content or b"")
            return False

    def needs_rehash(self, password_hash: str) -> bool:
        """Return whether the parameters of a hash differ from those of new hashes. Replace it after
        the next successful `verify`, when the password is known.
        """
        try:
            return self._hasher.check_needs_rehash(password_hash)
        except self._invalid:
            return True

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `work`, such as `verify`, with the arguments, and return its result. It runs in a
        thread for hashes, so neither the event loop nor the threads of other requests wait for it.
        """
        return await self._pool.run(work, *args, **kwargs)

    def _encode(self, password: str) -> bytes | None:
        """Return the bytes of a password, or None if there are too many."""
        if len(password) > self._max_bytes:
            return None
        content = password.encode("utf-8", "surrogatepass")
        return content if len(content) <= self._max_bytes else None
