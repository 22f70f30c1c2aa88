"""The tools that `scripts/tools` installs, and the documents as files for them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

import specs

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / "build" / "tools"
NODE = TOOLS / "importers" / "node_modules"
PRISM = TOOLS / "prism" / "node_modules" / ".bin" / "prism"
FASTMCP = TOOLS / "fastmcp" / "bin" / "python"
DOCUMENTS = ("payment", "payment-events", "chat")
STEP_S = 180


def skip_without(program: Path) -> None:
    """Skip the test if the tool is not installed."""
    if not program.exists() or (NODE in program.parents and shutil.which("node") is None):
        pytest.skip(f"{program.name} is not there: run scripts/tools")


def write_document(name: str, directory: Path) -> Path:
    """Write the published form of a document. Return the file."""
    file = directory / f"{name}.yaml"
    file.write_bytes(specs.text(name))
    return file


def run(
    *words: str | Path,
    cwd: Path | None = None,
    given: str = "",
    env: Mapping[str, str] | None = None,
    within_s: float = STEP_S,
) -> subprocess.CompletedProcess[str]:
    """Run a tool to its end. Raise TimeoutExpired if it takes longer than `within_s`."""
    return subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        input=given,
        env={**os.environ, "NODE_PATH": str(NODE), **(env or {})},
        capture_output=True,
        text=True,
        timeout=within_s,
        check=False,
    )
