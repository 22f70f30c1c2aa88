"""A copy of the source, for tests that write into it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from tests.architecture.imports import ROOT, SHIPPED

BESIDE = ("setup.cfg", "pyproject.toml", "README.md", "docs", "scripts")
"""What the tests of the source read, beyond what ships."""


def copy(source: Path, target: Path) -> None:
    """Copy a file, or a folder with its bytecode: to compile all of the source again takes each
    program seconds. Python compiles again what is edited, because its time is another one.
    """
    if source.is_file():
        shutil.copy(source, target)
        return
    under_way = shutil.ignore_patterns("*.pyc.*")  # of processes that compile at this moment
    shutil.copytree(source, target, ignore=under_way)


def copy_types(folder: Path) -> str:
    """Copy mypy's cache of this checkout, if there is one, and return the option that names the
    copy. mypy checks again what differs: without its cache, every library for half a minute.
    """
    target = folder / "mypy"
    for source in (ROOT / ".mypy_cache").rglob("*.db"):
        place = target / source.relative_to(ROOT / ".mypy_cache")
        place.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(source)) as one, closing(sqlite3.connect(place)) as other:
            one.backup(other)  # whole, even while mypy runs
    return f"--cache-dir={target}"


class CopiedTree:
    """A copy of what ships and of `others`; programs run in it as in a checkout of its own."""

    def __init__(self, folder: Path, *others: str) -> None:
        self.path = folder / "tree"
        self.path.mkdir()
        for name in (*SHIPPED, *BESIDE, *others):
            source, target = ROOT / name, self.path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            copy(source, target)
        self.env = {
            **{name: value for name, value in os.environ.items() if "SPECD_" not in name},
            "PYTHONPATH": str(self.path),
            "PYTHON": sys.executable,
            "SPECD_DATA_DIR": str(folder / "var"),
        }

    def run(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Run a module of Python, and return its status and what it has printed."""
        return subprocess.run(
            [sys.executable, "-W", "ignore", "-m", *words],
            cwd=self.path, env={**self.env, **env}, capture_output=True, text=True, timeout=180,
            check=False,
        )  # fmt: skip

    def judge(self, *words: str) -> str:
        """Run a module that must find nothing to complain of, and return what it has printed."""
        judged = self.run(*words)
        assert judged.returncode == 0, judged.stdout + judged.stderr
        return judged.stdout

    def specd(self, *words: str) -> str:
        """Run a command of specd that must succeed, and return what it has printed."""
        return self.judge("specd._cli.main", "--traceback", *words)
