"""`specd payment events` and `specd payment listen` with a running server."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook

from cli.payment_feed import Feed, FeedRefused
from models.webhooks import signing
from specd._db import migrate
from specd.db import Database, UtcMs
from tests.cli.runner import Specd
from tests.live.running_server import ROOT, RunningServer, free_port
from tests.support import warm
from tests.support.payment.factories import Merchant, make_invoice, make_merchant, pay

SECRET = signing.new_secret()
PATIENCE_S = 60.0


class Running:
    """A command that keeps running, with the lines of its output."""

    def __init__(self, *words: str, key: str) -> None:
        kept = {name: v for name, v in os.environ.items() if not name.startswith("SPECD_")}
        self._process = warm.Popen(
            [sys.executable, "-m", "specd._cli.main", "payment", *words],
            cwd=ROOT,
            env={**kept, "PYTHONPATH": str(ROOT), "KEY": key, "WEBHOOK_SECRET": SECRET},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.told: queue.Queue[str] = queue.Queue()
        self.said: queue.Queue[str] = queue.Queue()
        for stream, lines in (
            (self._process.stdout, self.told),
            (self._process.stderr, self.said),
        ):
            threading.Thread(target=self._read, args=(stream, lines), daemon=True).start()

    @staticmethod
    def _read(stream: Any, lines: queue.Queue[str]) -> None:
        for line in stream:
            lines.put(line.rstrip("\n"))

    def next_output(self) -> str:
        return self.told.get(timeout=PATIENCE_S)

    def next_error(self) -> str:
        return self.said.get(timeout=PATIENCE_S)

    def interrupt(self) -> int:
        """Interrupt the command like Ctrl-C. Return its exit status."""
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(PATIENCE_S)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


@contextmanager
def running(*words: str, key: str) -> Iterator[Running]:
    command = Running(*words, key=key)
    try:
        yield command
    finally:
        command.stop()


class Receiver:
    """The server of a merchant, which records its requests and answers with `status`."""

    def __init__(self) -> None:
        self.got: queue.Queue[tuple[dict[str, str], bytes]] = queue.Queue()
        self.status = 204
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.put(({k.lower(): v for k, v in self.headers.items()}, body))
                self.send_response(receiver.status)
                self.end_headers()

            def log_message(self, *_: object) -> None: ...

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[tuple[Database, Merchant]]:
    url = f"sqlite:///{tmp_path}/payment.db"
    migrate.upgrade(url, "payment")
    database = Database(url)
    yield database, database.run(lambda session: make_merchant(session, now=datetime.now(UTC)))
    database.dispose()


def order(database: Database, ada: Merchant) -> str:
    """Create an invoice. Return its id."""
    now = datetime.now(UTC)
    return database.run(lambda session: make_invoice(session, ada, now=now)).id


def test_events_are_printed_immediately(shop: tuple[Database, Merchant], tmp_path: Path) -> None:
    database, ada = shop
    old = order(database, ada)
    with RunningServer(tmp_path, {}) as server:
        address = ("--url", server.url)
        with (
            running("events", *address, key=ada.key) as new,
            running("events", *address, "--all", "--json", key=ada.key) as every,
        ):
            assert new.next_error() == f"Following the events at {server.url}; Ctrl-C stops it."
            first = json.loads(every.next_output())
            assert (first["type"], first["invoice_id"]) == ("invoice.created", old)
            pay(database, old, at=datetime.now(UTC), head_number=110)
            assert new.next_output().split(" ")[2] == "invoice.payment_received"
            words = new.next_output().split(" ")
            assert words[1:] == [words[1], "invoice.paid", old, "paid"]
            received = json.loads(every.next_output())
            assert received["data"]["payment"]["amount"] == "12500000"
            paid = json.loads(every.next_output())
            assert (paid["id"], paid["type"]) == (words[1], "invoice.paid")
            assert new.interrupt() == 0
        with running("events", *address, "--after", received["id"], key=ada.key) as after:
            assert after.next_output().split(" ")[1] == paid["id"]


def test_listen_forwards_signed_events_and_survives_a_restart_of_the_server(
    shop: tuple[Database, Merchant], tmp_path: Path, receiver: Receiver
) -> None:
    database, ada = shop
    port = free_port()
    words = ("listen", "--url", f"http://127.0.0.1:{port}", "--forward-to", receiver.url)
    with running(*words, key=ada.key) as command:
        assert command.next_error() == "The server does not respond; retrying."
        with RunningServer(tmp_path, {}, port=port):
            assert command.next_error() == "The server responds again."
            assert command.next_error().startswith("Following the events")
            invoice_id = order(database, ada)
            assert " invoice.created " in (line := command.next_output())
            assert " -> 204 No Content, " in line
        assert command.next_error() == "The server does not respond; retrying."
        receiver.status = 500
        now = datetime.now(UTC)
        pay(database, invoice_id, at=now, amount=12_500_001, head_number=110)
        with RunningServer(tmp_path, {}, port=port):
            for kind in ("payment_received", "paid", "overpaid"):
                line = command.next_output()
                assert f" invoice.{kind} {invoice_id} paid over -> 500 " in line
    got = [receiver.got.get(timeout=1) for _ in range(4)]
    assert receiver.got.empty()
    for headers, body in got:
        Webhook(SECRET).verify(body, headers)
        assert headers["content-type"] == "application/json"
    bodies = [json.loads(body) for _, body in got]
    assert [body["type"] for body in bodies] == [
        "invoice.created",
        "invoice.payment_received",
        "invoice.paid",
        "invoice.overpaid",
    ]
    assert bodies[1]["data"]["invoice"]["amount_overpaid"] == "1"
    assert UtcMs.to_ms(datetime.fromisoformat(bodies[1]["timestamp"])) == UtcMs.to_ms(now)


def test_unavailable_receiver_is_reported(shop: tuple[Database, Merchant], tmp_path: Path) -> None:
    database, ada = shop
    order(database, ada)
    nowhere = f"http://127.0.0.1:{free_port()}/"
    with RunningServer(tmp_path, {}) as server:
        words = ("listen", "--url", server.url, "--all", "--forward-to", nowhere)
        with running(*words, key=ada.key) as command:
            assert " -> no response (ConnectError), " in command.next_output()


def test_invalid_input_is_rejected(
    shop: tuple[Database, Merchant], tmp_path: Path, specd: Specd, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("KEY", "WEBHOOK_SECRET"):
        monkeypatch.delenv(name, raising=False)
    _, ada = shop
    with RunningServer(tmp_path, {}) as server:
        there = ("--url", server.url)
        sentence = specd.refusal("payment", "events", *there, "--key", "prk_test_nobody")
        assert sentence.startswith("the server rejected the request: 401: Send a valid API key")
        other = ("--url", f"{server.url}/docs", "--key", ada.key)
        assert "404" in specd.refusal("payment", "events", *other)
        listen = ("payment", "listen", *there, "--key", ada.key, "--forward-to")
        assert "http or https" in specd.refusal(*listen, "ftp://127.0.0.1/")
        warned = specd(*listen, "http://127.0.0.1/", "--secret", "x")[2]
        assert warned.startswith("Warning: other users can see the value of --secret")
        monkeypatch.setenv("WEBHOOK_SECRET", "x")
        assert "whsec_" in specd.refusal(*listen, "http://127.0.0.1/")
        (tmp_path / "secret").write_text("y\n")
        from_file = (*listen, "http://127.0.0.1/", "--secret", f"@{tmp_path / 'secret'}")
        assert "whsec_" in specd.refusal(*from_file)
    status, _, err = specd("payment", "events", *there)
    assert status == 2
    assert "--key" in err


def test_pauses_grow_and_obey_retry_after() -> None:
    left = [(503, "7"), (429, "3"), (500, ""), (502, ""), (404, "")]

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, after = left.pop(0)
            self.send_response(status)
            if after:
                self.send_header("Retry-After", after)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    rests: list[float] = []
    reports: list[str] = []
    feed = Feed(
        f"http://127.0.0.1:{server.server_port}", "k", report=reports.append, rest=rests.append
    )
    with pytest.raises(FeedRefused, match="404: this is not the payment service"):
        feed.newest()
    feed.close()
    server.shutdown()
    server.server_close()
    assert rests == [7.0, 3.0, 5.0, 5.0]
    assert reports == ["The server does not respond; retrying."]
