"""Password attempts are counted together for all processes and machines of a service."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from models.chat.identity.attempts import PER_PLACE, PERIOD, SignInAttempt, count_attempt
from models.chat.identity.passwords import hash_password
from models.chat.tables import User
from specd.db import Database
from tests.live.running_server import RunningServer
from tests.support.chat.people import KEYS, PASSWORD, SECRET, Cast, Member

WORKERS = 4
AT_ONCE = 16
JUDGED = {"AUTHENTICATION_FAILED", "Wrong password!"}
REFUSED = {"RATE_LIMIT_HIT", "You're making too many attempts!"}


@dataclass(frozen=True)
class Stage:
    """A server of several processes, and the user whose password is guessed."""

    data_dir: Path
    database_url: str
    cast: Cast
    client: httpx.Client

    def sign_in(self, name: str, password: str) -> str:
        """The result of an attack."""
        form = {"username": name, "password": password}
        answer = self.client.post("/fetch_api_key", data=form)
        return _gist(answer)

    def change_password(self, member: Member, old: str) -> str:
        form = {"old_password": old, "new_password": "another password, a good one"}
        auth = (member.email, member.key)
        answer = self.client.patch("/settings", data=form, auth=auth)
        return _gist(answer)

    def guess(self, member: Member, guesses: int) -> Counter[str]:
        """Send wrong passwords simultaneously, to both operations and with several spellings of the
        name.
        """

        def one(number: int) -> str:
            wrong = f"guess {number}"
            if number % 2:
                return self.change_password(member, wrong)
            return self.sign_in((member.email, f" {member.email.upper()} ")[number % 4 // 2], wrong)

        with ThreadPoolExecutor(AT_ONCE) as people:
            return Counter(people.map(one, range(guesses)))


def _gist(answer: httpx.Response) -> str:
    told = answer.json()
    code = str(told.get("code", "success"))
    return str(told["msg"]).partition(" Try")[0] if code == "BAD_REQUEST" else code


@pytest.fixture
def stage(chat_sqlite: tuple[str, Cast], tmp_path: Path) -> Iterator[Stage]:
    url, cast = chat_sqlite
    database = Database(url)
    password_hash = hash_password(PASSWORD)
    ids = [member.id for member in (cast.othello, cast.iago)]

    def work(session: Any) -> None:
        for user_id in ids:
            session.get_one(User, user_id).password_hash = password_hash

    database.run(work)
    database.dispose()
    settings = {
        "SPECD_CHAT_DATABASE_URL": url,
        "SPECD_CHAT_SECRET": SECRET.decode(),
        "SPECD_WORKERS": str(WORKERS),
        "SPECD_RATE_LIMITS": "true",
        "SPECD_CHAT_RATE_LIMIT_PER_ADDRESS": "1000000",
        "SPECD_CHAT_RATE_LIMIT_PER_USER": "1000000",
    }
    with RunningServer(tmp_path, settings, application="chat") as server:
        # Each request uses a new connection, so that any process may receive it.
        client = httpx.Client(
            base_url=f"{server.url}/api/v1",
            headers={"Host": "acme.example"},
            limits=httpx.Limits(max_keepalive_connections=0),
            timeout=30,
            trust_env=False,
        )
        with client:
            yield Stage(tmp_path, url, cast, client)


def judged(found: Counter[str]) -> int:
    """Return how many were compared with the password. All others must have been rejected."""
    assert set(found) <= JUDGED | REFUSED, found
    return sum(found[each] for each in JUDGED)


def test_attempts_are_one_count_for_four_processes(stage: Stage) -> None:
    hamlet, othello, iago = stage.cast.hamlet, stage.cast.othello, stage.cast.iago
    found = stage.guess(hamlet, 80)
    assert judged(found) == PER_PLACE, found
    assert found["RATE_LIMIT_HIT"] > 0
    assert found["You're making too many attempts!"] > 0
    # Now the correct password is rejected as well, by each process.
    deadline = time.monotonic() + 30
    while len({file.stem for file in stage.data_dir.glob("metrics/counter_*.db")}) < WORKERS:
        assert stage.sign_in(hamlet.email, PASSWORD) == "RATE_LIMIT_HIT"
        assert time.monotonic() < deadline, "not every process was asked"
    # Another account has another count, and a success resets it.
    assert judged(stage.guess(othello, PER_PLACE - 1)) == PER_PLACE - 1
    assert stage.sign_in(othello.email, PASSWORD) == "success"
    assert judged(stage.guess(othello, 40)) == PER_PLACE
    # Attempts refill one by one. Iago's were used up long enough ago for two.
    per_attempt = PERIOD / PER_PLACE
    use_up(stage, iago, at=datetime.now(UTC) - 2 * per_attempt - timedelta(seconds=60))
    assert judged(stage.guess(iago, 40)) == 2
    assert stage.sign_in(iago.email, PASSWORD) == "RATE_LIMIT_HIT"


def use_up(stage: Stage, member: Member, *, at: datetime) -> None:
    """Return the entries that another machine writes for attempts at that time."""

    attempt = SignInAttempt(stage.cast.realm_id, member.email, "127.0.0.1/32", "127.0.0.0/24")
    database = Database(stage.database_url)
    try:
        for _ in range(PER_PLACE):
            database.run(lambda session: count_attempt(session, KEYS.seal, attempt, now=at))
    finally:
        database.dispose()
