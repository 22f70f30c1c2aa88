"""The thread that posts: an event loop with all the requests of one worker."""

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson
import structlog

from adapters.webhooks.sender import Received, WebhookSender
from models.clock import Clock
from models.payment import signing
from models.payment.event_list import written_id
from models.payment.webhooks import signing_secrets
from models.payment.webhooks.outcomes import Attempt, Reply
from models.payment.webhooks.queue import Message
from models.payment.webhooks.vault import WebhookVault

NOT_SIGNED = "not_signed"
"""No secret of the endpoint opens: the secret of the service was replaced, and the previous one is
not given.
"""
FINISHED_WITHIN_S = 20.0


@dataclass(frozen=True, slots=True)
class _Failed:
    failure: str


class Posting:
    """Requests under way. `begin`, `take_ended`, `finish` and `close` are for the worker's thread.

    `on_end()` is called in the loop's thread after each request.
    """

    def __init__(
        self,
        sender: WebhookSender,
        vault: WebhookVault,
        clock: Clock,
    ) -> None:
        self._sender, self._vault, self._clock = sender, vault, clock
        self._ended: queue.SimpleQueue[Attempt] = queue.SimpleQueue()
        self._count = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._log = structlog.get_logger("webhooks")

    def begin(self, messages: Sequence[Message], on_end: Callable[[], None]) -> None:
        """Post these; the loop begins with the first."""
        if not messages:
            return
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=self._loop.run_forever, name="webhooks-out", daemon=True
            )
            self._thread.start()
        self._count += len(messages)
        self._loop.call_soon_threadsafe(self._start, messages, on_end)

    @property
    def count(self) -> int:
        """Requests that have begun and were not taken as ended yet."""
        return self._count

    def take_ended(self) -> list[Attempt]:
        """What has ended since the last time."""
        ended: list[Attempt] = []
        while not self._ended.empty():
            ended.append(self._ended.get())
        self._count -= len(ended)
        return ended

    def finish(self) -> list[Attempt]:
        """Wait until all has ended, and take it."""
        ended = self.take_ended()
        while self._count:
            try:
                ended.append(self._ended.get(timeout=FINISHED_WITHIN_S))
            except queue.Empty:
                break
            self._count -= 1
        return ended

    def close(self) -> None:
        """End the thread and its connections."""
        if self._loop is None or self._thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._loop = self._thread = None

    async def _end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._sender.close()

    def _start(self, messages: Sequence[Message], on_end: Callable[[], None]) -> None:
        for message in messages:
            task = asyncio.get_running_loop().create_task(self._post(message, on_end))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _post(self, message: Message, on_end: Callable[[], None]) -> None:
        at = self._clock.now()
        try:
            reply = _reply(at, await self._send(message, at))
        except Exception:
            self._log.exception("webhook_not_posted", endpoint=message.endpoint_id)
            reply = Reply(at, 0, None, "internal_error", "")
        self._ended.put(Attempt(message.endpoint_id, message.event_id, message.type, reply))
        on_end()

    async def _send(self, message: Message, at: datetime) -> Received | _Failed:
        opened = signing_secrets.open_sealed(self._vault, message.endpoint_id, message.sealed)
        if not opened:
            return _Failed(NOT_SIGNED)
        body = signing.write_message(message.type, message.at, orjson.Fragment(message.data))
        headers = signing.sign(written_id(message.event_id), body, opened, now=at)
        return await self._sender.post(message.url, headers, body)


def _reply(at: datetime, came: Received | _Failed) -> Reply:
    if isinstance(came, _Failed):
        return Reply(at, 0, None, came.failure, "")
    return Reply(at, came.duration_ms, came.status, came.failure, came.answer, came.retry_after)
