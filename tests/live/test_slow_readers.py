"""Connections of clients that send requests and do not read responses are ended by gunicorn."""

from __future__ import annotations

import http.client
import select
import socket
from pathlib import Path

import httpx

from specd._db import migrate
from tests.live.running_server import RunningServer

READERS = 4
OF_ONE = 40
"""Connections of one client, each with an unread response."""
MANY = 12
ASKED = b"GET /v1/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 400


def ask(server: RunningServer, asked: bytes = ASKED) -> socket.socket:
    """A connection with an unread response that is much larger than buffers."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", server.port))
    connection.sendall(asked)
    return connection


def is_ended(connection: socket.socket, *, within_ms: int) -> bool:
    """Return whether the server has closed it."""
    poll = select.poll()
    poll.register(connection, 0)  # polls for errors and hang-ups only
    ((_, event),) = poll.poll(within_ms) or [(0, 0)]
    return bool(event & (select.POLLERR | select.POLLHUP))


def test_an_answer_that_nobody_reads_ends(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'payment.db'}"
    migrate.upgrade(url, "payment")
    settings = {"SPECD_PAYMENT_DATABASE_URL": url, "SPECD_ANSWER_READ_TIMEOUT_S": "0.5"}
    with RunningServer(tmp_path, settings) as server:
        slow = [ask(server) for _ in range(READERS)]
        document = httpx.get(f"{server.url}/v1/openapi.json", trust_env=False)
        assert document.status_code == 200
        for connection in slow:
            assert is_ended(connection, within_ms=60_000)
            connection.close()
        assert httpx.get(f"{server.url}/healthz", trust_env=False).status_code == 200


def test_the_connections_of_one_client_end_and_not_those_of_another(tmp_path: Path) -> None:
    """Before any deadline: the unread data of a client are limited for that client only."""
    url = f"sqlite:///{tmp_path / 'chat.db'}"
    migrate.upgrade(url, "chat")
    settings = {
        "SPECD_CHAT_DATABASE_URL": url,
        "SPECD_CHAT_SECRET": "s" * 32,
        "SPECD_TRUSTED_PROXIES": "127.0.0.1",
        "SPECD_ANSWER_READ_TIMEOUT_S": "600",
        "SPECD_WORKERS": "1",
    }
    # The kernel accepts the first of these responses.
    form = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: %b\r\n\r\n"
    with RunningServer(tmp_path, settings, application="chat") as server:
        other = ask(server, MANY * (form % b"192.0.2.2"))
        slow = [ask(server, MANY * (form % b"192.0.2.1")) for _ in range(OF_ONE)]
        assert all(is_ended(connection, within_ms=20_000) for connection in slow[:10])
        assert not is_ended(other, within_ms=0)
        answer = http.client.HTTPResponse(other)
        other.settimeout(60)
        answer.begin()
        assert len(answer.read()) == int(answer.headers["Content-Length"]) > 256 * 1024
        for connection in (other, *slow):
            connection.close()
