"""`specd chat move`: errors before it starts, and a move."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import pytest

from specd.db import Database
from tests.cli.runner import Specd
from tests.support.databases import place_migrated

HOST = "acme.example"


@pytest.fixture
def source(specd: Specd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the settings of an installation with an organization. This process uses another
    installation.
    """
    for name in ("one", "two"):
        place_migrated(tmp_path / f"{name}.db", "chat")
    use(tmp_path, "one", monkeypatch)
    create_organization(specd, HOST)
    use(tmp_path, "two", monkeypatch)
    file = tmp_path / "one.env"
    file.write_text(
        "# the installation before\n"
        f"SPECD_CHAT_DATABASE_URL=sqlite:///{tmp_path}/one.db\n"
        f'SPECD_CHAT_UPLOAD_DIR="{tmp_path}/one/chat"\n'
    )
    return file


def create_organization(specd: Specd, host: str) -> int:
    """Create an organization. Return its id."""
    made = specd.json(
        "chat", "create-realm", "--name", "Acme", "--host", host, "--owner-email",
        f"ada@{host}", "--owner-name", "Ada",
    )  # fmt: skip
    return int(made["realm_id"])


def use(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECD_DATA_DIR", str(folder / name))
    monkeypatch.setenv("SPECD_CHAT_DATABASE_URL", f"sqlite:///{folder}/{name}.db")
    monkeypatch.setenv("SPECD_CHAT_UPLOAD_DIR", str(folder / name / "chat"))
    monkeypatch.setenv("SPECD_CHAT_EXPORT_DIR", str(folder / name / "exports"))
    monkeypatch.setenv("SPECD_CHAT_SECRET", "one secret of both, of 32 bytes and more")


def words(source: Path, *more: str) -> tuple[str, ...]:
    return ("chat", "move", "--host", HOST, "--from-env", str(source), *more)


def test_moves_and_lists_remaining_steps(specd: Specd, source: Path, tmp_path: Path) -> None:
    switched = tmp_path / "switched"
    status, out, err = specd(*words(source, "--switch-command", f"touch {switched}"))
    assert (status, err) == (0, "")
    assert out.startswith("Organization 1 is at acme.example, with all of its ids. ")
    assert re.search(r"it was stopped for [0-9]\.[0-9] s\.", out)
    assert "the proxy" not in out
    assert "Because the ids are new" not in out
    assert switched.exists()
    again = specd.json(*words(source))
    assert (again["realm_id"], again["stopped_s"], again["keeps_ids"]) == (1, None, True)
    assert specd.refusal(*words(source, "--discard")) == (
        "The organization at acme.example has already moved; there is nothing to discard."
    )


def test_ids_in_use_are_reported(specd: Specd, source: Path) -> None:
    create_organization(specd, "globex.example")
    assert specd.refusal(*words(source, "--keep-ids")) == (
        "The organization cannot keep its ids here: rows of realm have some of them."
    )
    status, out, _ = specd(*words(source))
    assert status == 0
    assert out.startswith("Organization 2 is at acme.example, with new ids. ")
    assert "Because the ids are new:\n- Event queues and presence" in out


def test_id_ranges_of_installations_are_kept(specd: Specd, source: Path) -> None:
    assert specd.json("chat", "number-from", "100000000") == {"first": 100_000_000}
    assert create_organization(specd, "globex.example") == 100_000_000
    assert specd.json(*words(source, "--keep-ids"))["realm_id"] == 1
    specd.json("chat", "number-from", "5")
    assert create_organization(specd, "hooli.example") == 100_000_001
    assert "2000000000" in specd.refusal("chat", "number-from", "2000000001")


def test_failed_switch_can_be_repeated(specd: Specd, source: Path) -> None:
    assert "the switch command failed" in specd.refusal(
        *words(source, "--switch-command", "exit 3")
    )
    status, out, _ = specd(*words(source))
    assert status == 0
    assert "direct the proxy to this installation" in out


def test_discards_a_move(specd: Specd, source: Path) -> None:
    assert specd.json(*words(source, "--discard")) == {"discarded": True}


def test_rejects_a_different_secret(
    specd: Specd, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECD_CHAT_SECRET", "another secret, of 32 bytes and more as well")
    assert "has another SPECD_CHAT_SECRET" in specd.refusal(*words(source))


def test_rejects_a_move_to_the_same_installation(
    specd: Specd, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(tmp_path, "one", monkeypatch)
    assert specd.refusal(*words(source)) == "Both installations have the same chat database."


def test_rejects_another_release(specd: Specd, source: Path, tmp_path: Path) -> None:
    with closing(Database(f"sqlite:///{tmp_path}/one.db")) as database:
        database.run(
            lambda session: (
                session.connection().exec_driver_sql(
                    "UPDATE alembic_version SET version_num='9000'"
                ),
                session.connection().exec_driver_sql(
                    "INSERT INTO schema_compatibility VALUES ('9000', '0001')"
                ),
            )
        )
    assert specd.refusal(*words(source)) == "Both installations need the same release."


def test_rejects_a_file_without_settings(specd: Specd, source: Path) -> None:
    source.write_text("SPECD_CHAT_DATABASE_URL\n")
    assert specd.refusal(*words(source)).endswith("line 1: is not NAME=VALUE.")
    source.write_text("SPECD_CHAT_DATABASES=x\n")
    assert "SPECD_CHAT_DATABASES is not a setting" in specd.refusal(*words(source))
