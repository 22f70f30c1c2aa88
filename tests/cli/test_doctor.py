"""`specd doctor` names each state in which the first requests would fail."""

import json
import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

import wsgi
from cli import diagnosis_payment
from settings import Settings
from specd._cli import diagnosis, diagnosis_workers
from specd._cli.diagnosis import connections_of
from specd._cli.folders import require_folders
from specd._db import folders
from specd._workers.registry import SERVICES, expect_all
from specd.db import Database
from tests.cli.runner import Specd
from tests.live.running_server import ROOT, free_port
from tests.support.databases import place_migrated
from tests.support.postgres import PostgresServer
from wsgi import project

FIRST_HOUR = ROOT / "docs" / "deploy" / "first-hour.md"


@pytest.fixture
def ready(specd: Specd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Specd:
    """An installation on SQLite without problems."""
    monkeypatch.setenv("SPECD_BIND", f"127.0.0.1:{free_port()}")
    for service in project.names:
        place_migrated(tmp_path / "var" / f"{service}.db", service)
    assert broken(specd) == {}
    return specd


def broken(specd: Specd, state: str = "broken") -> dict[str, str]:
    """Return check -> detail of the problems that doctor finds in a state."""
    status, out, _ = specd("doctor", "--json")
    found = json.loads(out.splitlines()[-1])["findings"]
    assert status == any(each["state"] == "broken" for each in found)
    return {each["check"]: each["detail"] for each in found if each["state"] == state}


@pytest.mark.parametrize(
    "setting", ["SPECD_METRICS_DIR", "SPECD_CHAT_EXPORT_DIR", "SPECD_CHAT_UPLOAD_DIR"]
)
@pytest.mark.parametrize("command", ["doctor", "serve", "worker"])
def test_unwritable_folder_is_reported(
    ready: Specd, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, setting: str, command: str
) -> None:
    """A file replaces the folder, because root can write to any folder."""
    (tmp_path / "file").touch()
    monkeypatch.setenv(setting, str(tmp_path / "file" / "folder"))
    if (command, setting) == ("worker", "SPECD_METRICS_DIR"):
        require_folders(Settings.from_env(), serves=False)  # its unit may not write to it
        return
    message = broken(ready)["folders"] if command == "doctor" else ready.refusal(command)
    assert str(tmp_path / "file") in message
    assert setting in message


def test_full_disk_is_reported(
    ready: Specd, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folders.tempfile, "mkstemp", fail)
    assert "No space left on device" in broken(ready)["folders"]
    assert "No space left on device" in ready.refusal("serve")


def test_check_of_a_folder_leaves_no_files(ready: Specd, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    assert broken(ready) == {}
    assert sorted(tmp_path.rglob("*")) == before


def test_secret_that_differs_from_the_database_is_reported(
    ready: Specd, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SPECD_CHAT_SECRET", "a" * 32)
    owner = ("--owner-email", "ada@acme.example", "--owner-name", "Ada")
    ready.json("chat", "create-realm", "--name", "Acme", "--host", "acme.example", *owner)
    assert broken(ready) == {}
    monkeypatch.setenv("SPECD_CHAT_SECRET", "b" * 32)
    assert "another secret" in broken(ready)["chat secret"]
    monkeypatch.delenv("SPECD_CHAT_SECRET")
    assert "restore it" in broken(ready)["chat secret"]
    assert not list(tmp_path.rglob("chat-secret")), "doctor must not create a secret"


def test_unreadable_secret_is_reported(ready: Specd, tmp_path: Path) -> None:
    (tmp_path / "var" / "chat-secret").mkdir()
    assert "cannot be read" in broken(ready)["chat secret"]


@pytest.fixture
def refusing() -> Iterator[int]:
    """Return the port of a mail server that rejects every connection."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:

        def refuse() -> None:
            with listening.accept()[0] as peer:
                peer.sendall(b"554 go away\r\n")

        threading.Thread(target=refuse, daemon=True).start()
        yield listening.getsockname()[1]


def test_unavailable_mail_server_is_reported(
    ready: Specd, monkeypatch: pytest.MonkeyPatch, refusing: int
) -> None:
    monkeypatch.setenv("SPECD_MAIL_URL", f"smtp://127.0.0.1:{refusing}")
    assert "554 go away" in broken(ready)["mail"]
    monkeypatch.setenv("SPECD_MAIL_URL", f"smtp://127.0.0.1:{free_port()}")
    assert "refused" in broken(ready)["mail"]


def test_missing_extra_is_reported(ready: Specd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECD_CHAT_UPLOAD_BUCKET", "files")
    monkeypatch.setitem(__import__("sys").modules, "boto3", None)
    monkeypatch.delitem(__import__("sys").modules, "adapters.file_store.s3", raising=False)
    assert "extra s3" in broken(ready)["uploads"]
    message = "SPECD_CHAT_UPLOAD_BUCKET needs the extra s3: pip install 'specd-server[s3]'."
    assert message in ready("doctor")[1], "brackets must be printed as text"
    assert ready.refusal("worker") == message
    with pytest.raises(SystemExit, match="extra s3"):
        _ = wsgi.app


@pytest.mark.parametrize("bind", ["192.0.2.1:8080", "no-such-host.invalid:8080"])
def test_address_of_another_machine_is_not_checked(
    ready: Specd, monkeypatch: pytest.MonkeyPatch, bind: str
) -> None:
    monkeypatch.setattr("httpx.get", lambda *_, **__: pytest.fail("asked another host"))
    monkeypatch.setenv("SPECD_BIND", bind)
    assert f"cannot listen on {bind}" in broken(ready)["server"]


def test_privileged_port_is_reported(ready: Specd, monkeypatch: pytest.MonkeyPatch) -> None:
    def bind(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("specd._cli.diagnosis_machine.listen_at", bind)
    assert "use a port above 1023" in broken(ready)["server"]


def test_used_port_is_reported(ready: Specd, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        other.settimeout(5)
        monkeypatch.setenv("SPECD_BIND", f"127.0.0.1:{other.getsockname()[1]}")
        threading.Thread(target=lambda: other.accept()[0].close(), daemon=True).start()
        assert "does not respond" in broken(ready)["server"]


def test_trusting_all_proxies_and_plain_links_are_reported(
    ready: Specd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECD_TRUSTED_PROXIES", "10.0.0.0/8,::/0")
    assert "::/0" in broken(ready)["proxies"]
    monkeypatch.setenv("SPECD_PUBLIC_URL", "http://pay.example")
    assert "not https" in broken(ready, "warning")["public URL"]


def test_reason_of_the_driver_is_printed(ready: Specd, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"postgresql+psycopg://specd:hush@127.0.0.1:{free_port()}/specd"
    monkeypatch.setenv("SPECD_CHAT_DATABASE_URL", url)
    message = broken(ready)["chat database"]
    assert "refused" in message
    assert "SPECD_CHAT_DATABASE_URL" in message
    assert "hush" not in message


def test_connections_are_compared_with_the_limit_of_the_server(
    specd: Specd, monkeypatch: pytest.MonkeyPatch, postgres_url: str
) -> None:
    monkeypatch.setenv("SPECD_PAYMENT_DATABASE_URL", postgres_url)
    monkeypatch.setenv("SPECD_BIND", f"127.0.0.1:{free_port()}")
    monkeypatch.setenv("SPECD_WORKERS", "1")
    specd.json("migrate")
    name = "payment database's connections"
    assert name not in broken(specd, "warning")
    monkeypatch.setenv("SPECD_DATABASE_POOL_SIZE", "200")
    assert f"may use {connections_of(200)}," in broken(specd, "warning")[name]
    monkeypatch.setattr(diagnosis, "CLOCK_WARNING_S", -1.0)
    assert "differ by" in broken(specd, "warning")["payment database"]


def test_database_of_another_release_gives_one_message(ready: Specd, tmp_path: Path) -> None:
    import sqlite3

    with closing(sqlite3.connect(tmp_path / "var" / "chat.db")) as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
        database.execute("DELETE FROM schema_compatibility")
        database.commit()
    message = {ready.refusal("migrate"), ready.refusal("serve"), ready.refusal("worker")}
    message.add(f"The chat database is {broken(ready)['chat database']}")
    assert len(message) == 1, message
    assert "not of this release or an earlier one" in message.pop()


@pytest.mark.parametrize(("serves", "state"), [(True, "broken"), (False, "warning")])
def test_missing_workers_are_reported(
    ready: Specd, monkeypatch: pytest.MonkeyPatch, serves: bool, state: str
) -> None:
    for service in SERVICES:
        with closing(Database.for_service(service, Settings.from_env())) as database:
            expect_all(service, database)
    gone = ["chat workers", "payment workers"]
    assert not set(gone) & {*broken(ready), *broken(ready, "warning")}
    monkeypatch.setattr(diagnosis_workers, "GONE_S", -1.0)
    monkeypatch.setattr(diagnosis_workers, "_is_served", lambda _: serves)
    message = broken(ready, state)
    assert "uploads" in message["chat workers"]
    assert "chain_watcher" in message["payment workers"]
    assert "start specd worker" in message["payment workers"]


def test_removed_setting_is_reported_and_ignored(
    ready: Specd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("specd._settings.REMOVED", {"SPECD_OLD": "use SPECD_WORKERS"})
    monkeypatch.setenv("SPECD_OLD", "2")
    assert broken(ready) == {}
    assert "SPECD_OLD no longer has an effect: use SPECD_WORKERS." in ready("doctor", "--json")[1]
    status, _, err = ready("config", "check")
    assert (status, err) == (
        0, "Warning: SPECD_OLD no longer has an effect: use SPECD_WORKERS\n"
    )  # fmt: skip
    monkeypatch.setenv("SPECD_OLDER", "2")
    assert "SPECD_OLDER is not a setting" in ready.refusal("doctor")


def test_suggested_sql_creates_role_and_database(
    ready: Specd, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On an empty server, with the SQL of the page, and for a database that another role owns."""
    name, role = f"first_hour_{os.getpid()}", f"operator-{os.getpid()}"
    other = f"{name}_payment"
    url = make_url(postgres.url_of(name)).set(username=role, password="x")
    monkeypatch.setenv("SPECD_CHAT_DATABASE_URL", url.render_as_string(hide_password=False))
    message = broken(ready)["chat database"]
    created = f'CREATE ROLE "{role}" LOGIN PASSWORD'
    assert created in message
    assert "ENCODING 'UTF8' TEMPLATE template0" in message

    def execute(statement: str) -> None:
        superuser = make_url(postgres.url_of("postgres")).set(drivername="postgresql")
        with psycopg.connect(superuser.render_as_string(False), autocommit=True) as connection:
            connection.execute(statement.encode())

    try:
        first, *databases = re.findall(r"^CREATE .*;$", FIRST_HOUR.read_text(), re.MULTILINE)
        execute(re.sub(r"\bspecd\b", f'"{role}"', first))
        for statement in databases:
            made = re.sub(r"\bspecd\b", f'"{role}"', statement)
            execute(re.sub(r"\bspecd_chat\b", name, made.replace("specd_payment", other)))
        ready.json("migrate")
        assert "chat database" not in broken(ready)
        execute(f"DROP DATABASE {name} WITH (FORCE)")
        execute(f"CREATE DATABASE {name}")
        assert "cannot create tables" in broken(ready)["chat database"]
        assert f'ALTER DATABASE {name} OWNER TO "{role}"' in ready.refusal("migrate")
        execute(f'ALTER DATABASE {name} OWNER TO "{role}"')
        ready.json("migrate")
        assert "chat database" not in broken(ready)
    finally:
        for made in (name, other):
            execute(f"DROP DATABASE IF EXISTS {made} WITH (FORCE)")
        execute(f'DROP ROLE IF EXISTS "{role}"')


@pytest.mark.parametrize(
    ("chain_id", "age_s", "is_warned"),
    [
        (84532, 30, False),
        (84532, 2 * 3600, True),
        (31337, 2 * 3600, False),
        (31337, 2 * 365 * 86400, True),
    ],
)
def test_chain_with_an_old_head_gives_a_warning(
    ready: Specd, monkeypatch: pytest.MonkeyPatch, chain_id: int, age_s: int, is_warned: bool
) -> None:
    """Invoices expire by the time of the chain, so they would never expire."""
    answers = {
        "eth_chainId": hex(chain_id),
        "eth_getBlockByNumber": {"number": "0x10", "timestamp": hex(int(time.time()) - age_s)},
    }
    monkeypatch.setattr(
        diagnosis_payment, "call", lambda _, __, method, *___, **____: answers[method]
    )
    monkeypatch.setenv("SPECD_CHAIN_RPC_URLS", f"{chain_id}=http://127.0.0.1:{free_port()}")
    warned = [each for each in broken(ready, "warning").values() if "behind this clock" in each]
    assert bool(warned) is is_warned
    assert all(f"{age_s / 3600:.1f} h" in each for each in warned)
