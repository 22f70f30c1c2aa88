"""Bots with failing URLs: workers that are killed at any time, and receivers that fail at random.

`scripts/webhook-storm` runs it at full size; test_bot_storm.py runs a part of it.
"""

from __future__ import annotations

import math
import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_network
from typing import Any
from unittest import mock

import orjson
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from adapters.webhooks.sender import ANSWER_READ, WebhookSender
from models.chat.identity.actors import find_actor
from models.chat.identity.roles import BotType, Role
from models.chat.organization.realms import access_realm_by_id
from models.chat.outgoing_webhooks import answers, queue
from models.chat.outgoing_webhooks.hooks import create_hook
from models.chat.people.users import create_user
from models.chat.rendering.texts import prepare_text
from models.chat.sending.drafts import check_message
from models.chat.sending.messages import send_message
from models.chat.sending.recipients import ToUsers
from models.chat.tables import Message, OutgoingDelivery
from specd._workers.loop import WorkerPool
from specd.db import Clock, Database
from specd.workers import Worker
from tests.live.delivery import Workers
from tests.live.webhook_storm import CLAIM_S, PAUSES, STALLED_S, TIMEOUT_S, Receiver
from tests.support.chat.people import KEYS, VAULT, Cast
from workers import bot_webhooks
from workers.bot_webhooks import BotWebhooks, Posting

CLOCK = Clock()
BOTS = 3


def run_worker(url: str) -> None:
    """One process of the real worker, until it is killed."""
    queue.QUEUE.pauses, queue.LEASE = PAUSES, timedelta(seconds=CLAIM_S)
    _serve(url)


def _serve(url: str) -> None:
    database = Database(url, lock_timeout_s=30)
    sender = WebhookSender(
        [ip_network("127.0.0.0/8")], timeout_s=TIMEOUT_S, answer_kept=ANSWER_READ
    )
    worker = BotWebhooks(database, CLOCK, VAULT, Posting(sender, CLOCK))
    pool = WorkerPool()
    pool.run_until_signal([Worker("bots", worker.try_step, poll_s=0.0, close=worker.close)])


def die_when_it_is_taken(url: str) -> None:
    """Before the post."""
    _serve_one(url, bot_webhooks, "find_request", _die)


def die_when_it_is_answered(url: str) -> None:
    """Before the result is written."""
    _serve_one(url, answers, "settle", _die)


def die_when_it_is_settled(url: str) -> None:
    """Before the commit."""
    _serve_one(url, answers, "settle", _then_die(answers.settle))


def die_when_it_is_done(url: str) -> None:
    """After the commit."""
    _serve_one(url, BotWebhooks, "_settle", _then_die(BotWebhooks._settle))


def _serve_one(url: str, place: object, name: str, act: Callable[..., None]) -> None:
    """Start a worker that claims one message and has another `name` in `place`."""
    with mock.patch.object(bot_webhooks, "AT_ONCE", 1), mock.patch.object(place, name, act):
        _serve(url)


def _die(*_: Any, **__: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _then_die(step: Callable[..., None]) -> Callable[..., None]:
    def last(*given: Any, **named: Any) -> None:
        step(*given, **named)
        _die()

    return last


MOMENTS = (
    die_when_it_is_taken,
    die_when_it_is_answered,
    die_when_it_is_settled,
    die_when_it_is_done,
)


class Town:
    """Bots with a receiver, and Hamlet, who sends them messages."""

    def __init__(self, url: str, cast: Cast, port: int) -> None:
        self._cast = cast
        self.database = Database(url, lock_timeout_s=30, pool_size=16)
        self.bots = self.database.run(lambda session: self._move_in(session, port))

    def _move_in(self, session: Session, port: int) -> list[int]:
        realm = access_realm_by_id(session, self._cast.realm_id)
        made = []
        for number in range(BOTS):
            bot, _ = create_user(
                session, KEYS, realm=realm, email=f"{number}-bot@acme.example",
                full_name=f"Bot {number}", role=Role.MEMBER, now=CLOCK.now(),
                bot_type=BotType.OUTGOING_WEBHOOK, bot_owner_id=self._cast.hamlet.id,
            )  # fmt: skip
            create_hook(
                session, VAULT, bot.id, url=f"http://127.0.0.1:{port}/{number}", interface=1
            )
            made.append(bot.id)
        return made

    def ask(self, bot_id: int) -> int:
        """Send a message to a bot as Hamlet and return its id."""

        def work(session: Session) -> int:
            hamlet = find_actor(session, self._cast.hamlet.id)
            assert hamlet is not None
            text = prepare_text(session, hamlet, "When?")
            draft = check_message(session, hamlet, ToUsers([bot_id]), topic="", text=text)
            return send_message(session, draft, now=CLOCK.now()).id

        return self.database.run(work)

    def said(self) -> Counter[int]:
        """Return the messages that the bots have answered, with the number of answers."""
        with self.database.reading() as reader:
            said = select(Message.content).where(Message.sender_id.in_(self.bots))
            return Counter(map(int, reader.execute(said).scalars()))

    def complaints(self) -> int:
        """Return how many notices about missing answers the owner received."""
        with self.database.reading() as reader:
            told = select(func.count()).where(Message.sender_id == self._cast.notification_bot_id)
            return int(reader.execute(told).scalar_one())

    def waiting(self) -> int:
        with self.database.reading() as reader:
            return int(reader.execute(select(func.count(OutgoingDelivery.id))).scalar_one())

    def end_leases(self) -> None:
        """Make due what stopped workers have claimed."""
        due = update(OutgoingDelivery).values(next_try_at=CLOCK.now())
        self.database.run(lambda session: session.execute(due))

    def wait(self, until: float) -> None:
        """Wait until every message is answered, or none is for a while, or the time is over."""
        count, since = -1, time.monotonic()
        while (now := self.waiting()) and time.monotonic() < min(since + STALLED_S, until):
            if now != count:
                count, since = now, time.monotonic()
            time.sleep(0.1)

    def close(self) -> None:
        self.database.dispose()


class Echo:
    """The bots: each reply names the message that it belongs to."""

    def __init__(self) -> None:
        self.heard: list[int] = []

    def __call__(self, body: bytes) -> bytes:
        message_id = orjson.loads(body)["message"]["id"]
        self.heard.append(message_id)
        return orjson.dumps({"content": str(message_id)})


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a storm.

    `repeated`: requests beyond the first for a message, after a failure or the end of a worker;
    `renamed`: those with another `webhook-id` than the first; `doubled`: answers beyond the first;
    `complaints`: notices to the owner without a reason.
    """

    messages: int
    repeated: int
    renamed: int
    kills: int
    lost: int
    doubled: int
    complaints: int
    seconds: float


def run_storm(
    url: str, cast: Cast, *, messages: int, workers: int, kill_every_s: float, seed: int,
    kill_for_s: float = math.inf,
) -> Report:  # fmt: skip
    """Send messages while workers are killed.

    Messages that a slow machine has not answered `kill_for_s` after the start are answered without
    kills.
    """
    began = time.monotonic()
    with (
        Receiver(seed=seed, answer=Echo()).running() as receiver,
        closing(Town(url, cast, receiver.port)) as town,
    ):
        with Workers(url, workers, kill_every_s, seed, target=run_worker) as living:
            asked = [town.ask(town.bots[0])]
            living.wait_for_a_kill()
            asked += [town.ask(town.bots[number % BOTS]) for number in range(1, messages)]
            town.wait(began + kill_for_s)
            living.spare()
            town.wait(math.inf)
        said = town.said()
        names = {event for _, event, _ in receiver.arrivals}
        return Report(
            messages=messages,
            repeated=len(receiver.arrivals) - len(names),
            renamed=len(names) - messages,
            kills=living.kills,
            lost=sum(not said[message_id] for message_id in asked),
            doubled=sum(count - 1 for count in said.values()),
            complaints=town.complaints(),
            seconds=round(time.monotonic() - began, 1),
        )


def run_moments(url: str, cast: Cast) -> dict[str, tuple[int, int]]:
    """For each moment, run a worker that ends at that moment, with a message for it, followed by
    another worker.

    Return the number of requests and answers for the message of each moment.
    """
    echo, asked = Echo(), {}
    with (
        Receiver(failing=0, answer=echo).running() as receiver,
        closing(Town(url, cast, receiver.port)) as town,
    ):
        for moment in MOMENTS:
            asked[moment.__name__] = town.ask(town.bots[0])
            with Workers(url, 1, None, seed=0, target=moment) as dying:
                assert dying.wait() == [-signal.SIGKILL]
        town.end_leases()
        with Workers(url, 1, None, seed=0, target=run_worker):
            town.wait(math.inf)
        said = town.said()
        return {name: (echo.heard.count(it), said[it]) for name, it in asked.items()}
