"""The worker that posts events to webhook endpoints. Several share the endpoints by claims.

Two threads work together. The worker's own thread talks to the database, in rounds: one transaction
writes down what came of all requests that ended since the last one, keeps claims, and chooses what
leaves next (models/payment/webhooks/rounds.py). The other thread posts. So no transaction is open
while a receiver is waited for, and one commit serves many requests.
"""

import threading
import time
import uuid
from collections import Counter
from datetime import datetime, timedelta

import structlog

from models.clock import Clock
from models.database import Database
from models.notifier import Logs
from models.payment.webhooks import queue, rounds
from models.payment.webhooks.outcomes import Attempt
from models.payment.webhooks.rounds import Plan, Round
from workers.webhook_lanes import Lanes
from workers.webhook_posting import Posting

CLAIM_S = 10.0
"""How long an endpoint is left to a worker that says nothing any more."""
LOOK_S = 0.5
"""The longest that a message which is due again is waited with."""
SOON_S = 5.0
"""An endpoint whose next message is due so soon is not given back."""
ENDPOINTS_AT_ONCE = 64
"""That are claimed in one round: others may want some."""
UNSIGNED_S = 60.0
"""How long a worker that cannot sign for an endpoint leaves it to others."""
TRIES_TO_NOTE = 50
TOLD_EVERY_S = 60.0
"""The log tells that often what has become of attempts, where there were any."""


class WebhookWorker:
    """Steps over one payment database: each a round. `close` ends what is under way."""

    def __init__(
        self, database: Database, clock: Clock, posting: Posting, *, claim_s: float = CLAIM_S
    ) -> None:
        self._database, self._clock, self._posting = database, clock, posting
        self._claim_s = claim_s
        self._holder = uuid.uuid4().hex
        self._lanes = Lanes()
        self._woken = threading.Event()
        self._held: dict[str, float] = {}
        """Endpoint -> the moment at which its claim must be renewed, on the monotonic clock."""
        self._due: dict[str, datetime] = {}
        """Endpoint that is held -> when its next message is due."""
        self._unsigned: dict[str, float] = {}
        """Endpoint that this process cannot sign for -> when it looks again, on that clock."""
        self._ended: list[Attempt] = []
        """What is still to be written down."""
        self._tries: Counter[tuple[int, str]] = Counter()
        self._counts: Counter[str] = Counter()
        """Outcome -> attempts that the log has not told of."""
        self._told_at = time.monotonic()
        self._log = structlog.get_logger("webhooks")

    def try_round(self) -> bool:
        """Wait until there may be something to do, and do it; False when there was nothing."""
        self._database.notifier.follow(self._hear)
        self._woken.wait(self._patience())
        self._woken.clear()
        if time.monotonic() - self._told_at >= TOLD_EVERY_S:
            self._tell()
        return self.try_at_once()

    def try_at_once(self) -> bool:
        """One round; False when there was nothing to do."""
        now, moment = self._clock.now(), time.monotonic()
        self._ended += self._posting.take_ended()
        self._unsigned = {one: at for one, at in self._unsigned.items() if at > moment}
        wanted = {endpoint_id for endpoint_id, at in self._due.items() if at <= now}
        if self._lanes.room().left("", is_failing=False):
            with self._database.reading() as reader:
                wanted.update(
                    queue.find_work(
                        reader,
                        holder=self._holder,
                        spared={*self._lanes.spared(), *self._unsigned},
                        limit=ENDPOINTS_AT_ONCE,
                        now=now,
                    )
                )
        kept = {one for one, at in self._held.items() if at <= moment and one not in wanted}
        if not (wanted or kept or self._ended):
            return False
        plan = Plan(
            holder=self._holder,
            wanted=frozenset(wanted),
            kept=frozenset(kept),
            ended=tuple(self._ended),
            until=now + timedelta(seconds=self._claim_s),
            soon=now + timedelta(seconds=SOON_S),
        )
        done = self._database.run(
            lambda session: rounds.play(session, plan, self._lanes.room(), now=now)
        )
        self._give_back_unsigned(done, moment)
        self._settle(plan, done, moment)
        return True

    def close(self) -> None:
        """Let what is under way end, write down what came of it, give all claims back."""
        ended = (*self._ended, *self._posting.finish())
        now = self._clock.now()
        if ended:
            self._counts += self._database.run(
                lambda session: rounds.note(session, self._holder, ended, now=now)
            )
        if self._held:
            self._database.run(
                lambda session: queue.release(session, self._held, holder=self._holder)
            )
        self._posting.close()
        self._tell()

    def _give_back_unsigned(self, done: Round, moment: float) -> None:
        """Leave the endpoints whose secrets do not open here to processes where they do. What is
        due to them stays due: nothing was tried.
        """
        by_endpoint = {message.endpoint_id: message for message in done.messages}
        unsigned = {
            name for name, message in by_endpoint.items() if not self._posting.can_sign(message)
        }
        if not unsigned:
            return
        self._database.run(lambda session: queue.release(session, unsigned, holder=self._holder))
        done.messages = [one for one in done.messages if one.endpoint_id not in unsigned]
        for endpoint_id in unsigned:
            self._log.warning("webhook_not_signed", alert=True, endpoint=endpoint_id)
            done.held.pop(endpoint_id, None)
            self._held.pop(endpoint_id, None)
            self._due.pop(endpoint_id, None)
            self._unsigned[endpoint_id] = moment + UNSIGNED_S

    def _tell(self) -> None:
        """Have the log say what became of the attempts since it did so last."""
        if self._counts:
            self._log.info("webhooks_posted", **self._counts)
        self._counts, self._told_at = Counter(), time.monotonic()

    def _settle(self, plan: Plan, done: Round, moment: float) -> None:
        """Remember what a round has come to, and have its messages leave."""
        unnoted = {(attempt.event_id, attempt.endpoint_id) for attempt in done.unnoted}
        self._tries = Counter({key: self._tries[key] + 1 for key in unnoted})
        self._ended = [one for one in done.unnoted if self._tries[one.key] < TRIES_TO_NOTE]
        for attempt in plan.ended:
            if attempt not in self._ended:
                reply = attempt.reply
                self._lanes.end(
                    attempt.endpoint_id,
                    attempt.event_id,
                    is_taken=reply.is_taken,
                    seconds=reply.duration_ms / 1000,
                )
        self._lanes.note_failing(done.failing)
        renewed_at = moment + self._claim_s / 3
        looked_at = {*plan.wanted, *(attempt.endpoint_id for attempt in plan.ended)}
        for endpoint_id in looked_at | (plan.kept - done.held.keys()):
            self._held.pop(endpoint_id, None)
            self._due.pop(endpoint_id, None)
        for endpoint_id, due_at in done.held.items():
            self._held[endpoint_id] = renewed_at
            if due_at is not None:
                self._due[endpoint_id] = due_at
        for message in done.messages:
            self._lanes.begin(message.endpoint_id, message.event_id)
        self._posting.begin(done.messages, self._woken.set)
        self._counts += done.counts

    def _hear(self, logs: Logs) -> None:
        self._woken.set()

    def _patience(self) -> float:
        """Seconds to wait for news: none while something is to be done at once."""
        if self._ended:
            return 0.05
        now, moment = self._clock.now(), time.monotonic()
        waits = [(at - now).total_seconds() for at in self._due.values()]
        waits += [at - moment for at in self._held.values()]
        return max(0.0, min([LOOK_S, *waits]))
