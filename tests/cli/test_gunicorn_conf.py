"""The configuration of gunicorn that affects only the arbiter."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PROGRAM = """
import gc, json
from specd._cli import gunicorn_conf
before = gc.get_freeze_count(), gc.isenabled()
gunicorn_conf.when_ready(None)
print(json.dumps([*before, gc.get_freeze_count(), gc.isenabled(), gc.get_threshold()[0]]))
"""


def run(program: str, directory: Path) -> list[Any]:
    """Return the output of a program that configures gunicorn with a data directory."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={"SPECD_DATA_DIR": str(directory), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    printed: list[Any] = json.loads(done.stdout)
    return printed


def test_compiled_objects_are_excluded_from_garbage_collection(tmp_path: Path) -> None:
    before, was_on, frozen, is_on, threshold = run(PROGRAM, tmp_path)
    assert (before, was_on) == (0, False)
    assert frozen > 10_000
    assert is_on
    assert threshold == 20_000
