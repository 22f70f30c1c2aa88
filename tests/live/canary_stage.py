"""A server, its workers and their services, each with secrets that must not be disclosed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from sqlalchemy import create_engine, inspect, make_url, text

from demo.local_server import LocalServer, Reply, Request
from demo.phone import Phone
from demo.push_relay import LocalRelay
from demo.video_vendor import LocalVendor
from specd._cli.main import main
from specd.db import Clock, Database
from tests.adapters.mail.post_office import PASSWORD as MAIL_PASSWORD
from tests.adapters.mail.post_office import USER, PostOffice, open_office
from tests.live.canaries import Canaries, Judge
from tests.live.running_server import ROOT, RunningServer
from tests.support import warm
from tests.support.chat.people import PASSWORD, SECRET, Cast
from tests.support.payment.factories import CHAIN_ID, Merchant, make_merchant

CLIENT_SECRET = "canary-of-the-vendors-client"
NOTICE_TOKEN = "canary-of-the-vendors-notices"
RELAY_KEY = "canary-of-the-relay"
RPC_KEY = "canary-of-the-chain-endpoint"
DATABASE_PASSWORD = "canary-of-the-database"
WORKER_STOP_S = 20.0


@dataclass
class Stage:
    """The parts that a test uses, and the places that it searches afterwards."""

    canaries: Canaries
    judge: Judge
    cast: Cast
    merchant: Merchant
    phone: Phone
    relay: LocalRelay
    relay_server: LocalServer
    vendor_server: LocalServer
    chain_server: LocalServer
    office: PostOffice
    data_dir: Path
    environment: dict[str, str]
    chat_url: str
    payment_url: str
    server: RunningServer
    stop: Callable[[], None]

    def specd(self, *words: str, shows: tuple[str, ...] = (), typed: str = "") -> str:
        """Run a command as the operator, with typed input.

        Return its output, which may contain only the secret `shows`.
        """
        printed = StringIO()
        with (
            pytest.MonkeyPatch.context() as patch,
            redirect_stdout(printed),
            redirect_stderr(printed),
        ):
            patch.setattr("sys.stdin", TextIOWrapper(BytesIO(typed.encode())))
            for name in [name for name in os.environ if name.startswith("SPECD_")]:
                patch.delenv(name)
            for name, value in self.environment.items():
                patch.setenv(name, value)
            with pytest.raises(SystemExit) as ended:
                main(list(words))
        response = httpx.Response(200, content=printed.getvalue().encode())
        self.judge.keep(f"specd {words[:2]} -> {ended.value.code}", response, shows)
        return printed.getvalue()

    def wait_for(self, happened: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + 120
        while not happened():
            assert time.monotonic() < deadline, what
            time.sleep(0.05)

    @contextmanager
    def without(self, url: str, table: str) -> Iterator[None]:
        """Rename a table until the end of the block, so that everything that needs it fails in the
        middle.
        """
        engine = create_engine(make_url(url))
        try:
            with engine.begin() as connection:
                connection.execute(text(f'ALTER TABLE "{table}" RENAME TO away'))
            yield
            with engine.begin() as connection:
                connection.execute(text(f'ALTER TABLE away RENAME TO "{table}"'))
        finally:
            engine.dispose()

    def written(self) -> dict[str, bytes]:
        """Yield all remaining data: every file of the data directory and row of both databases."""
        places = {
            str(path.relative_to(self.data_dir)): path.read_bytes()
            for path in sorted(self.data_dir.rglob("*"))
            if path.is_file()
        }
        for path in sorted(self.data_dir.rglob("*.zip")):
            with zipfile.ZipFile(path) as archive:
                places |= {f"{path.name}/{name}": archive.read(name) for name in archive.namelist()}
        for name, url in (("chat", self.chat_url), ("payment", self.payment_url)):
            places |= rows_of(name, url)
            folder = make_url(url).query.get("host")
            if isinstance(folder, str) and (Path(folder) / "log").exists():
                places["log of the database"] = (Path(folder) / "log").read_bytes()
        return places


def rows_of(name: str, url: str) -> dict[str, bytes]:
    """Yield each table as text with columns and values, and bytes unchanged."""
    places = {}
    engine = create_engine(make_url(url))
    with engine.connect() as connection:
        for table in inspect(connection).get_table_names():
            lines = []
            for row in connection.execute(text(f'SELECT * FROM "{table}"')).mappings():
                for column, value in row.items():
                    is_bytes = isinstance(value, bytes | memoryview)
                    shown = bytes(value) if is_bytes else str(value).encode()
                    lines.append(column.encode() + b" = " + shown)
            places[f"{name}.{table}"] = b"\n".join(lines)
    engine.dispose()
    return places


class Spy:
    """The vendor, which records every code and token that it issues or receives."""

    def __init__(self, vendor: LocalVendor, canaries: Canaries) -> None:
        self._vendor, self._canaries = vendor, canaries

    def __call__(self, request: Request) -> Reply:
        reply = self._vendor(request)
        for name in ("code", "code_verifier"):
            if value := request.form.get(name):
                self._canaries.plant(f"OAuth {name}", value)
        if isinstance(reply.document, dict):
            for name in ("access_token", "refresh_token"):
                if value := reply.document.get(name):
                    self._canaries.plant(f"OAuth {name}", value)
        return reply


def answer_for_chain(request: Request) -> Reply:
    """Return the chain id, and an error for all other methods."""
    asked = request.document
    answer = {"jsonrpc": "2.0", "id": asked.get("id") if isinstance(asked, dict) else None}
    if isinstance(asked, dict) and asked.get("method") == "eth_chainId":
        return Reply(200, answer | {"result": hex(CHAIN_ID)})
    return Reply(200, answer | {"error": {"code": -32000, "message": f"no {request.path}"}})


@contextmanager
def open_stage(data_dir: Path, chat_url: str, payment_url: str, cast: Cast) -> Iterator[Stage]:
    """Run both services and all workers on two databases, with the most verbose logs."""
    canaries = Canaries()
    payment = Database(payment_url)
    merchant = payment.run(lambda session: make_merchant(session, now=Clock().now()))
    payment.dispose()
    phone, log = Phone(), data_dir / "worker.log"
    for name, value in {
        "API key of the owner": cast.cordelia.key,
        "API key of an administrator": cast.iago.key,
        "API key of a member": cast.hamlet.key,
        "API key of another member": cast.othello.key,
        "API key of a bot": cast.reminder.key,
        "API key of another organization": cast.hank.key,
        "payment key": merchant.key,
        "first password": PASSWORD,
        "SPECD_CHAT_SECRET": SECRET.decode(),
        "secret of the OAuth client": CLIENT_SECRET,
        "token of the vendor's notices": NOTICE_TOKEN,
        "key at the relay": RELAY_KEY,
        "key of the chain's endpoint": RPC_KEY,
        "password of the database": DATABASE_PASSWORD,
        "SMTP password": MAIL_PASSWORD,
        "token of the phone": phone.token,
        "push key": phone.key_fields()["push_key"],
    }.items():
        canaries.plant(name, value)
    with ExitStack() as running:

        def serve(counterpart: Callable[[Request], Reply]) -> LocalServer:
            server = LocalServer(counterpart)
            server.start()
            running.callback(server.close)
            return server

        relay = LocalRelay(organization="acme", key=RELAY_KEY)
        # A token that expires immediately is refreshed with every call.
        vendor = LocalVendor(client_id="acme", client_secret=CLIENT_SECRET, access_lifetime_s=2)
        relay_server, vendor_server = serve(relay), serve(Spy(vendor, canaries))
        chain_server = serve(answer_for_chain)
        office = running.enter_context(open_office(login=True))
        mail = f"smtp://{USER}:{quote(MAIL_PASSWORD)}@127.0.0.1:{office.port}?starttls=never"
        settings = {
            "SPECD_CHAT_DATABASE_URL": with_password(chat_url),
            "SPECD_PAYMENT_DATABASE_URL": with_password(payment_url),
            "SPECD_CHAT_SECRET": SECRET.decode(),
            "SPECD_MAIL_URL": mail,
            "SPECD_PUSH_RELAY_URL": relay_server.url,
            "SPECD_PUSH_RELAY_ORGANIZATION": "acme",
            "SPECD_PUSH_RELAY_KEY": RELAY_KEY,
            "SPECD_PUSH_RELAY_TIMEOUT_S": "0.5",
            "SPECD_VIDEO_VENDOR_URL": vendor_server.url,
            "SPECD_VIDEO_VENDOR_CLIENT_ID": "acme",
            "SPECD_VIDEO_VENDOR_CLIENT_SECRET": CLIENT_SECRET,
            "SPECD_VIDEO_VENDOR_NOTICE_TOKEN": NOTICE_TOKEN,
            "SPECD_VIDEO_VENDOR_TIMEOUT_S": "0.5",
            "SPECD_CHAIN_RPC_URLS": f"{chain_server.url}/v3/{RPC_KEY}",
            "SPECD_CHAIN_RPC_TIMEOUT_S": "0.5",
            "SPECD_LOG_LEVEL": "debug",
        }
        environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("SPECD_")},
            "PYTHONPATH": str(ROOT),
            "SPECD_DATA_DIR": str(data_dir),
            **settings,
        }
        with log.open("ab") as out:
            worker = warm.Popen(
                [sys.executable, "-m", "specd._cli.main", "worker"],
                env=environment, cwd=ROOT, stdout=out, stderr=out,
            )  # fmt: skip
        # Both take seconds to start.
        server = RunningServer(data_dir, settings, application="app")

        def stop() -> None:
            worker.send_signal(signal.SIGTERM)
            server.stop()
            try:
                worker.wait(WORKER_STOP_S)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait(5)

        running.callback(stop)
        running.enter_context(server)
        client = running.enter_context(
            httpx.Client(base_url=server.url, timeout=15, trust_env=False)
        )
        yield Stage(
            canaries, Judge(canaries, client, "acme.example"), cast, merchant, phone, relay,
            relay_server, vendor_server, chain_server, office, data_dir, environment, chat_url,
            payment_url, server, stop,
        )  # fmt: skip


def with_password(url: str) -> str:
    """Return a PostgreSQL URL with a password, which a server with trust authentication ignores."""
    made = make_url(url)
    if made.get_backend_name() == "postgresql":
        made = made.set(password=DATABASE_PASSWORD)
    return made.render_as_string(hide_password=False)
