"""A chat server to fuzz: a fresh organization made by the operator's commands, with workers.

The first user is an owner, the second, their peer, a member. An owner may take away their own
rights or deactivate themselves, and schemathesis finds out: a caretaker, who has the database as an
operator would, gives the two users back what they lost. No operation is left out for it.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import update
from sqlalchemy.orm import Session

from models import migrate
from models.chat.roles import Role
from models.chat.tables import User
from models.database import Database
from tests.fuzz.users import write_users
from tests.live.running_server import ROOT, RunningServer
from workers.registry import NAMES

HOST = "127.0.0.1"
PAYMENT_WORKERS = ("chain_watcher", "invoice_expiry")
PEOPLE = (
    ("second", Role.MEMBER),
    ("third", Role.OWNER),
    ("fourth", Role.ADMINISTRATOR),
    ("fifth", Role.MODERATOR),
    ("sixth", Role.GUEST),
    ("seventh", Role.MEMBER),
    ("eighth", Role.MEMBER),
)
CARE_EVERY_S = 0.2
WELCOME_S = 5.0


class Operator:
    """Runs `specd` commands on the server's database."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("SPECD_")}
        self.environment = {**kept, "PYTHONPATH": str(ROOT), **environment}

    def specd(self, *words: str) -> dict[str, Any]:
        """The JSON a command prints."""
        done = subprocess.run(
            [sys.executable, "-m", "cli.main", *words, "--json"],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        printed: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return printed

    @contextmanager
    def workers(self, log: Path) -> Iterator[None]:
        """The chat service's workers, running."""
        names = [name for name in NAMES if name not in PAYMENT_WORKERS]
        with log.open("ab") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "cli.main", "worker", *names],
                cwd=ROOT,
                env=self.environment,
                stdout=output,
                stderr=output,
            )
        try:
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def fuzzed_chat(database_url: str, directory: Path) -> Iterator[tuple[RunningServer, Path]]:
    """A server on a migrated database, and the file that holds its two users."""
    environment = {
        "SPECD_DATA_DIR": str(directory),
        "SPECD_CHAT_DATABASE_URL": database_url,
        "SPECD_PAYMENT_DATABASE_URL": f"sqlite:///{directory}/payment.db",
    }
    migrate.upgrade(environment["SPECD_PAYMENT_DATABASE_URL"], "payment")
    operator = Operator(environment)
    owner = operator.specd(
        *("chat", "create-realm", "--name", "Fuzz", "--host", HOST),
        *("--owner-email", "first@fuzz.example", "--owner-name", "First"),
    )
    people = {"first": owner}
    for name, role in PEOPLE:
        people[name] = operator.specd(
            *("chat", "create-user", "--realm", HOST, "--email", f"{name}@fuzz.example"),
            *("--name", name.title(), "--role", str(int(role))),
        )
    headers = {name: _basic(person) for name, person in people.items()}
    more = {"SPECD_WORKERS": "2", "SPECD_DEVELOPMENT": "true"}
    with (
        RunningServer(directory, {**environment, **more}, application="chat") as server,
        operator.workers(directory / "workers.log"),
        _cared_for(database_url, people["first"]["user_id"], people["second"]["user_id"]),
    ):
        _furnish(server.url, headers, [person["user_id"] for person in people.values()])
        fuzzers = {name: headers[name] for name in ("first", "second")}
        yield server, write_users(directory, fuzzers)
        for header in fuzzers.values():  # locked out, they would have found nothing
            _await_welcome(f"{server.url}/api/v1/users/me", header)


def _await_welcome(url: str, header: str) -> None:
    """Raises AssertionError when a user is not let in, and stays so."""
    deadline = time.monotonic() + WELCOME_S
    while httpx.get(url, headers={"Authorization": header}).status_code != 200:
        assert time.monotonic() < deadline, "a user was locked out for good"
        time.sleep(CARE_EVERY_S)


def _basic(person: Mapping[str, Any]) -> str:
    """The header of a user, by the dummy form of their email, which they cannot change."""
    credentials = f"user{person['user_id']}@{HOST}:{person['api_key']}"
    return f"Basic {base64.b64encode(credentials.encode()).decode()}"


def _furnish(url: str, headers: Mapping[str, str], everybody: list[int]) -> None:
    """A few channels, topics and messages, so that small ids mean something."""
    with httpx.Client(base_url=f"{url}/api/v1") as client:

        def call(name: str, method: str, path: str, **form: Any) -> None:
            data = {k: v if isinstance(v, str) else json.dumps(v) for k, v in form.items()}
            sign = {"Authorization": headers[name]}
            response = client.request(method, path, data=data, headers=sign)
            assert response.status_code == 200, response.text

        for at, channel in enumerate(("general", "Denmark", "Verona", "secret")):
            call(
                "first",
                "POST",
                "/users/me/subscriptions",
                subscriptions=[{"name": channel}],
                invite_only=channel == "secret",
                principals=everybody[:1] if channel == "secret" else everybody[: 8 - at],
            )
        for name in ("first", "second", "fourth"):
            for topic in ("castle", "ghost"):
                form = {"type": "channel", "to": "general", "topic": topic}
                call(name, "POST", "/messages", content=f"Words of {name}.", **form)
            call(
                name,
                "POST",
                "/messages",
                type="direct",
                to=everybody[3:5],
                content="The rest is silence.",
            )
        call("first", "PATCH", "/realm", moderation_request_channel_id=4)


@contextmanager
def _cared_for(database_url: str, owner_id: int, member_id: int) -> Iterator[None]:
    """Keeps the two users active in their roles."""
    database = Database(database_url)
    stopped = threading.Event()

    def restore(session: Session) -> None:
        for user_id, role in ((owner_id, Role.OWNER), (member_id, Role.MEMBER)):
            lost = (User.role != int(role)) | User.is_active.is_(False)
            session.execute(
                update(User).where(User.id == user_id, lost).values(role=int(role), is_active=True)
            )

    def care() -> None:
        while not stopped.wait(CARE_EVERY_S):
            database.run(restore)

    caretaker = threading.Thread(target=care, daemon=True)
    caretaker.start()
    try:
        yield
    finally:
        stopped.set()
        caretaker.join()
        database.dispose()
