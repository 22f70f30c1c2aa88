"""Requests through a proxy stay separate: no request hides in the body of another.

If the server read a body as the next request, its response would go to the next client on the same
connection, or it would include that client's request with the key.
"""

from __future__ import annotations

import select
import socket
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import httpx
import pytest

from specd._db import migrate
from specd.db import Database
from tests.live.proxies import CONFIGURATIONS, Proxy
from tests.live.running_server import RunningServer
from tests.support.chat.people import CAST_MADE_AT, SECRET, Cast, Member, make_cast

HOST = "acme.example"
APART_S = 0.05
"""The pause between the packets of the head and of the body, in which the server reads the head."""
_numbers = count()


@dataclass(frozen=True)
class Stage:
    server: RunningServer
    cast: Cast

    def sent(self) -> list[str]:
        """Return the texts of the attacker's messages."""
        query = {"anchor": "newest", "num_before": 50, "num_after": 0, "apply_markdown": "false"}
        with client(self.server.port, self.cast.othello) as own:
            found = own.get("/api/v1/messages", params=query).json()["messages"]
        return [message["content"] for message in found]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("proxies")
    url = f"sqlite:///{folder / 'chat.db'}"
    migrate.upgrade(url, "chat")
    with closing(Database(url)) as database:
        cast = database.run(lambda session: make_cast(session, now=CAST_MADE_AT))
    settings = {
        "SPECD_CHAT_DATABASE_URL": url,
        "SPECD_CHAT_SECRET": SECRET.decode(),
        "SPECD_PUBLIC_URL": f"http://{HOST}",
    }
    with RunningServer(folder, settings, application="chat") as server:
        yield Stage(server, cast)


def client(port: int, member: Member) -> httpx.Client:
    return httpx.Client(
        base_url=f"http://127.0.0.1:{port}",
        headers={"Host": HOST},
        auth=(member.email, member.key),
        trust_env=False,
        timeout=20,
    )


def hidden(attacker: Member, *, is_whole: bool) -> bytes:
    """Return a request to send a message.

    Data that follow it would become its text, unless it is complete.
    """
    form = b"type=direct&to=[%d]&content=stolen" % attacker.id
    key = b64encode(f"{attacker.email}:{attacker.key}".encode())
    lines = (
        b"POST /api/v1/messages HTTP/1.1",
        b"Host: " + HOST.encode(),
        b"Authorization: Basic " + key,
        b"Content-Type: application/x-www-form-urlencoded",
        b"Content-Length: %d" % (len(form) if is_whole else len(form) + 200),
    )
    return b"\r\n".join(lines) + b"\r\n\r\n" + form


def attack(port: int, body: bytes, *, in_chunks: bool) -> bytes:
    """Send a request that offers to upgrade, then its body.

    Return all responses until the connection ends or is idle for a moment.
    """
    framing = b"Transfer-Encoding: chunked" if in_chunks else b"Content-Length: %d" % len(body)
    # Hashing a password is slow, so the body arrives before the response is sent.
    query = b"username=nobody%d@acme.example&password=zzzzzzzz" % next(_numbers)
    lines = (
        b"POST /api/v1/fetch_api_key?" + query + b" HTTP/1.1",
        b"Host: " + HOST.encode(),
        b"Connection: Upgrade",
        b"Upgrade: foo",
        framing,
    )
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(b"\r\n".join(lines) + b"\r\n\r\n")
        select.select([connection], [], [], APART_S)
        connection.sendall(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if in_chunks else body)
        answers = connection.recv(65_536)
        while select.select([connection], [], [], 0.2)[0]:
            more = connection.recv(65_536)
            if not more:
                break
            answers += more
    return answers


@pytest.mark.parametrize("proxy", ["none", *CONFIGURATIONS])
def test_no_request_hides_in_a_body(stage: Stage, proxy: str, tmp_path: Path) -> None:
    if proxy == "none":
        play(stage, stage.server.port)
        return
    with Proxy(proxy, tmp_path / proxy, stage.server.port) as running:
        play(stage, running.port)


def play(stage: Stage, port: int) -> None:
    attacker, victim = stage.cast.othello, stage.cast.hamlet
    before = stage.sent()
    for is_whole in (True, False):
        for in_chunks in (False, True):
            body = hidden(attacker, is_whole=is_whole)
            answers = attack(port, body, in_chunks=in_chunks)
            assert answers.startswith(b"HTTP/1.1 4"), answers
            assert answers.count(b"HTTP/1.1 ") == 1, answers
            with client(port, victim) as own:
                answer = own.get("/api/v1/users/me")
            assert (answer.status_code, answer.json().get("delivery_email")) == (200, victim.email)
            assert stage.sent() == before
