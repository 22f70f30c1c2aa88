"""`scripts/install` beside a pip that talks: its lines are read only when it fails."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What the script reads, with an interpreter whose pip prints and ends as a file says."""
    for name in ("scripts/install", "setup.cfg", "pyproject.toml", "constraints.txt"):
        target = tmp_path / name
        target.parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, target)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "WARNING: pip talks"\nexit "$(cat "$0.status")"\n')
    python.chmod(0o755)
    return tmp_path


def install(clone: Path, *, pip_ends_with: int) -> subprocess.CompletedProcess[str]:
    (clone / ".venv/bin/python.status").write_text(str(pip_ends_with))
    return subprocess.run([clone / "scripts/install"], capture_output=True, text=True, check=False)


def test_pip_is_not_heard_while_it_succeeds(clone: Path) -> None:
    done = install(clone, pip_ends_with=0)
    said = "Installing specd into .venv (a minute or two) ...\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, "", said)
    again = install(clone, pip_ends_with=1)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


def test_a_failure_names_the_log(clone: Path) -> None:
    done = install(clone, pip_ends_with=7)
    log = clone / ".venv/install.log"
    assert done.returncode == 1
    assert done.stderr.splitlines()[1:] == [
        "WARNING: pip talks",
        f"Installing specd failed; all that pip said is in {log}",
    ]
    assert log.read_text() == "WARNING: pip talks\n"
    assert install(clone, pip_ends_with=0).returncode == 0
