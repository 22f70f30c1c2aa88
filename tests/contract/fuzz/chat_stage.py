"""A chat server to fuzz: a new organization created with the operator's commands, with workers.

The first user is an owner, and the second is a member. There are a push relay and a vendor of video
calls, token sign-in is enabled, and an owner may do everything. A caretaker restores removed data
(`chat_caretaker`), because the fuzzer would soon have nothing left to test.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import jwt
from click.testing import CliRunner

from demo.local_server import LocalServer
from demo.phone import Phone
from demo.push_relay import LocalRelay
from demo.video_vendor import LocalVendor
from models.chat.identity.roles import Role
from specd._cli.main import specd
from specd._db import migrate
from specd._workers.registry import NAMES
from tests.contract.fuzz.chat_caretaker import CARE_EVERY_S, cared_for
from tests.contract.fuzz.users import write_users
from tests.live.running_server import ROOT, RunningServer
from tests.support import warm
from tests.support.chat.vendor_consent import consent

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
PASSWORD = "The rest is silence."
JWT_SECRET = "what the fuzzed organization signs with, 32 bytes and more"
RELAY_KEY, VENDOR_SECRET = "the relay's key", "the vendor's secret"
WELCOME_S = 5.0


class Operator:
    """Runs `specd` commands on the server's database."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("SPECD_")}
        self.environment = {**kept, "PYTHONPATH": str(ROOT), **environment}

    def specd(self, *words: str, typed: str = "") -> dict[str, Any]:
        """Return the JSON that a command prints for the input `typed`. It runs in this process,
        because a process needs a second and a half to start.
        """
        unset = dict.fromkeys(name for name in os.environ if name.startswith("SPECD_"))
        runner = CliRunner(env={**unset, **self.environment})
        done = runner.invoke(specd, [*words, "--json"], input=typed, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        printed: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return printed

    @contextmanager
    def workers(self, log: Path) -> Iterator[None]:
        """Run the workers of the chat service."""
        names = [name for name in NAMES if name not in PAYMENT_WORKERS]
        with log.open("ab") as output:
            process = warm.Popen(
                [sys.executable, "-m", "specd._cli.main", "worker", *names],
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
    """Yield a server on a migrated database, and the file of its two users. `facts.json` next to it
    contains other values for cases.
    """
    with ExitStack() as stack:
        relay = LocalRelay(organization="specd", key=RELAY_KEY)
        vendor = LocalVendor(client_id="acme", client_secret=VENDOR_SECRET)
        outside = [LocalServer(relay), LocalServer(vendor)]
        for counterpart in outside:
            counterpart.start()
            stack.callback(counterpart.close)
        environment = {
            "SPECD_DATA_DIR": str(directory),
            "SPECD_CHAT_DATABASE_URL": database_url,
            "SPECD_PAYMENT_DATABASE_URL": f"sqlite:///{directory}/payment.db",
            "SPECD_PUSH_RELAY_URL": outside[0].url,
            "SPECD_PUSH_RELAY_KEY": RELAY_KEY,
            "SPECD_VIDEO_VENDOR_URL": outside[1].url,
            "SPECD_VIDEO_VENDOR_CLIENT_ID": "acme",
            "SPECD_VIDEO_VENDOR_CLIENT_SECRET": VENDOR_SECRET,
            "SPECD_VIDEO_VENDOR_NOTICE_TOKEN": "the token of the vendor's notices",
        }
        people = _populate(environment)
        headers = {name: _basic(person) for name, person in people.items()}
        ids = [person["user_id"] for person in people.values()]
        more = {"SPECD_WORKERS": "2", "SPECD_DEVELOPMENT": "true"}
        server = stack.enter_context(
            RunningServer(directory, {**environment, **more}, application="chat")
        )
        stack.enter_context(Operator(environment).workers(directory / "workers.log"))
        _furnish(server.url, headers, ids)
        for name in ("first", "second"):
            _allow_calls(server.url, outside[1].url, headers[name])
        email_token = secrets.token_urlsafe(32)
        stack.enter_context(cared_for(database_url, ids, email_token))
        phone = Phone()
        facts = {
            "username": "third@fuzz.example",
            "password": PASSWORD,
            "token": jwt.encode({"email": "fourth@fuzz.example"}, JWT_SECRET, algorithm="HS256"),
            "email_token": email_token,
            "push": phone.key_fields() | phone.token_fields(relay.public_key),
        }
        (directory / "facts.json").write_text(json.dumps(facts))
        fuzzers = {name: headers[name] for name in ("first", "second")}
        yield server, write_users(directory, fuzzers)
        for header in fuzzers.values():  # with a locked-out user, the run would have found nothing
            _await_welcome(f"{server.url}/api/v1/users/me", header)


def _populate(environment: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Create the organization and its users with commands of the operator. Return their output by
    name.
    """
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
            *("--name", name.title(), "--role", str(int(role)), "--password-file", "-"),
            typed=PASSWORD,
        )
    operator.specd(
        *("chat", "grant", "--realm", HOST, "--email", "first@fuzz.example"),
        *("--create-users", "--change-user-emails"),
    )
    operator.specd(
        *("chat", "set-realm", "--realm", HOST, "jwt_algorithms=HS256", "jwt_key=@-"),
        *("jwt_audience=", "jwt_max_age=0"),
        typed=JWT_SECRET,
    )
    return people


def _allow_calls(url: str, vendor_url: str, header: str) -> None:
    """Authorize the server to create video calls for a user, on the side of the vendor."""
    given = consent(url, vendor_url, {"Authorization": header})
    answer = httpx.get(
        f"{url}/api/v1/calls/vendor/complete",
        params={"code": given["code"], "state": given["state"]},
        headers={"Cookie": given["cookie"]},
    )
    assert answer.status_code == 200, answer.text


def _await_welcome(url: str, header: str) -> None:
    """Wait until a user can sign in. Raises AssertionError if this does not happen."""
    deadline = time.monotonic() + WELCOME_S
    while httpx.get(url, headers={"Authorization": header}).status_code != 200:
        assert time.monotonic() < deadline, "a user is still locked out"
        time.sleep(CARE_EVERY_S)


def _basic(person: Mapping[str, Any]) -> str:
    """Return the header of a user, with the dummy form of their email, which they cannot change."""
    credentials = f"user{person['user_id']}@{HOST}:{person['api_key']}"
    return f"Basic {base64.b64encode(credentials.encode()).decode()}"


def _furnish(url: str, headers: Mapping[str, str], user_ids: list[int]) -> None:
    """Create a few channels, topics and messages, so that small ids exist."""
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
                principals=user_ids[:1] if channel == "secret" else user_ids[: 8 - at],
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
                to=user_ids[3:5],
                content="The rest is silence.",
            )
        call("first", "PATCH", "/realm", moderation_request_channel_id=4)
