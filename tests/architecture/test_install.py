"""`scripts/install` with a pip that prints, whose output is shown only if it fails, and with
unsuitable Pythons.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a copy of the files that the script reads, with an interpreter whose pip prints and
    exits as configured in a file.
    """
    for name in ("scripts/install", "setup.cfg", "pyproject.toml", "constraints.txt"):
        target = tmp_path / name
        target.parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, target)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "WARNING: pip talks"\nexit "$(cat "$0.status")"\n')
    python.chmod(0o755)
    return tmp_path


def run(clone: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    known = {name: value for name, value in os.environ.items() if name != "PYTHON"}
    return subprocess.run(
        [clone / "scripts/install"],
        capture_output=True, text=True, check=False, env={**known, **environment},
    )  # fmt: skip


def install(clone: Path, *, pip_ends_with: int) -> subprocess.CompletedProcess[str]:
    (clone / ".venv/bin/python.status").write_text(str(pip_ends_with))
    return run(clone)


def only_with(clone: Path, **pythons: str) -> Path:
    """Return a PATH with only these Pythons, which answer the script's questions as given."""
    shutil.rmtree(clone / ".venv")
    path = clone / "path"
    path.mkdir()
    for tool in ("bash", "cat", "cksum", "dirname", "env", "rm"):
        (path / tool).symlink_to(str(shutil.which(tool)))
    for name, answer in pythons.items():
        (path / name).write_text(f"#!/bin/sh\necho '{answer}'\n")
        (path / name).chmod(0o755)
    return path


def test_output_of_pip_is_hidden_if_it_succeeds(clone: Path) -> None:
    done = install(clone, pip_ends_with=0)
    message = "Installing specd [services] into .venv (a minute or two) ...\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, "", message)
    again = install(clone, pip_ends_with=1)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


def test_failure_names_the_log(clone: Path) -> None:
    done = install(clone, pip_ends_with=7)
    log = clone / ".venv/install.log"
    assert done.returncode == 1
    assert done.stderr.splitlines()[1:] == [
        "WARNING: pip talks",
        f"Installing specd failed; all that pip said is in {log}",
    ]
    assert log.read_text() == "WARNING: pip talks\n"
    assert install(clone, pip_ends_with=0).returncode == 0


NEWER = "install it (Debian, Ubuntu: apt install python3 python3-venv)."


@pytest.mark.parametrize(
    ("pythons", "asked", "message"),
    [
        ({}, {}, f"Python 3.11 or newer is needed, and Python is not here: {NEWER}"),
        (
            {"python3": "old 3.9", "python": "old 2.7"},
            {},
            f"Python 3.11 or newer is needed, and python3 is 3.9: {NEWER}",
        ),
        (
            {"python3": "bare 3.14"},
            {},
            "Python 3.14 is here, but not its venv: "
            "install it (Debian, Ubuntu: apt install python3.14-venv).",
        ),
        (
            {"python3": "good 3.14", "mine": "old 3.10"},
            {"PYTHON": "mine"},
            f"Python 3.11 or newer is needed, and mine is 3.10: {NEWER}",
        ),
        (
            {"python3": "good 3.14"},
            {"PYTHON": "python3.13"},
            f"Python 3.11 or newer is needed, and python3.13 is not here: {NEWER}",
        ),
    ],
    ids=["absent", "too old", "without venv", "the named one is too old", "named and absent"],
)
def test_missing_python_is_reported_in_one_sentence(
    clone: Path, pythons: dict[str, str], asked: dict[str, str], message: str
) -> None:
    path = only_with(clone, **pythons)
    done = run(clone, PATH=str(path), **asked)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"{message}\n")
    assert not (clone / ".venv").exists()


def test_requested_python_replaces_the_first_one(clone: Path) -> None:
    """Both create the .venv that this test examines. A fake Python reports which one it is."""
    path = only_with(clone, good="good 3.14", other="good 3.11")
    for name, version in (("good", "3.14"), ("other", "3.11")):
        (path / name).write_text(
            '#!/bin/sh\n[ "$1" != -m ] && echo "good ' + version + '" && exit\n'
            '[ "$2" != venv ] || { mkdir -p .venv/bin && cp "$0" .venv/bin/python; }\n'
        )
    whole = f"{path}:{os.environ['PATH']}"
    for asked, has in (("good", "3.14"), ("other", "3.11"), ("", "3.11"), ("good", "3.14")):
        done = run(clone, PATH=whole, **({"PYTHON": asked} if asked else {}))
        assert done.returncode == 0, done.stderr
        assert f"good {has}" in (clone / ".venv/bin/python").read_text()
        assert bool(done.stderr) == bool(asked), "recreated without need"
