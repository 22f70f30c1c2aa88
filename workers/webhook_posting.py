"""Posts the payment service's events to webhook endpoints."""

import asyncio
from collections.abc import Callable
from datetime import datetime

import orjson
import structlog

from adapters.webhooks.sender import Received, WebhookSender
from models.payment.event_list import written_id
from models.payment.test_helpers.faults import SIMULATED, Fault
from models.payment.webhooks import signing_secrets
from models.payment.webhooks.outcomes import Attempt, Reply
from models.payment.webhooks.queue import Message
from models.payment.webhooks.vault import WebhookVault
from models.webhooks import signing
from specd import Outgoing
from specd.db import Clock
from workers import posting

FindFault = Callable[[Message], Fault | None]


class Posting(posting.Posting[Message, Attempt]):
    """Signs messages and posts them to endpoints."""

    def __init__(
        self,
        sender: WebhookSender,
        vault: WebhookVault,
        clock: Clock,
        *,
        find_fault: FindFault | None = None,
    ) -> None:
        """`find_fault` is called in a thread before each message. If it returns a fault, the
        message is not posted.
        """
        super().__init__("webhooks-out")
        self._find_fault = find_fault
        self._sender, self._vault, self._clock = sender, vault, clock
        self._log = structlog.get_logger("webhooks")

    async def close_connections(self) -> None:
        await self._sender.close()

    def can_sign(self, message: Message) -> bool:
        """Return whether this process can decrypt a secret of the endpoint. It is thread-safe."""
        return bool(signing_secrets.open_sealed(self._vault, message.endpoint_id, message.sealed))

    async def post(self, job: Message) -> Attempt:
        at = self._clock.now()
        try:
            if await self._is_faulty(job):
                reply = Reply(at, 0, None, SIMULATED, "")
                return Attempt(job.endpoint_id, job.event_id, job.type, reply)
            received = await self._send(job, at)
            reply = Reply(
                at,
                received.duration_ms,
                received.status,
                received.failure,
                received.answer,
                received.retry_after,
            )
        except Exception:
            self._log.exception("webhook_not_posted", endpoint=job.endpoint_id)
            reply = Reply(at, 0, None, "internal_error", "")
        return Attempt(job.endpoint_id, job.event_id, job.type, reply)

    async def _is_faulty(self, job: Message) -> bool:
        if self._find_fault is None:
            return False
        fault = await asyncio.to_thread(self._find_fault, job)
        return fault is not None

    async def _send(self, message: Message, at: datetime) -> Received:
        opened = signing_secrets.open_sealed(self._vault, message.endpoint_id, message.sealed)
        id_, data = written_id(message.event_id), orjson.Fragment(message.data)
        body = signing.write_message(id_, message.type, message.at, data)
        headers = signing.sign(id_, body, opened, now=at)
        facts = {"specd.endpoint": message.endpoint_id, "specd.event": message.type}
        outgoing = Outgoing("webhook", message.traceparent, facts)
        received = await self._sender.post(message.url, {**headers, **outgoing.headers}, body)
        outgoing.end(received.status, received.failure)
        return received
