"""The organization of the clients: all are in `hall`, a hundred of them also in `stage`."""

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from benchmarks.live.crowd import Account, QueueOf
from benchmarks.load.checkout import Checkout
from models.chat.channels.creation import NewChannel, create_channels
from models.chat.identity.actors import find_actor
from models.chat.identity.api_keys import KeyMaker
from models.chat.identity.roles import Role
from models.chat.organization.realms import access_realm_by_id, create_realm
from models.chat.people.users import create_user
from models.chat.queues.queues import QueueOptions, find_head, open_queue
from models.chat.tables import Channel
from specd._db.migrate import upgrade
from specd.db import Database

HOST = "127.0.0.1"
SECRET = b"the secret of the live benchmark, 32 bytes and more"
HALL, STAGE = "hall", "stage"
OPTIONS = QueueOptions(event_types=frozenset({"message"}), apply_markdown=True)


@dataclass(frozen=True, slots=True)
class Stage:
    """The people, and how their queues are opened."""

    url: str
    people: tuple[tuple[int, Account], ...]

    def queues(self, count: int) -> list[QueueOf]:
        """Create `count` queues for messages, for each person in turn."""
        database = Database(self.url, lock_timeout_s=60)
        try:
            return database.run(lambda session: self._open(session, count))
        finally:
            database.dispose()

    def _open(self, session: Session, count: int) -> list[QueueOf]:
        now = datetime.now(UTC)
        opened = []
        for number in range(count):
            user_id, account = self.people[number % len(self.people)]
            actor = find_actor(session, user_id)
            assert actor is not None
            queue_id = open_queue(
                session, actor, OPTIONS,
                position=find_head(session, actor.realm_id), client="benchmark", now=now,
            )  # fmt: skip
            opened.append(QueueOf(account, queue_id))
        return opened


def found(url: str, people: int, on_stage: int) -> Stage:
    """Create the organization in an empty database."""
    upgrade(url, "chat")
    database = Database(url, lock_timeout_s=60)
    try:
        return Stage(url, database.run(lambda session: _found(session, people, on_stage)))
    finally:
        database.dispose()


def _found(session: Session, people: int, on_stage: int) -> tuple[tuple[int, Account], ...]:
    keys, now = KeyMaker(SECRET), datetime.now(UTC)
    realm, owner, _ = create_realm(
        session, keys, name="Benchmark", host=HOST, owner_email="owner@bench.example",
        owner_name="Owner", now=now,
    )  # fmt: skip
    view = access_realm_by_id(session, realm.id)
    made = []
    for number in range(1, people + 1):
        user, api_key = create_user(
            session, keys, realm=view, email=f"user{number}@bench.example",
            full_name=f"User {number}", role=Role.MEMBER, now=now,
        )  # fmt: skip
        made.append((user.id, Account(user.delivery_email, api_key)))
    actor = find_actor(session, owner.id)
    assert actor is not None
    create_channels(session, actor, [(HALL, ""), (STAGE, "")], NewChannel(), {}, now=now)
    session.flush()
    ids = dict(session.execute(select(Channel.name, Channel.id)).all())
    for name, last in ((HALL, made[-1][0]), (STAGE, made[min(on_stage, people) - 1][0])):
        facts: dict[str, Any] = {"channel": ids[name], "first": made[0][0], "last": last}
        session.execute(_SUBSCRIBE, facts | {"at": round(now.timestamp() * 1000)})
    return tuple(made)


_SUBSCRIBE = text(
    "INSERT INTO subscription (channel_id, user_id, is_active, color, is_muted, pin_to_top,"
    " subscribed_at, joined_after_id)"
    " SELECT :channel, u.id, true, '#76ce90', false, false, :at, 0"
    ' FROM "user" u WHERE u.id BETWEEN :first AND :last AND NOT u.is_system_bot'
)


def found_by(checkout: Checkout, url: str, people: int, on_stage: int) -> Stage:
    """Create the organization with a checkout's code and schema."""
    facts = json.loads(checkout.run(_FOUND, url, str(people), str(on_stage)))
    return Stage(url, tuple((number, Account(**account)) for number, account in facts["people"]))


def queues_by(checkout: Checkout, stage: Stage, directory: Path, count: int) -> list[QueueOf]:
    """Create queues with a checkout's code. `directory` is for a file that it reads."""
    told = directory / "people.json"
    told.write_text(json.dumps(asdict(stage)))
    opened = json.loads(checkout.run(_QUEUES, str(told), str(count)))
    return [QueueOf(Account(**it["account"]), it["queue_id"]) for it in opened]


_FOUND = """
import json, sys
from dataclasses import asdict
from benchmarks.live.stage import found
url, people, on_stage = sys.argv[1:]
print(json.dumps(asdict(found(url, int(people), int(on_stage)))))
"""
_QUEUES = """
import json, sys
from dataclasses import asdict
from pathlib import Path
from benchmarks.live.crowd import Account
from benchmarks.live.stage import Stage
told = json.loads(Path(sys.argv[1]).read_text())
people = tuple((number, Account(**account)) for number, account in told["people"])
queues = Stage(told["url"], people).queues(int(sys.argv[2]))
print(json.dumps([asdict(queue) for queue in queues]))
"""
