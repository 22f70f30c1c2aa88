"""The commands that run an installation: their output and their errors."""

import json
import re
import socket
import sqlite3
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

import click
import pytest
from sqlalchemy import Connection
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from settings import Settings
from specd._cli import worker
from specd._cli.main import find_commands, listed
from specd._cli.main import specd as specd_group
from specd._workers.registry import SERVICES
from tests.cli.runner import Specd
from tests.support.postgres import PostgresServer
from wsgi import project

NOBODY = "00000000-0000-4000-8000-000000000000"


class TestWorker:
    @pytest.fixture
    def started(self, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
        """The workers of each start."""
        started: list[tuple[str, ...]] = []
        monkeypatch.setattr(worker, "run", lambda names, settings: started.append(names))
        return started

    @pytest.mark.parametrize(
        "services", [(), ("chat",), ("payment",), ("payment", "chat"), ("chat", "payment")]
    )
    def test_only_accepts_several_services(
        self, specd: Specd, started: list[tuple[str, ...]], services: tuple[str, ...]
    ) -> None:
        specd.json("migrate")
        words = [word for service in services for word in ("--only", service)]
        assert specd("worker", *words)[0] == 0
        workers = {name for service in services or SERVICES for name in SERVICES[service]}
        assert started == [tuple(sorted(workers))]

    def test_only_excludes_the_name_of_a_worker(
        self, specd: Specd, started: list[tuple[str, ...]]
    ) -> None:
        status, _, error = specd("worker", "webhooks", "--only", "chat", "--only", "payment")
        assert (status, started) == (2, [])
        assert "Give workers, or services with --only." in error


class TestMigrate:
    def test_can_be_repeated(self, specd: Specd) -> None:
        assert specd.json("migrate") == {"migrated": list(project.names)}
        assert specd.json("migrate") == {"migrated": list(project.names)}

    def test_reports_its_result(self, specd: Specd) -> None:
        assert specd("migrate") == (0, f"Migrated: {', '.join(project.names)}.\n", "")

    def test_rejects_an_unreachable_database(
        self, specd: Specd, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        url = "postgresql://specd:hush@127.0.0.1:1/specd"
        monkeypatch.setenv("SPECD_PAYMENT_DATABASE_URL", url)
        sentence = specd.refusal("migrate")
        assert sentence.startswith("The database cannot be used: connection failed")
        assert "hush" not in sentence

    def test_rejects_a_file_that_is_not_a_database(self, specd: Specd, tmp_path: Path) -> None:
        (tmp_path / "var").mkdir()
        (tmp_path / "var" / "payment.db").write_text("Dear diary, " * 200)
        sentence = specd.refusal("migrate")
        assert sentence == "The database cannot be used: file is not a database."


@pytest.mark.parametrize(
    "words",
    [
        ("serve",),
        ("worker",),
        ("payment", "create-project", "--name", "Shop", "--xpub", "xpub"),
        ("payment", "create-key", "--project", NOBODY),
        ("payment", "list-keys", "--project", NOBODY),
        ("payment", "revoke-key", "--key", "00000000"),
        ("payment", "pay", NOBODY),
    ],
    ids=" ".join,
)
def test_missing_migration_is_reported_and_creates_no_file(
    specd: Specd, tmp_path: Path, words: tuple[str, ...]
) -> None:
    assert specd.refusal(*words) == (
        "The payment database is not migrated to this release; run `specd migrate` first."
    )
    assert not (tmp_path / "var" / "payment.db").exists()


def test_database_of_a_later_release_is_rejected(specd: Specd, tmp_path: Path) -> None:
    specd.json("migrate")
    with closing(sqlite3.connect(tmp_path / "var" / "chat.db")) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    assert specd.refusal("migrate") == (
        "The chat database is not of this release or an earlier one; restore a backup, or start"
        " with an empty database."
    )


def test_database_with_another_encoding_is_rejected(
    specd: Specd, monkeypatch: pytest.MonkeyPatch, postgres: PostgresServer
) -> None:
    options = "ENCODING 'SQL_ASCII' LOCALE 'C'"
    name = postgres.create(template="template0", options=options)
    monkeypatch.setenv("SPECD_CHAT_DATABASE_URL", postgres.url_of(name))
    try:
        assert specd.refusal("migrate") == (
            "The chat database has the encoding SQL_ASCII, but needs UTF8: create it again with"
            " ENCODING 'UTF8' TEMPLATE template0."
        )
    finally:
        postgres.drop(name)


class TestHelp:
    @pytest.mark.parametrize("name", find_commands())
    def test_lists_the_summary_of_each_command(self, name: str) -> None:
        command = specd_group.get_command(click.Context(specd_group), name)
        assert command is not None
        assert listed(name, find_commands()[name]).get_short_help_str(
            200
        ) == command.get_short_help_str(200)
        assert not command.hidden

    def test_names_every_command(self, specd: Specd) -> None:
        status, out, err = specd("--help")
        assert (status, err) == (0, "")
        lines = out.partition("Commands:\n")[2].splitlines()
        assert [line.split()[0] for line in lines if line[2:3].strip()] == list(find_commands())


class TestConfigCheck:
    def test_lists_every_setting_with_its_origin(
        self, specd: Specd, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SPECD_WORKERS", "3")
        listed = {line["variable"]: line for line in specd.json("config", "check")["settings"]}
        assert set(listed) == {line.variable for line in Settings().describe({})}
        assert listed["SPECD_WORKERS"]["value"] == "3"
        assert listed["SPECD_WORKERS"]["origin"] == "environment"
        assert listed["SPECD_BIND"]["origin"] == "default"

    def test_masks_secrets(self, specd: Specd, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SPECD_PAYMENT_DATABASE_URL", "postgresql://specd:hush@db/specd")
        monkeypatch.setenv("SPECD_CHAIN_RPC_URLS", "https://rpc.test/v3/hush")
        for words in (("config", "check"), ("config", "check", "--json")):
            status, out, err = specd(*words)
            assert status == 0
            assert "hush" not in out + err


@pytest.mark.parametrize(
    "words", [("config", "check"), ("migrate",), ("serve",), ("worker",), ("demo",), ("doctor",)]
)
def test_invalid_setting_stops_every_command(
    specd: Specd, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("SPECD_WORKERS", "lots")
    sentence = specd.refusal(*words)
    assert sentence == "SPECD_WORKERS must be a whole number from 1 to 128."
    assert not (tmp_path / "var").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("pamyent",), "No such command"),
        (("payment", "destroy"), "No such command"),
        (("migrate", "--hard"), "No such option"),
        (("worker", "coffee_maker"), "coffee_maker"),
        (("chain", "--port", "0"), "--port"),
        (("chain", "mine", "-1"), "option"),
        (("serve", "--only", "lunch"), "lunch"),
    ],
)
def test_invalid_command_line_is_reported_in_one_sentence(
    specd: Specd, words: tuple[str, ...], message: str
) -> None:
    assert message.lower() in specd.refusal(*words).lower()


@pytest.mark.parametrize(
    ("owner", "part"), [(Connection, "_has_events"), (HttpToolsProtocol, "_start_asgi_task")]
)
def test_missing_part_of_a_library_is_named(
    specd: Specd, monkeypatch: pytest.MonkeyPatch, owner: type, part: str
) -> None:
    monkeypatch.delattr(owner, part)
    library = owner.__module__.partition(".")[0]
    assert re.fullmatch(
        rf"{library} {re.escape(version(library))} has no \S+:{owner.__name__}\.{part},"
        r" which specd uses; install the versions of constraints\.txt\.",
        specd.refusal("serve"),
    )


@pytest.mark.parametrize("bind", ["0.0.0.0:8691", "[::]:8691", "192.0.2.1:8691"])
def test_reload_is_rejected_on_public_addresses(
    specd: Specd, monkeypatch: pytest.MonkeyPatch, bind: str
) -> None:
    monkeypatch.setenv("SPECD_BIND", bind)
    assert specd.refusal("serve", "--reload") == (
        "--reload shows errors to every client and requires a SPECD_BIND that only this machine"
        f" can reach, such as 127.0.0.1:8080, not {bind}."
    )


def test_missing_requirement_is_named(specd: Specd, monkeypatch: pytest.MonkeyPatch) -> None:
    def need(settings: Settings, only: str | None) -> list[str]:
        import requirement_of_the_project  # type: ignore[import-not-found]

        return [str(requirement_of_the_project)]

    monkeypatch.setattr("specd._cli.migrate.migrate_all", need)
    assert specd.refusal("migrate") == (
        "No module named 'requirement_of_the_project' (`specd --traceback ...` shows where):"
        " check that the requirements of the project are installed."
    )


def test_unexpected_error_is_reported_by_type_without_its_text(
    specd: Specd, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(settings: Settings, only: str | None) -> list[str]:
        raise RuntimeError("hush")

    monkeypatch.setattr("specd._cli.migrate.migrate_all", explode)
    sentence = specd.refusal("migrate")
    assert sentence == "specd failed (RuntimeError); `specd --traceback ...` shows where."
    status, _, err = specd("--traceback", "migrate")
    assert status == 1
    assert "RuntimeError: hush" in err


class TestDoctor:
    def test_finds_a_healthy_database_and_no_chain(
        self, specd: Specd, monkeypatch: pytest.MonkeyPatch, database_url: str
    ) -> None:
        monkeypatch.setenv("SPECD_PAYMENT_DATABASE_URL", database_url)
        monkeypatch.setenv("SPECD_BIND", "127.0.0.1:8691")
        specd.json("migrate")
        found = specd.json("doctor")
        states = {line["check"]: line["state"] for line in found["findings"]}
        assert found["ok"] is True
        # For speed, the suite's PostgreSQL runs without fsync, which the doctor reports.
        fast = database_url.startswith("postgresql") and states["payment database"] == "warning"
        assert states == {
            "python": "ok",
            "clock": "ok",
            "files": "ok",
            "folders": "ok",
            "payment database": "warning" if fast else "ok",
            "chat database": "ok",
            "chat workers": "ok",
            "server": "ok",
            "chain": "warning",
        }

    def test_reports_problems_and_exits_with_1(
        self, specd: Specd, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("SPECD_CHAIN_RPC_URLS", "31337=http://127.0.0.1:1/hush")
        monkeypatch.setenv("SPECD_BIND", "127.0.0.1:8691")
        status, out, _ = specd("doctor", "--json")
        found = json.loads(out)
        broken = {f["check"]: f["detail"] for f in found["findings"] if f["state"] == "broken"}
        assert status == 1
        assert found["ok"] is False
        assert broken == {
            "payment database": "the file does not exist yet; run `specd migrate`.",
            "chat database": "the file does not exist yet; run `specd migrate`.",
            "endpoint 1 (127.0.0.1:1)": "cannot connect.",
        }
        assert not (tmp_path / "var").exists()


class TestDemo:
    @pytest.mark.parametrize("variable", ["SPECD_BIND", "SPECD_CHAIN_PORT"])
    def test_reports_a_used_port_and_starts_nothing(
        self, specd: Specd, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str
    ) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            monkeypatch.setenv("SPECD_BIND", "127.0.0.1:8692")
            monkeypatch.setenv("SPECD_CHAIN_PORT", "8693")
            monkeypatch.setenv(variable, f"127.0.0.1:{port}" if "BIND" in variable else str(port))
            sentence = specd.refusal("demo")
        assert sentence.startswith(f"Cannot listen on 127.0.0.1:{port} (Address already in use)")
        assert sentence.endswith(f"choose another with {variable}.")
        assert not (tmp_path / "var").exists()
