"""A new installation is private to its owner, whatever the umask of the installing user."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.live.running_server import ROOT, START_S, RunningServer
from tests.support import warm


def others_reach(folder: Path) -> list[str]:
    """Return the files below `folder` that are accessible to others."""
    return [
        f"{path} {stat.S_IMODE(path.lstat().st_mode):04o}"
        for path in (folder, *folder.rglob("*"))
        if stat.S_IMODE(path.lstat().st_mode) & 0o077 and not path.is_symlink()
    ]


def minds_termination(pid: int) -> bool:
    """Return whether a process waits for SIGTERM, as workers do.

    All its threads block the signal, except the one that waits for it. While a thread or a child
    starts, the C library blocks every signal for a moment, which is different.
    """
    blocked = [
        int(status.read_text().partition("SigBlk:")[2].split()[0], 16)
        for status in Path(f"/proc/{pid}/task").glob("*/status")
    ]
    termination, another = (1 << (number - 1) for number in (signal.SIGTERM, signal.SIGUSR1))
    return any(mask & termination and not mask & another for mask in blocked)


class Installation:
    """Commands of an operator who takes no precautions."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        plain = {k: v for k, v in os.environ.items() if not k.startswith("SPECD_")}
        self.env = {**plain, "PYTHONPATH": str(ROOT), "SPECD_DATA_DIR": str(data_dir)}

    def specd(self, *words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        return warm.run(
            [sys.executable, "-m", "specd._cli.main", *words],
            env=self.env, input=typed, capture_output=True, text=True, umask=0, cwd="/",
        )  # fmt: skip

    def files(self) -> dict[str, str]:
        """Return the doctor's findings about the files."""
        told = json.loads(self.specd("doctor", "--json").stdout.splitlines()[-1])
        (found,) = [finding for finding in told["findings"] if finding["check"] == "files"]
        return dict(found)

    def worker(self, *words: str) -> subprocess.Popen[str]:
        return warm.Popen(
            [sys.executable, "-m", "specd._cli.main", "worker", *words], env=self.env, umask=0,
            cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path / "var")


def test_nothing_is_for_others(installation: Installation) -> None:
    data_dir = installation.data_dir
    assert installation.specd("migrate").returncode == 0
    made = installation.specd(
        "chat", "create-realm", "--name", "Acme", "--host", "127.0.0.1", "--owner-email",
        "o@acme.example", "--owner-name", "Owner", "--owner-password-file", "-", "--json",
        typed="four score and seven\n",
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    before = os.umask(0)
    try:
        with RunningServer(
            data_dir, {"SPECD_RATE_LIMITS": "true"}, application="app"
        ) as server:  # gunicorn itself, as the deployment guide allows
            form = {"username": "o@acme.example", "password": "four score and seven"}
            answer = httpx.post(f"{server.url}/api/v1/fetch_api_key", data=form)
            assert answer.status_code == 200, answer.text
            httpx.get(f"{server.url}/v1/payment-methods")
            exported = installation.specd("chat", "export", "--realm", "127.0.0.1")
            assert exported.returncode == 0, exported.stderr
            assert installation.files()["state"] == "ok"
            server.log.chmod(0o600)  # created by this test
            found = {path.relative_to(data_dir).parts[0] for path in data_dir.rglob("*")}
            limits = {"chat.request-limits", "payment.request-limits"}
            wanted = {"payment.db", "chat.db", "chat.db-wal", "chat-secret", "metrics", "exports"}
            assert found >= wanted | limits
            assert others_reach(data_dir) == []
    finally:
        os.umask(before)


def test_the_doctor_says_what_is_open(installation: Installation) -> None:
    assert installation.specd("migrate").returncode == 0
    (installation.data_dir / "chat.db").chmod(0o644)
    assert installation.files()["state"] == "ok", "a closed folder closes what is in it"
    installation.data_dir.chmod(0o755)
    told = installation.files()
    assert told["state"] == "broken"
    exposed = f"other users of this machine can access {installation.data_dir}"
    assert told["detail"].startswith(exposed)


@pytest.mark.parametrize(("one", "other"), [("payment", "chat"), ("chat", "payment")])
def test_one_service_needs_its_own_database_only(
    installation: Installation, one: str, other: str
) -> None:
    assert installation.specd("migrate").returncode == 0
    (installation.data_dir / f"{other}.db").unlink()
    with RunningServer(
        installation.data_dir, {}, application=one, words=("serve", "--only", one)
    ) as server:
        assert httpx.get(f"{server.url}/readyz").json()["services"] == {one: "ok"}
    missing = f"Error: The {other} database is not migrated to this release; run `specd migrate`"
    for words in (("serve",), ("serve", "--only", other), ("worker",), ("worker", "--only", other)):
        refused = installation.specd(*words)
        assert (refused.returncode, refused.stderr) == (1, f"{missing} first.\n")
    worker = installation.worker("--only", one)
    try:
        deadline = time.monotonic() + START_S
        while not minds_termination(worker.pid):  # after its jobs have begun
            assert worker.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        worker.terminate()
        _, err = worker.communicate(timeout=START_S)
        assert worker.returncode == 0, err
    finally:
        worker.kill()
        worker.communicate()
