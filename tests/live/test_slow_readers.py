"""Clients that ask and do not read, against a real gunicorn: their connections end."""

from __future__ import annotations

import select
import socket
from pathlib import Path

import httpx

from models import migrate
from tests.live.running_server import RunningServer

READERS = 4
ASKED = b"GET /v1/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 400


def ask(server: RunningServer) -> socket.socket:
    """A connection with much more to read than buffers hold, of which nothing is read."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", server.port))
    connection.sendall(ASKED)
    return connection


def test_an_answer_that_nobody_reads_ends(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'payment.db'}"
    migrate.upgrade(url, "payment")
    settings = {"SPECD_PAYMENT_DATABASE_URL": url, "SPECD_ANSWER_READ_TIMEOUT_S": "0.5"}
    with RunningServer(tmp_path, settings) as server:
        slow = [ask(server) for _ in range(READERS)]
        document = httpx.get(f"{server.url}/v1/openapi.json", trust_env=False)
        assert document.status_code == 200
        for connection in slow:
            poll = select.poll()
            poll.register(connection, 0)  # asks for errors and hang-ups alone
            ((_, event),) = poll.poll(60_000) or [(0, 0)]
            assert event & (select.POLLERR | select.POLLHUP), "the server has ended it"
            connection.close()
        assert httpx.get(f"{server.url}/healthz", trust_env=False).status_code == 200
