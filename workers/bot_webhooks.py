"""The worker that posts messages to bots which live at an address, and sends what they answer.

Two threads work together: the worker's own thread talks to the database, the other posts
(workers/posting.py). So no transaction is open while a bot is waited for. Any number of processes
share the messages by leases (models/chat/outgoing_webhooks/queue.py).
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
from models.clock import Clock
from models.database import Database
from workers import posting
from workers.webhook_lanes import Lanes

LOOK_S = 0.25
"""The longest that a message which is due is waited with."""
AT_ONCE = 32
"""Messages that are taken in one step."""
UNSIGNED_S = 60.0
"""How long a worker that cannot sign for a bot leaves it to others."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What a request came to, after so many seconds."""

    outcome: Outcome
    seconds: float


class Posting(posting.Posting[Request, Ended]):
    """Messages on their way to bots, signed."""

    def __init__(self, sender: WebhookSender, clock: Clock) -> None:
        super().__init__("bots-out")
        self._sender, self._clock = sender, clock
        self._log = structlog.get_logger("bot_webhooks")

    async def close_connections(self) -> None:
        await self._sender.close()

    async def post(self, job: Request) -> Ended:
        try:
            headers = job.headers(self._clock.now())
            came = await self._sender.post(job.taken.url, headers, job.body)
        except Exception:
            self._log.exception("bot_not_called", bot=job.taken.bot_id)
            return Ended(Outcome(job.taken, job.message, failure="internal_error"), 0.0)
        outcome = Outcome(job.taken, job.message, came.status, came.failure, came.answer)
        return Ended(outcome, came.duration_ms / 1000)


class BotWebhooks:
    """Steps over one chat database. `close` ends what is under way."""

    def __init__(self, database: Database, clock: Clock, vault: Vault, posting: Posting) -> None:
        self._database, self._clock = database, clock
        self._vault, self._posting = vault, posting
        self._lanes = Lanes()
        self._unsigned: dict[int, float] = {}
        """Bot that this process cannot sign for -> when it looks again, on the monotonic clock."""
        self._woken = threading.Event()
        self._log = structlog.get_logger("bot_webhooks")

    def try_step(self) -> bool:
        """Wait a moment for something to do, and do it; False when there was nothing."""
        self._woken.wait(LOOK_S)
        self._woken.clear()
        return self.try_at_once()

    def try_at_once(self) -> bool:
        """Write down what has ended, and begin what is due; False when there was nothing."""
        ended = self._posting.take_ended()
        for one in ended:
            taken = one.outcome.taken
            self._lanes.end(
                str(taken.bot_id), taken.id, is_taken=one.outcome.is_success, seconds=one.seconds
            )
            self._settle(one.outcome)
        return self._begin() or bool(ended)

    def close(self) -> None:
        """Let what is under way end, and write down what came of it."""
        for one in self._posting.finish():
            self._settle(one.outcome)
        self._posting.close()

    def _begin(self) -> bool:
        now = self._clock.now()
        taken = self._take(now)
        requests: list[Request] = []
        for one in taken:
            secret = open_secret(self._vault, one.bot_id, one.sealed_secret)
            if secret is None:
                self._give_back_unsigned(one, now)
                continue
            with self._database.reading() as reader:
                request = find_request(reader, secret, one)
            if request is None:
                self._settle(Outcome(one, None))
                continue
            requests.append(request)
            self._lanes.begin(str(one.bot_id), one.id)
        self._posting.begin(requests, self._woken.set)
        return bool(taken)

    def _give_back_unsigned(self, taken: Claim, now: datetime) -> None:
        """Leave the bot whose secret does not open here to processes where it does."""
        self._log.warning("bot_not_signed", alert=True, bot=taken.bot_id)
        self._unsigned[taken.bot_id] = time.monotonic() + UNSIGNED_S
        self._database.run(lambda session: queue.QUEUE.give_back(session, [taken.id], now=now))

    def _take(self, now: datetime) -> list[Claim]:
        """As many messages as there is room for; the others are given back in the same unit."""
        moment = time.monotonic()
        self._unsigned = {one: at for one, at in self._unsigned.items() if at > moment}
        spared = {*self._unsigned, *(int(bot_id) for bot_id in self._lanes.full())}

        def take(session: Session) -> list[Claim]:
            room = self._lanes.room()
            kept, left = [], []
            for one in queue.take_some(session, spared=spared, limit=AT_ONCE, now=now):
                if room.left(str(one.bot_id), is_failing=one.attempts > 1) > 0:
                    room.use(str(one.bot_id), 1, is_failing=one.attempts > 1)
                    kept.append(one)
                else:
                    left.append(one.id)
            if left:
                queue.QUEUE.give_back(session, left, now=now)
            return kept

        return queue.QUEUE.try_run(self._database, take, now=now) or []

    def _settle(self, outcome: Outcome) -> None:
        """One unit for each: what one bot says holds up no other."""
        now = self._clock.now()
        try:
            with self._database.reading() as reader:
                said = answers.prepare(reader, outcome)
            self._database.run(lambda session: answers.settle(session, outcome, said, now=now))
        except Exception:
            # The lease ends, and somebody tries again.
            self._log.warning("bot_not_heard", bot=outcome.taken.bot_id, exc_info=True)
