"""The commands of docs/moving.md, and imports that are killed; scripts/import imports a million
messages.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from sqlalchemy import update

from benchmarks.chat import realm as bench
from models.chat.organization.realms import create_realm
from models.chat.tables import User
from specd._db import migrate
from specd.db import Clock, Database
from tests.live import importing
from tests.live.importing import (
    NEW_HOST,
    command,
    compare,
    differences,
    environment,
    import_killed,
    make_archive,
)
from tests.live.running_server import ROOT
from tests.support import warm
from tests.support.chat.people import KEYS
from tests.support.chat.zulip_acme import make_acme
from tests.support.databases import place_migrated
from tests.support.postgres import PostgresServer

PAGE = ROOT / "docs" / "moving.md"
KILLS = 3
SMALL = {
    "PEOPLE": 300, "SUBSCRIBERS": 30, "CHANNELS": 20, "HALL_TOPICS": 3_000, "ACT_MESSAGES": 500,
    "LEAST_MESSAGES": 3_500,
}  # fmt: skip
"""The organization; `scripts/import` has a large one."""


@pytest.fixture(autouse=True)
def _commands_start_warm(monkeypatch: pytest.MonkeyPatch) -> None:
    """The campaign measures commands that start cold. Here only their results count."""
    programs = SimpleNamespace(**vars(subprocess) | {"Popen": warm.Popen})
    monkeypatch.setattr(importing, "subprocess", programs)


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A migrated database without users."""
    if request.param == "sqlite":
        yield place_migrated(tmp_path / "target.db", "chat")
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    name = server.create()
    migrate.upgrade(server.url_of(name), "chat")
    yield server.url_of(name)
    server.drop(name)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archive")
    source = f"sqlite:///{folder}/source.db"
    with patch.multiple(bench, **SMALL):
        messages = bench.LEAST_MESSAGES
        return make_archive(source, folder / "from", messages=messages, files=40, recent=50)


def test_killed_import_ends_with_the_same_organization(
    archive: Path, empty_url: str, tmp_path: Path
) -> None:
    target = tmp_path / "to"
    killed = import_killed(empty_url, target, archive, kills=KILLS, grace_s=(0, 0.1), seed=3)
    assert killed >= 2
    found = compare(empty_url, target, archive)
    assert found.differences == []
    again = command(empty_url, target, str(archive), "--host", NEW_HOST)
    assert again.status == 0
    refused = command(empty_url, target, "--host", NEW_HOST, "--discard")
    assert refused.status == 1
    assert refused.err == f"Error: No unfinished import is at {NEW_HOST}.\n"


def _found_acme(url: str) -> None:
    database = Database(url)
    database.run(
        lambda session: create_realm(
            session, KEYS, name="Acme", host="acme.example", owner_email="cordelia@acme.example",
            owner_name="Cordelia", now=Clock().now(),
        )
    )  # fmt: skip
    database.dispose()


def test_the_comparison_of_the_campaign_sees_a_difference(tmp_path: Path) -> None:
    """scripts/import compares two databases with it."""
    urls = [f"sqlite:///{tmp_path}/{name}.db" for name in ("one", "other")]
    place_migrated(tmp_path / "one.db", "chat")
    _found_acme(urls[0])
    shutil.copy(tmp_path / "one.db", tmp_path / "other.db")
    assert differences(*urls) == []
    other = Database(urls[1])
    other.run(lambda session: session.execute(update(User).values(full_name="Regan")))
    other.dispose()
    assert differences(*urls) == ["user, row 1"]


def blocks() -> list[str]:
    """Return the blocks of commands of the page."""
    return re.findall(r"^```bash\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def _replaced(block: str, *changes: tuple[str, str]) -> str:
    """Return the block with local addresses."""
    for there, here in changes:
        assert there in block
        block = block.replace(there, here)
    return block


def test_the_guide(tmp_path: Path) -> None:
    """The commands, pasted in order on both installations, except those for the server of Zulip."""
    urls = [f"sqlite:///{tmp_path}/{name}.db" for name in ("old", "new")]
    for name in ("old", "new", "two"):
        place_migrated(tmp_path / f"{name}.db", "chat")
    _found_acme(urls[0])

    def paste(block: str, url: str) -> subprocess.CompletedProcess[str]:
        env = {**environment(url, tmp_path / url[-6:-3]), "PYTHONPATH": str(ROOT)}
        with warm.shell() as specd:
            script = re.sub("^specd ", f"{specd} ", block, flags=re.MULTILINE)
            return subprocess.run(
                ["bash", "-euc", script], env=env, cwd=tmp_path, capture_output=True, text=True,
                timeout=300,
            )  # fmt: skip

    exported, checked, imported, discarded, *of_a_move = blocks()[:8]
    numbered, settings, moved, given_up = of_a_move
    *_, from_zulip, to_zulip = blocks()
    done = paste(exported, urls[0])
    assert done.returncode == 0, done.stderr
    (archive,) = re.findall(r"^/.*\.zip$", done.stdout, re.MULTILINE)
    shutil.copy(archive, tmp_path / "acme.zip")
    assert paste(checked, urls[1]).returncode == 0
    done = paste(imported, urls[1])
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Organization 1 is at acme.example: ")
    assert "specd chat renew-key --realm acme.example" in done.stdout
    done = paste(discarded, urls[1])
    assert done.returncode == 1
    assert "No unfinished import" in done.stderr

    urls.append(f"sqlite:///{tmp_path}/two.db")
    done = paste(numbered, urls[2])
    assert done.stdout.startswith("New organizations, users, channels and messages have ids")
    old = ("postgresql+psycopg://specd:PASSWORD@10.0.1.5/specd_chat", urls[0])
    assert paste(_replaced(settings, old, ("/mnt/one", f"{tmp_path}/old")), urls[2]).returncode == 0
    done = paste(_replaced(moved, (" | socat - /run/haproxy/admin.sock", " > switched")), urls[2])
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Organization 1 is at acme.example, with all of its ids. ")
    switched = (tmp_path / "switched").read_text()
    assert switched == "set map /etc/haproxy/hosts.map acme.example two\n"
    done = paste(given_up, urls[2])
    assert done.returncode == 1
    assert "has already moved; there is nothing to discard" in done.stderr

    make_acme(12, passwords=False).write(tmp_path / "acme.tar.gz")
    (tmp_path / "passwords.csv").write_text("desdemona@zulip.example,!\n")
    done = paste(from_zulip, urls[1])
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Organization 2 is at chat.acme.example: ")
    (tmp_path / "migration_status.json").write_text("{}")
    done = paste(to_zulip, urls[0])
    assert done.returncode == 0, done.stderr
    assert re.search(r"^/.*\.tar\.gz$", done.stdout, re.MULTILINE), done.stdout
