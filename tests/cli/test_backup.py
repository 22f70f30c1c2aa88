"""`specd backup` and `specd restore`: an installation can be restored from its backup alone."""

import os
import shutil
import sqlite3
import stat
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from gunicorn.app import wsgiapp

from adapters import backup_folder
from adapters.file_store.directory import DirectoryStore
from cli.backup import settings_text
from models.chat.identity.actors import authenticate
from settings import Settings
from specd._cli import worker
from specd.db import Database
from tests.cli.runner import XPUB, Specd
from tests.live.running_server import ROOT

REALM = (
    *("chat", "create-realm", "--name", "Acme", "--host", "acme.example"),
    *("--owner-email", "ada@acme.example", "--owner-name", "Ada"),
)
UPLOADS = {"2/" + f"{number:032x}": os.urandom(300_000 * number) for number in range(3)}
EXPORT = b"an archive"
MAIL = b"Subject: Hello\n\n"


@dataclass(frozen=True)
class Installation:
    """A data directory with an organization, a project and files."""

    data_dir: Path
    owner: dict[str, Any]
    project: str
    key: str


@pytest.fixture(scope="module")
def template() -> list[Installation]:
    """The first installation, which is copied for the others."""
    return []


@pytest.fixture
def installation(
    specd: Specd, tmp_path: Path, template: list[Installation],
    tmp_path_factory: pytest.TempPathFactory,
) -> Installation:  # fmt: skip
    if not template:
        made = make_installation(specd, tmp_path / "var")
        kept = tmp_path_factory.mktemp("template") / "var"
        (tmp_path / "var").rename(kept)
        template.append(replace(made, data_dir=kept))
    shutil.copytree(template[0].data_dir, tmp_path / "var")
    return replace(template[0], data_dir=tmp_path / "var")


def make_installation(specd: Specd, data_dir: Path) -> Installation:
    assert specd("migrate")[0] == 0
    owner = specd.json(*REALM)
    made = specd.json("payment", "create-project", "--name", "Shop", "--xpub", XPUB)
    project = str(made["project_id"])
    key = str(specd.json("payment", "create-key", "--project", project)["key_id"])
    settings = Settings.from_env()
    for name, content in UPLOADS.items():
        arrived = data_dir / "arrived"
        arrived.write_bytes(content)
        DirectoryStore(settings.chat_upload_dir / "files").put(name, arrived)
    settings.chat_export_dir.mkdir()
    (settings.chat_export_dir / "acme.zip").write_bytes(EXPORT)
    (settings.chat_export_dir / "half.zip.part").write_bytes(EXPORT)
    (data_dir / "outbox").mkdir()
    (data_dir / "outbox" / "1.eml").write_bytes(MAIL)
    return Installation(data_dir, owner, project, key)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Path]:
    """Return a function that changes to the empty data directory of another machine."""

    def change() -> Path:
        monkeypatch.setenv("SPECD_DATA_DIR", str(tmp_path / "restored" / "var"))
        return tmp_path / "restored" / "var"

    return change


def require_same(installation: Installation, data_dir: Path, specd: Specd) -> None:
    """Assert that the present installation has the same contents as the given one."""
    owner = installation.owner
    with (
        closing(Database(f"sqlite:///{data_dir / 'chat.db'}")) as database,
        database.reading() as reader,
    ):
        email, key = owner["email"], owner["api_key"]
        actor = authenticate(reader, host="acme.example", email=email, api_key=key)
        assert actor.id == owner["user_id"]
    (key,) = specd.json("payment", "list-keys", "--project", installation.project)["keys"]
    assert key["key_id"] == installation.key
    for service in ("payment", "chat"):
        name = f"{service}-secret"
        assert (data_dir / name).read_bytes() == (installation.data_dir / name).read_bytes()
    store = DirectoryStore(data_dir / "uploads" / "files")
    assert {key: b"".join(store.read(key)) for key in UPLOADS} == UPLOADS
    assert (data_dir / "exports" / "acme.zip").read_bytes() == EXPORT
    assert (data_dir / "outbox" / "1.eml").read_bytes() == MAIL
    assert not (data_dir / "exports" / "half.zip.part").exists()


def find_open(folder: Path) -> list[Path]:
    """Return the files that other users could read."""
    places = [folder, *folder.rglob("*")]
    return [path for path in places if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)]


def test_restore_on_an_empty_machine_gives_the_same_installation(
    specd: Specd, installation: Installation, elsewhere: Callable[[], Path], tmp_path: Path
) -> None:
    folder = tmp_path / "backup"
    made = specd.json("backup", str(folder))
    assert made["elsewhere"] == []
    assert specd.json("restore", "--check", str(folder)) == {
        "files": made["files"], "bytes": made["bytes"]
    }  # fmt: skip
    assert find_open(folder) == []
    data_dir = elsewhere()
    restored = specd.json("restore", str(folder))
    assert (restored["files"], restored["elsewhere"]) == (made["files"], [])
    assert find_open(data_dir) == []
    for words in (("migrate",), ("payment", "after-restore"), ("chat", "after-restore")):
        specd.json(*words)
    require_same(installation, data_dir, specd)
    left = [path.name for path in data_dir.rglob("*") if path.name.endswith((".part", "restoring"))]
    assert left == []


def test_backup_text_names_the_next_steps(
    specd: Specd, installation: Installation, elsewhere: Callable[[], Path], tmp_path: Path
) -> None:
    assert f"are in {tmp_path / 'backup'}" in specd("backup", str(tmp_path / "backup"))[1]
    assert "is complete" in specd("restore", "--check", str(tmp_path / "backup"))[1]
    elsewhere()
    out = specd("restore", str(tmp_path / "backup"))[1]
    for command in ("migrate", "payment after-restore", "chat after-restore", "doctor"):
        assert f"`specd {command}`" in out


class Killed(BaseException):
    """Raised where the process is killed."""


def end(*_: object, **__: object) -> None:
    raise Killed


@pytest.fixture
def kill_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Kill the process when it syncs the given number of files, or renames as many."""
    sync, rename = os.fsync, Path.replace
    left = [1_000_000]

    def step() -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Killed

    def killed_sync(descriptor: int) -> None:
        step()
        sync(descriptor)

    def killed_rename(path: Path, target: Path) -> Path:
        step()
        return rename(path, target)

    monkeypatch.setattr(os, "fsync", killed_sync)
    monkeypatch.setattr(Path, "replace", killed_rename)
    return lambda steps: left.__setitem__(0, steps)


def kept(folder: Path) -> dict[str, int]:
    """Return the inodes of the uploaded files in a backup."""
    return {path.name: path.stat().st_ino for path in folder.glob("uploads/*/*/*[0-9a-f]")}


def test_backup_continues_after_each_kill(
    specd: Specd, installation: Installation, elsewhere: Callable[[], Path], tmp_path: Path,
    kill_at: Callable[[int], None],
) -> None:  # fmt: skip
    folder = tmp_path / "backup"
    steps, before = 0, kept(folder)
    while True:
        kill_at(steps)
        try:
            specd("backup", str(folder))
            break
        except Killed:
            kill_at(1_000_000)
            copied = kept(folder)
            assert before.items() <= copied.items(), "a file was copied twice"
            before = copied
            assert "unfinished" in specd.refusal("restore", str(folder)) or not before
        steps += 3
    kill_at(1_000_000)
    assert steps > 20
    assert kept(folder) == before or len(kept(folder)) == len(UPLOADS)
    data_dir = elsewhere()
    specd.json("restore", str(folder))
    require_same(installation, data_dir, specd)


def test_restore_continues_after_each_kill(
    specd: Specd, installation: Installation, elsewhere: Callable[[], Path], tmp_path: Path,
    kill_at: Callable[[int], None], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    started: list[str] = []
    monkeypatch.setattr(wsgiapp, "run", lambda **_: started.append("serve"))
    monkeypatch.setattr(worker, "run", lambda *_: started.append("worker"))
    folder = tmp_path / "backup"
    specd.json("backup", str(folder))
    data_dir = elsewhere()
    steps = 0
    while True:
        kill_at(steps)
        try:
            specd("restore", str(folder))
            break
        except Killed:
            kill_at(1_000_000)
            if (data_dir / "restoring").exists():
                for command in ("serve", "worker", "migrate"):
                    assert "`specd restore` again" in specd.refusal(command)
                findings = specd("doctor", "--json")[1]
                assert "The restore of this installation is not finished" in findings
        steps += 4
    kill_at(1_000_000)
    assert steps >= 20
    assert started == []
    require_same(installation, data_dir, specd)


def test_files_only_in_an_interrupted_backup_are_removed(
    specd: Specd, installation: Installation, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    folder = tmp_path / "backup"
    with monkeypatch.context() as patched:
        patched.setattr(time, "time", lambda: 1_000)
        patched.setattr(backup_folder.BackupWriter, "finish", end)
        with pytest.raises(Killed):
            specd("backup", str(folder))
    gone = next(iter(UPLOADS))
    DirectoryStore(installation.data_dir / "uploads" / "files").delete(gone)
    (folder / "uploads" / "half.part").touch()
    os.utime(folder / "uploads" / "half.part", (1_000, 1_000))
    specd.json("backup", str(folder))
    assert set(kept(folder)) == {key[2:] for key in UPLOADS} - {gone[2:]}
    assert not (folder / "uploads" / "half.part").exists()


@pytest.mark.parametrize("present", ["file", "finished", "other", "locked"])
def test_folder_with_other_files_is_rejected(
    specd: Specd, installation: Installation, tmp_path: Path, present: str
) -> None:
    folder = tmp_path / "backup"
    match present:
        case "finished":
            specd.json("backup", str(folder))
        case "locked":
            with backup_folder.open_backup(folder, "x"):
                assert "Another process" in specd.refusal("backup", str(folder))
            return
        case "other":
            with backup_folder.open_backup(folder, "another installation"):
                pass
        case "file":
            folder.mkdir(mode=0o755)
            (folder / "diary").write_text("Dear diary")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert specd.refusal("backup", str(folder)).endswith("name a new folder.")
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_backup_does_not_create_parent_folders(
    specd: Specd, installation: Installation, tmp_path: Path
) -> None:
    """Otherwise a backup to an unmounted disk would create a folder of that name."""
    assert "No such file" in specd.refusal("backup", str(tmp_path / "unmounted" / "backup"))


@pytest.mark.parametrize(
    "present",
    ["chat.db", "payment.db-wal", "chat-secret", "exports/a.zip", "outbox/a.eml",
     "uploads/files/2/aa/aab"],
)  # fmt: skip
def test_restore_over_data_is_rejected(
    specd: Specd, installation: Installation, elsewhere: Callable[[], Path], tmp_path: Path,
    present: str,
) -> None:  # fmt: skip
    specd.json("backup", str(tmp_path / "backup"))
    data_dir = elsewhere()
    (data_dir / present).parent.mkdir(parents=True)
    (data_dir / present).write_text("data")
    assert "a restore overwrites nothing" in specd.refusal("restore", str(tmp_path / "backup"))
    assert [path for path in data_dir.rglob("*") if path.is_file()] == [data_dir / present]


def damage(folder: Path, how: str) -> None:
    database = folder / "databases" / "chat.db"
    manifest = folder / "manifest.jsonl"
    lines = manifest.read_bytes().splitlines(keepends=True)
    match how:
        case "changed":
            content = bytearray(database.read_bytes())
            content[5000] ^= 1
            database.write_bytes(content)
        case "shorter":
            os.truncate(database, 4096)
        case "missing":
            database.unlink()
        case "link":
            database.rename(folder / "aside")
            database.symlink_to(folder / "aside")
        case "half a manifest":
            manifest.write_bytes(b"".join(lines[:4]))
        case "half a line":
            manifest.write_bytes(b"".join(lines)[:-9])
        case "one file less":
            manifest.write_bytes(b"".join([*lines[:2], *lines[3:]]))
        case "outside":
            line = b'{"name":"exports/../../stolen","bytes":0,"sha256":""}\n'
            manifest.write_bytes(b"".join([lines[0], line, *lines[1:]]))
        case "another form":
            manifest.write_bytes(lines[0].replace(b'"version":1', b'"version":2'))
        case "noise":
            manifest.write_bytes(os.urandom(1000))


@pytest.mark.parametrize(
    "how",
    ["changed", "shorter", "missing", "link", "half a manifest", "half a line", "one file less",
     "outside", "another form", "noise"],
)  # fmt: skip
def test_damaged_backup_is_rejected_before_anything_is_written(
    specd: Specd, installation: Installation, elsewhere: Callable[[], Path], tmp_path: Path,
    how: str,
) -> None:  # fmt: skip
    folder = tmp_path / "backup"
    specd.json("backup", str(folder))
    specd.json("restore", "--check", str(folder))
    damage(folder, how)
    data_dir = elsewhere()
    for words in (("--check",), ()):
        sentence = specd.refusal("restore", *words, str(folder))
        assert "damaged" in sentence or "cannot be read" in sentence or "manifest" in sentence
    assert [path for path in data_dir.rglob("*") if path.is_file()] == []


def test_folder_without_a_backup_is_rejected(specd: Specd, tmp_path: Path) -> None:
    assert specd.refusal("restore", str(tmp_path)).endswith("is not a backup.")


def test_changed_copy_of_an_unfinished_restore_is_not_overwritten(
    specd: Specd, installation: Installation, elsewhere: Callable[[], Path], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    specd.json("backup", str(tmp_path / "backup"))
    data_dir = elsewhere()
    unlink = Path.unlink

    def unlink_data(path: Path, missing_ok: bool = False) -> None:
        if path.name == "restoring":
            raise Killed
        unlink(path, missing_ok)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", unlink_data)
        with pytest.raises(Killed):
            specd("restore", str(tmp_path / "backup"))
    assert (data_dir / "restoring").exists()
    (data_dir / "payment.db").write_text("somebody's data")
    assert "changed since" in specd.refusal("restore", str(tmp_path / "backup"))
    assert (data_dir / "payment.db").read_text() == "somebody's data"


def test_different_secret_of_the_machine_is_rejected(
    specd: Specd, installation: Installation, elsewhere: Callable[[], Path], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    specd.json("backup", str(tmp_path / "backup"))
    secret = (installation.data_dir / "chat-secret").read_text()
    data_dir = elsewhere()
    monkeypatch.setenv("SPECD_CHAT_SECRET", "b" * 32)
    assert "SPECD_CHAT_SECRET is another secret" in specd.refusal(
        "restore", str(tmp_path / "backup")
    )
    monkeypatch.setenv("SPECD_CHAT_SECRET", secret)
    specd.json("restore", str(tmp_path / "backup"))
    assert not (data_dir / "chat-secret").exists(), "the setting has this secret"


def test_backup_with_a_secret_that_differs_from_the_database_is_rejected(
    specd: Specd, installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECD_CHAT_SECRET", "b" * 32)
    assert "another SPECD_CHAT_SECRET" in specd.refusal("backup", str(tmp_path / "backup"))


def test_single_service_is_backed_up(
    specd: Specd, installation: Installation, elsewhere: Callable[[], Path], tmp_path: Path
) -> None:
    (installation.data_dir / "chat.db").unlink()
    assert "chat" in specd.refusal("backup", str(tmp_path / "all"))
    specd.json("backup", "--only", "payment", str(tmp_path / "backup"))
    data_dir = elsewhere()
    specd.json("restore", str(tmp_path / "backup"))
    assert {path.name for path in data_dir.iterdir()} == {"payment.db", "payment-secret"}


def test_postgresql_database_needs_a_separate_backup(
    specd: Specd, chat_postgres: tuple[str, Any], elsewhere: Callable[[], Path], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("SPECD_CHAT_DATABASE_URL", chat_postgres[0])
    specd.json("migrate")
    folder = tmp_path / "backup"
    status, out, err = specd("backup", str(folder))
    assert (status, err) == (0, "")
    assert "The chat database is PostgreSQL" in out
    assert "pg_dump" in out
    assert sorted(path.name for path in (folder / "databases").iterdir()) == ["payment.db"]
    assert (folder / "secrets" / "chat-secret").exists()
    data_dir = elsewhere()
    monkeypatch.delenv("SPECD_CHAT_DATABASE_URL")
    assert "names another kind" in specd.refusal("restore", str(folder))
    monkeypatch.setenv("SPECD_CHAT_DATABASE_URL", chat_postgres[0])
    assert "Restore the chat database" in specd("restore", str(folder))[1]
    assert (data_dir / "chat-secret").exists()


def test_settings_are_restored_in_the_form_that_the_wrapper_reads(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s" * 40 + "\n")
    env = {
        "SPECD_PUBLIC_URL": "https://pay.example",
        "SPECD_MAIL_FROM": '"specd" <noreply@localhost>',
        "SPECD_CHAIN_RPC_URLS": "1=https://a.example/$KEY?a=b&c=`d`",
        "SPECD_MAIL_URL": "file:///var/it's",
        "SPECD_CHAT_SECRET_FILE": str(secret),
        "SPECD_WORKERS": "",
        "SPECD_PROJECT": "/elsewhere",
        "PATH": os.environ["PATH"],
    }
    expected = {k: v for k, v in env.items() if k.startswith("SPECD_") and v}
    del expected["SPECD_PROJECT"]
    expected["SPECD_CHAT_SECRET"] = "s" * 40
    del expected["SPECD_CHAT_SECRET_FILE"]
    settings = tmp_path / "specd.env"
    settings.write_text(settings_text({**env, "SPECD_MAIL_URL": "file:///var/its"}))
    assert "/elsewhere" not in settings.read_text()
    expected["SPECD_MAIL_URL"] = "file:///var/its"
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nenv\n")
    program.chmod(0o755)
    script = (ROOT / "docs" / "deploy" / "specd").read_text()
    script = script.replace("/etc/specd.env", str(settings))
    script = script.replace("/opt/specd/.venv/bin/specd", str(program))
    script = script.replace("setpriv --reuid=specd --regid=specd --init-groups", "setpriv")
    script = script.replace("-o specd -g specd -m 700 /var/lib/specd /run", str(tmp_path / "run"))
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    read = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    assert read.pop("SPECD_PROJECT") == "/opt/specd"
    assert {k: v for k, v in read.items() if k.startswith("SPECD_")} == expected


def test_setting_that_no_line_can_contain_is_rejected(
    specd: Specd, installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECD_MAIL_FROM", 'it\'s "a" <noreply@localhost>')
    assert "SPECD_MAIL_FROM" in specd.refusal("backup", str(tmp_path / "backup"))


def test_backup_includes_changes_that_are_only_in_the_log(
    specd: Specd, installation: Installation, elsewhere: Callable[[], Path], tmp_path: Path
) -> None:
    file = installation.data_dir / "payment.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("UPDATE project SET name = 'Bakery'")
        connection.commit()
        assert Path(f"{file}-wal").stat().st_size > 0
        specd.json("backup", str(tmp_path / "backup"))
    elsewhere()
    specd.json("restore", str(tmp_path / "backup"))
    (project,) = specd.json("payment", "list-projects")["projects"]
    assert project["name"] == "Bakery"
