"""The worker that posts events to webhook endpoints. Several workers share the endpoints by claims.

The worker's thread uses the database, in rounds: one transaction records all requests that have
ended since the last round, renews claims, and selects the next messages
(models/payment/webhooks/rounds.py). A second thread posts. So no transaction is open during a
request, and one commit covers many requests.
"""

import threading
import time
import uuid
from collections import Counter
from datetime import datetime, timedelta

import structlog

from models.log_tail import Logs
from models.payment.webhooks import queue, rounds
from models.payment.webhooks.outcomes import Attempt
from models.payment.webhooks.rounds import Plan, Round
from specd.db import Clock, Database
from workers.webhook_lanes import Lanes
from workers.webhook_posting import Posting

CLAIM_S = 10.0
"""How long a claim lasts if its worker does not renew it."""
LOOK_S = 0.5
"""The maximum time that a due retry waits for a round."""
SOON_S = 5.0
"""An endpoint is not released if its next message is due within this time."""
ENDPOINTS_AT_ONCE = 64
"""The maximum number of endpoints claimed in a round, so that other workers can claim some."""
UNSIGNED_S = 60.0
"""How long a worker skips an endpoint after it could not decrypt the endpoint's secret."""
TRIES_TO_RECORD = 50
LOGGED_EVERY_S = 60.0
"""How often the outcomes of attempts are logged if there are any."""


class WebhookWorker:
    """Posts the events of one payment database. `close` waits for running requests."""

    def __init__(
        self, database: Database, clock: Clock, posting: Posting, *, claim_s: float = CLAIM_S
    ) -> None:
        self._database, self._clock, self._posting = database, clock, posting
        self._claim_s = claim_s
        self._holder = uuid.uuid4().hex
        self._lanes = Lanes()
        self._woken = threading.Event()
        self._claims: dict[str, float] = {}
        """Claimed endpoint -> time at which to renew the claim (monotonic clock)."""
        self._due: dict[str, datetime] = {}
        """Claimed endpoint -> time at which its next message is due."""
        self._unsigned: dict[str, float] = {}
        """Endpoint whose secret cannot be decrypted -> time of the next attempt (monotonic clock).
        """
        self._ended: list[Attempt] = []
        """Ended attempts that are not recorded yet."""
        self._tries: Counter[tuple[int, str]] = Counter()
        self._counts: Counter[str] = Counter()
        """The number of attempts by outcome that are not logged yet."""
        self._logged_at = time.monotonic()
        self._log = structlog.get_logger("webhooks")

    def try_round(self) -> bool:
        """Wait until there may be work, and do a round. Return whether there was any work."""
        self._database.notifier.follow(self._wake)
        self._woken.wait(self._wait_s())
        self._woken.clear()
        if time.monotonic() - self._logged_at >= LOGGED_EVERY_S:
            self._log_counts()
        return self.try_at_once()

    def try_at_once(self) -> bool:
        """Do one round. Return whether there was any work."""
        now, moment = self._clock.now(), time.monotonic()
        self._ended += self._posting.take_ended()
        self._unsigned = {id_: at for id_, at in self._unsigned.items() if at > moment}
        claimed = {endpoint_id for endpoint_id, at in self._due.items() if at <= now}
        if self._lanes.capacity().left("", is_failing=False):
            with self._database.reading() as reader:
                claimed.update(
                    queue.find_work(
                        reader,
                        holder=self._holder,
                        excluded={*self._lanes.full_slow(), *self._unsigned},
                        idle=self._claims.keys() - set(self._lanes.busy()),
                        limit=ENDPOINTS_AT_ONCE,
                        now=now,
                    )
                )
        due = {id_ for id_, at in self._claims.items() if at <= moment}
        renewed = due - claimed
        if not (claimed or renewed or self._ended):
            return False
        plan = Plan(
            holder=self._holder,
            claimed=frozenset(claimed),
            renewed=frozenset(renewed),
            ended=tuple(self._ended),
            until=now + timedelta(seconds=self._claim_s),
            soon=now + timedelta(seconds=SOON_S),
        )
        result = self._database.run(
            lambda session: rounds.run(session, plan, self._lanes.capacity(), now=now)
        )
        self._release_unsigned(result, moment)
        self._finish_round(plan, result, moment)
        return True

    def close(self) -> None:
        """Wait for running requests, record their outcomes, and release all claims."""
        ended = (*self._ended, *self._posting.finish())
        now = self._clock.now()
        if ended:
            self._counts += self._database.run(
                lambda session: rounds.record(session, self._holder, ended, now=now)
            )
        if self._claims:
            self._database.run(
                lambda session: queue.release(session, self._claims, holder=self._holder)
            )
        self._posting.close()
        self._log_counts()

    def _release_unsigned(self, result: Round, moment: float) -> None:
        """Release the endpoints whose secrets this process cannot decrypt, for other processes.
        Their messages remain due, because there was no attempt.
        """
        by_endpoint = {message.endpoint_id: message for message in result.messages}
        unsigned = {
            id_ for id_, message in by_endpoint.items() if not self._posting.can_sign(message)
        }
        if not unsigned:
            return
        self._database.run(lambda session: queue.release(session, unsigned, holder=self._holder))
        result.messages = [each for each in result.messages if each.endpoint_id not in unsigned]
        for endpoint_id in unsigned:
            self._log.warning("webhook_not_signed", alert=True, endpoint=endpoint_id)
            result.claims.pop(endpoint_id, None)
            self._claims.pop(endpoint_id, None)
            self._due.pop(endpoint_id, None)
            self._unsigned[endpoint_id] = moment + UNSIGNED_S

    def _log_counts(self) -> None:
        """Log the outcomes of the attempts since the last log line."""
        if self._counts:
            self._log.info("webhooks_posted", **self._counts)
        self._counts, self._logged_at = Counter(), time.monotonic()

    def _finish_round(self, plan: Plan, result: Round, moment: float) -> None:
        """Apply the result of a round, and post its messages."""
        unrecorded = {attempt.key for attempt in result.unrecorded}
        self._tries = Counter({key: self._tries[key] + 1 for key in unrecorded})
        self._ended = [
            each for each in result.unrecorded if self._tries[each.key] < TRIES_TO_RECORD
        ]
        for attempt in plan.ended:
            if attempt not in self._ended:
                reply = attempt.reply
                self._lanes.end(
                    attempt.endpoint_id,
                    attempt.event_id,
                    is_taken=reply.is_taken,
                    seconds=reply.duration_ms / 1000,
                )
        self._lanes.note_failing(result.failing)
        renewed_at = moment + self._claim_s / 3
        locked = {*plan.claimed, *(attempt.endpoint_id for attempt in plan.ended)}
        for endpoint_id in locked | (plan.renewed - result.claims.keys()):
            self._claims.pop(endpoint_id, None)
            self._due.pop(endpoint_id, None)
        for endpoint_id, due_at in result.claims.items():
            self._claims[endpoint_id] = renewed_at
            if due_at is not None:
                self._due[endpoint_id] = due_at
        for message in result.messages:
            self._lanes.begin(message.endpoint_id, message.event_id)
        self._posting.begin(result.messages, self._woken.set)
        self._counts += result.counts

    def _wake(self, logs: Logs) -> None:
        self._woken.set()

    def _wait_s(self) -> float:
        """Return how many seconds to wait for a notification."""
        if self._ended:
            return 0.05
        now, moment = self._clock.now(), time.monotonic()
        waits = [(at - now).total_seconds() for at in self._due.values()]
        waits += [at - moment for at in self._claims.values()]
        return max(0.0, min([LOOK_S, *waits]))
