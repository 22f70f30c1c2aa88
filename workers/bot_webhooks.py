"""The worker that posts messages to outgoing webhook bots and sends their replies.

The worker's thread uses the database, and a second thread posts (workers/posting.py). So no
transaction is open during a request. Any number of processes share the messages by leases
(models/chat/outgoing_webhooks/queue.py).
"""

import threading
import time
from dataclasses import dataclass
from datetime import datetime

import structlog
from sqlalchemy.orm import Session

from adapters.webhooks.sender import WebhookSender
from models.chat.common.vault import Vault
from models.chat.common.webhook_secrets import open_secret
from models.chat.outgoing_webhooks import answers, queue
from models.chat.outgoing_webhooks.answers import Outcome
from models.chat.outgoing_webhooks.queue import Claim
from models.chat.outgoing_webhooks.requests import Request, find_request
from specd import Outgoing
from specd.db import Clock, Database
from workers import posting
from workers.webhook_lanes import Lanes

LOOK_S = 0.25
"""The maximum time that a due message waits for a step."""
AT_ONCE = 32
"""The maximum number of messages that are claimed in a step."""
UNSIGNED_S = 60.0
"""How long a worker skips a bot after it could not decrypt the bot's secret."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The outcome and the duration of a request."""

    outcome: Outcome
    seconds: float


class Posting(posting.Posting[Request, Ended]):
    """Signs messages and posts them to bots."""

    def __init__(self, sender: WebhookSender, clock: Clock) -> None:
        super().__init__("bots-out")
        self._sender, self._clock = sender, clock
        self._log = structlog.get_logger("bot_webhooks")

    async def close_connections(self) -> None:
        await self._sender.close()

    async def post(self, job: Request) -> Ended:
        try:
            facts: dict[str, str | int] = {
                "specd.bot": job.claim.bot_id,
                "specd.cause": job.claim.cause,
            }
            outgoing = Outgoing("bot", job.claim.traceparent, facts)
            headers = {**job.headers(self._clock.now()), **outgoing.headers}
            received = await self._sender.post(job.claim.payload_url, headers, job.body)
            outgoing.end(received.status, received.failure)
        except Exception:
            self._log.exception("bot_not_called", bot=job.claim.bot_id)
            return Ended(Outcome(job.claim, job.message, failure="internal_error"), 0.0)
        outcome = Outcome(
            job.claim, job.message, received.status, received.failure, received.answer
        )
        return Ended(outcome, received.duration_ms / 1000)


class BotWebhooks:
    """Posts the messages of one chat database. `close` waits for running requests."""

    def __init__(self, database: Database, clock: Clock, vault: Vault, posting: Posting) -> None:
        self._database, self._clock = database, clock
        self._vault, self._posting = vault, posting
        self._lanes = Lanes()
        self._unsigned: dict[int, float] = {}
        """Bot whose secret cannot be decrypted -> time of the next attempt (monotonic clock)."""
        self._woken = threading.Event()
        self._log = structlog.get_logger("bot_webhooks")

    def try_step(self) -> bool:
        """Wait for work for a moment, and do it. Return whether there was any."""
        self._woken.wait(LOOK_S)
        self._woken.clear()
        return self.try_at_once()

    def try_at_once(self) -> bool:
        """Record ended requests and start due ones. Return whether there were any."""
        ended = self._posting.take_ended()
        for each in ended:
            outcome, claim = each.outcome, each.outcome.claim
            self._lanes.end(
                str(claim.bot_id), claim.id, is_taken=outcome.is_success, seconds=each.seconds
            )
            self._settle(outcome)
        return self._begin() or bool(ended)

    def close(self) -> None:
        """Wait for the running requests and record their outcomes."""
        for ended in self._posting.finish():
            self._settle(ended.outcome)
        self._posting.close()

    def _begin(self) -> bool:
        now = self._clock.now()
        claims = self._claim(now)
        requests: list[Request] = []
        for claim in claims:
            secret = open_secret(self._vault, claim.bot_id, claim.sealed_secret)
            if secret is None:
                self._release_unsigned(claim, now)
                continue
            with self._database.reading() as reader:
                request = find_request(reader, secret, claim)
            if request is None:
                self._settle(Outcome(claim, None))
                continue
            requests.append(request)
            self._lanes.begin(str(claim.bot_id), claim.id)
        self._posting.begin(requests, self._woken.set)
        return bool(claims)

    def _release_unsigned(self, claim: Claim, now: datetime) -> None:
        """Release a bot's message whose secret this process cannot decrypt, for other processes."""
        self._log.warning("bot_not_signed", alert=True, bot=claim.bot_id)
        self._unsigned[claim.bot_id] = time.monotonic() + UNSIGNED_S
        self._database.run(lambda session: queue.QUEUE.release(session, [claim.id], now=now))

    def _claim(self, now: datetime) -> list[Claim]:
        """Claim as many due messages as the capacity allows."""
        moment = time.monotonic()
        self._unsigned = {bot_id: at for bot_id, at in self._unsigned.items() if at > moment}
        excluded = {*self._unsigned, *(int(bot_id) for bot_id in self._lanes.full())}

        def claim_some(session: Session) -> list[Claim]:
            capacity = self._lanes.capacity()
            claims, released = [], []
            for claim in queue.claim_due(session, excluded=excluded, limit=AT_ONCE, now=now):
                if capacity.left(str(claim.bot_id), is_failing=claim.attempts > 1) > 0:
                    capacity.use(str(claim.bot_id), 1, is_failing=claim.attempts > 1)
                    claims.append(claim)
                else:
                    released.append(claim.id)
            if released:
                queue.QUEUE.release(session, released, now=now)
            return claims

        return queue.QUEUE.try_run(self._database, claim_some, now=now) or []

    def _settle(self, outcome: Outcome) -> None:
        """Handle an outcome in a separate transaction, so that bots do not delay each other."""
        now = self._clock.now()
        try:
            with self._database.reading() as reader:
                prepared = answers.prepare(reader, outcome)
            self._database.run(lambda session: answers.settle(session, outcome, prepared, now=now))
        except Exception:
            # Another attempt follows when the claim expires.
            self._log.warning("bot_answer_not_handled", bot=outcome.claim.bot_id, exc_info=True)
