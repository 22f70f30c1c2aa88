"""Counts of requests in Redis or Valkey, by the generic cell rate algorithm in batches.

The store's clock is used, because the clocks of the machines differ. A key is a keyed hash of a
client and expires when its arrival time has passed.
"""

import threading
import time
from hashlib import blake2b

import redis
import structlog
from redis.backoff import NoBackoff
from redis.retry import Retry

TIMEOUT_S = 0.05
"""The longest wait for a response of the store. A request waits for as long."""
PAUSE_S = 1.0
"""How long a process counts by itself after a failure before it queries the store again."""
_DIGEST_BYTES = 16
_US = 1_000_000
_log = structlog.get_logger("limits")

# KEYS: the client. ARGV: the step and the horizon in microseconds, and the maximum number of
# requests. A time more than two horizons ahead was written before the store's clock was set back.
_TAKE = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local step, horizon, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local arrival = tonumber(redis.call('GET', KEYS[1]) or now)
if arrival < now or arrival > now + 2 * horizon then arrival = now end
local count = math.max(0, math.min(most, math.floor((now + horizon - arrival) / step)))
if count > 0 then
  arrival = arrival + count * step
  local lasts = math.ceil((arrival - now) / 1000)
  redis.call('SET', KEYS[1], string.format('%.0f', arrival), 'PX', lasts)
end
return {count, math.floor(arrival - now)}
"""


class RedisLimitStore:
    """The counts of one service, shared by all processes of all machines. Thread-safe."""

    def __init__(
        self, url: str, *, service: str, secret: bytes, timeout_s: float = TIMEOUT_S
    ) -> None:
        self._client = redis.Redis.from_url(
            url,
            protocol=2,  # and no driver_info: connecting costs no further round trips
            driver_info=None,
            socket_connect_timeout=timeout_s,
            socket_timeout=timeout_s,
            retry=Retry(NoBackoff(), 0),
        )
        self._script = self._client.register_script(_TAKE)
        self._prefix = f"specd:{service}:limit:".encode()
        self._key = blake2b(secret, digest_size=32, person=b"specd limits").digest()
        self._guard = threading.Lock()
        self._failed_at: float | None = None
        self._asks_at = 0.0

    def take(
        self, client: str, *, step_s: float, horizon_s: float, most: int
    ) -> tuple[int, float] | None:
        """Take up to `most` requests of a client, which this machine can then allow. Return their
        number and the seconds that the arrival time is ahead of the store's clock, or None while
        the store is unavailable.
        """
        if not self._may_ask():
            return None
        digest = blake2b(client.encode("utf-8"), digest_size=_DIGEST_BYTES, key=self._key).digest()
        try:
            count, ahead_us = self._script(
                keys=[self._prefix + digest],
                args=[repr(step_s * _US), repr(horizon_s * _US), most],
            )
        except (redis.RedisError, OSError) as error:
            self._note_failure(error)
            return None
        self._note_success()
        return count, ahead_us / _US

    def find_version(self) -> tuple[str | None, str]:
        """Return the store's name and version and an empty text, or None and the reason of a
        failure.
        """
        try:
            self._script(keys=[self._prefix + b"none"], args=[1, 1, 0])
            about = self._client.info("server")
        except (redis.RedisError, OSError) as error:
            return None, _cause(error)
        if "valkey_version" in about:
            return f"Valkey {about['valkey_version']}", ""
        return f"Redis {about['redis_version']}", ""

    def close(self) -> None:
        self._client.close()

    def _may_ask(self) -> bool:
        """Return whether to query the store now. After a failure, only one request per
        second does.
        """
        if self._failed_at is None:
            return True
        with self._guard:
            now = time.monotonic()
            if now < self._asks_at:
                return False
            self._asks_at = now + PAUSE_S
            return True

    def _note_failure(self, error: Exception) -> None:
        with self._guard:
            now = time.monotonic()
            self._asks_at = now + PAUSE_S
            if self._failed_at is not None:
                return
            self._failed_at = now
        _log.warning("limit_store_unavailable", kind=type(error).__name__, cause=_cause(error))

    def _note_success(self) -> None:
        if self._failed_at is None:
            return
        with self._guard:
            if self._failed_at is None:
                return
            seconds = time.monotonic() - self._failed_at
            self._failed_at = None
        _log.warning("limit_store_available", after_s=round(seconds, 1))


def _cause(error: Exception) -> str:
    """Return the first line of an error, which names an address and never a password."""
    return (str(error).splitlines() or [type(error).__name__])[0]
