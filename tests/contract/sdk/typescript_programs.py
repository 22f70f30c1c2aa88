"""The TypeScript programs that drive SDKs, with their compilation and execution."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.contract.sdk.stage import DOCUMENTS, GENERATED, Stage
from tests.contract.sdk.table import calls_of, growth_of
from tests.contract.sdk.writers.hey_api import HeyApi
from tests.contract.sdk.writers.openapi_fetch import OpenapiFetch
from tests.contract.sdk.writers.source import Writer
from tests.contract.sdk.writers.typescript_axios import TypescriptAxios
from tests.contract.sdk.writers.typescript_fetch import TypescriptFetch
from tests.live.running_server import ROOT

MODULES = ROOT / "build" / "tools" / "typescript" / "node_modules"
TSC = MODULES / "typescript" / "bin" / "tsc"
PROJECT = Path(__file__).parent / "typescript"
DRIVES = GENERATED / "drives"
COMPILED = GENERATED / "compiled" / "build" / "sdk"
FIRST_CALLS = Path(__file__).parent / "first_calls"
WRITERS: dict[str, type[Writer]] = {
    writer.sdk: writer for writer in (TypescriptFetch, TypescriptAxios, OpenapiFetch, HeyApi)
}
STEP_S = 600


def node(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    found = shutil.which("node")
    assert found is not None
    return subprocess.run(
        [found, *words],
        env={"PATH": os.environ["PATH"], "NODE_PATH": str(MODULES), **environment},
        capture_output=True,
        text=True,
        timeout=STEP_S,
        check=False,
    )


def are_generated() -> bool:
    """Return whether all inputs of the programs exist."""
    there = all((GENERATED / document / sdk).is_dir() for document in DOCUMENTS for sdk in WRITERS)
    return there and TSC.exists() and shutil.which("node") is not None


def write_programs() -> None:
    """Write a drive of every SDK and document to the directory of the compiler, and the first calls
    next to the SDKs of payment.
    """
    shutil.rmtree(DRIVES, ignore_errors=True)
    DRIVES.mkdir()
    for document in DOCUMENTS:
        for sdk, writer in WRITERS.items():
            for kind, calls in (("", calls_of(document)), ("growth.", growth_of(document))):
                program = writer().program(document, calls)
                (DRIVES / f"{kind}{document}.{sdk}.ts").write_text(program, encoding="utf-8")
    for path in FIRST_CALLS.glob("*.ts"):
        shutil.copy(path, GENERATED / "payment" / f"first.{path.name}")


def typescript_drive(stage: Stage, compiled: Path, sdk: str, kind: str = "") -> None:
    """Run a drive to its end. Raises AssertionError with its output if it fails."""
    done = node(compiled / "drives" / f"{kind}{stage.document}.{sdk}.js", **stage.environment)
    assert done.returncode == 0, done.stderr
