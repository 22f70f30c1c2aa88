"""Fixtures of the tests of real clients: an organization on a real server, and requests as from a
command line.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select, update

from models.chat.tables import EventQueue, Realm, User
from specd.db import Clock, Database
from tests.live.running_server import UNVERIFIED, RunningServer
from tests.support.chat.channels import make_channel
from tests.support.chat.people import SECRET, Cast, Member, make_cast
from tests.support.databases import place_migrated

CHANNEL, TOPIC = "elsinore", "ghost"
PATIENCE_S = 60.0
"""The wait for an immediate result on a busy machine."""


@dataclass(frozen=True)
class Office:
    """The cast on a running server of two processes, in one channel with Hamlet's bot."""

    url: str
    cast: Cast
    directory: Path

    def ask(self, who: Member, method: str, path: str, **options: Any) -> Any:
        """Return the decoded response to a request that must succeed."""
        url = f"{self.url}/api/v1{path}"
        answer = httpx.request(
            method, url, auth=(who.email, who.key), timeout=30, verify=UNVERIFIED, **options
        )
        answer.raise_for_status()
        return answer.json()

    def say(self, who: Member, content: str) -> int:
        """Send to the channel and return the id of the message."""
        form = {"type": "channel", "to": CHANNEL, "topic": TOPIC, "content": content}
        return int(self.ask(who, "POST", "/messages", data=form)["id"])

    def whisper(self, who: Member, to: Member, content: str) -> int:
        """Send a direct message and return its id."""
        form = {"type": "direct", "to": f"[{to.id}]", "content": content}
        return int(self.ask(who, "POST", "/messages", data=form)["id"])

    def newest(self, who: Member, count: int = 20) -> list[dict[str, Any]]:
        """Return the newest messages in Markdown, oldest first."""
        query = {"anchor": "newest", "num_before": count, "num_after": 0, "apply_markdown": "false"}
        return list(self.ask(who, "GET", "/messages", params=query)["messages"])

    def queues_of(self, who: Member) -> set[str]:
        """Return the ids of the event queues."""
        mine = select(EventQueue.id).where(EventQueue.user_id == who.id)
        url = f"sqlite:///{self.directory}/chat.db"
        with closing(Database(url)) as database, database.reading() as reader:
            return set(reader.execute(mine).scalars())

    def configuration(self, who: Member) -> Path:
        """Return the path of a configuration file for clients."""
        path = self.directory / f"zuliprc-{who.id}"
        path.write_text(f"[api]\nemail={who.email}\nkey={who.key}\nsite={self.url}\n")
        path.chmod(0o600)
        return path


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    directory = tmp_path_factory.mktemp("office")
    url = place_migrated(directory / "chat.db", "chat")
    database = Database(url)

    def furnish(session: Any) -> Cast:
        cast = make_cast(session, now=Clock().now())
        here = update(Realm).where(Realm.id == cast.realm_id).values(host="127.0.0.1")
        session.execute(here)
        may = update(User).where(User.id == cast.cordelia.id).values(can_create_users=True)
        session.execute(may)
        people = [cast.hamlet, cast.cordelia, cast.reminder]
        make_channel(session, cast, CHANNEL, subscribers=people)
        return cast

    cast = database.run(furnish)
    database.dispose()
    environment = {
        "SPECD_CHAT_SECRET": SECRET.decode(),
        "SPECD_CHAT_MAIL_DOMAIN": "mail.example",
        "SPECD_WORKERS": "2",
    }
    with RunningServer(directory, environment, application="chat") as server:
        yield Office(server.url, cast, directory)


@pytest.fixture
def soon() -> Callable[[Callable[[], Any]], Any]:
    """Return a function that calls `find` until its result is true, and returns the last result."""

    def wait(find: Callable[[], Any]) -> Any:
        deadline = time.monotonic() + PATIENCE_S
        while not (found := find()) and time.monotonic() < deadline:
            time.sleep(0.05)
        return found

    return wait
