"""A copy of the source, for tests that modify it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from tests.architecture.imports import ROOT, SHIPPED

ADDED = ("setup.cfg", "pyproject.toml", "README.md", "docs", "scripts")
"""Files that tests of the source read, in addition to the shipped ones."""


def copy(source: Path, target: Path) -> None:
    """Copy a file, or a folder with its bytecode, because compiling all of the source takes each
    program seconds. Python recompiles modified files, because their time differs.
    """
    if source.is_file():
        shutil.copy(source, target)
        return
    under_way = shutil.ignore_patterns("*.pyc.*")  # of processes that are compiling now
    shutil.copytree(source, target, ignore=under_way)


def copy_types(folder: Path) -> str:
    """Copy mypy's cache of this checkout and return the option for the copy, or the option for no
    cache if there is none. mypy rechecks only differences; without its cache, it checks every
    library for half a minute.
    """
    target = folder / "mypy"
    for source in (ROOT / ".mypy_cache").rglob("*.db"):
        place = target / source.relative_to(ROOT / ".mypy_cache")
        place.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(source)) as one, closing(sqlite3.connect(place)) as other:
            one.backup(other)  # consistent even while mypy runs
    return f"--cache-dir={target if target.exists() else os.devnull}"


class CopiedTree:
    """A copy of the shipped files and of `others`. Programs run in it as in a separate checkout."""

    def __init__(self, folder: Path, *others: str) -> None:
        self.path = folder / "tree"
        self.path.mkdir()
        for name in (*SHIPPED, *ADDED, *others):
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
        """Run a Python module. Return its status and output."""
        return subprocess.run(
            [sys.executable, "-W", "ignore", "-m", *words],
            cwd=self.path, env={**self.env, **env}, capture_output=True, text=True, timeout=180,
            check=False,
        )  # fmt: skip

    def judge(self, *words: str) -> str:
        """Run a module that must succeed. Return its output."""
        judged = self.run(*words)
        assert judged.returncode == 0, judged.stdout + judged.stderr
        return judged.stdout

    def specd(self, *words: str) -> str:
        """Run a specd command that must succeed. Return its output."""
        return self.judge("specd._cli.main", "--traceback", *words)
