"""The TypeScript SDKs that `scripts/sdk` generates pass `tsc --strict`, make every call of the
table and read typed results.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.contract.sdk.stage import DOCUMENTS, GENERATED, NOT_GENERATED, staged
from tests.contract.sdk.table import calls_of
from tests.contract.sdk.writers.hey_api import HeyApi
from tests.contract.sdk.writers.openapi_fetch import OpenapiFetch
from tests.contract.sdk.writers.source import Writer
from tests.contract.sdk.writers.typescript_fetch import TypescriptFetch
from tests.live.running_server import ROOT

MODULES = ROOT / "build" / "tools" / "typescript" / "node_modules"
TSC = MODULES / "typescript" / "bin" / "tsc"
PROJECT = Path(__file__).parent / "typescript"
DRIVES = GENERATED / "drives"
COMPILED = GENERATED / "compiled" / "build" / "sdk" / "drives"
WRITERS: dict[str, type[Writer]] = {
    writer.sdk: writer for writer in (TypescriptFetch, OpenapiFetch, HeyApi)
}
STEP_S = 120


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


@pytest.fixture(scope="module")
def compiled() -> Path:
    """The drives as JavaScript; `tsc --strict` has found nothing in them nor in any SDK."""
    there = all((GENERATED / document / sdk).is_dir() for document in DOCUMENTS for sdk in WRITERS)
    if not there or not TSC.exists() or shutil.which("node") is None:
        pytest.skip(NOT_GENERATED)
    shutil.rmtree(DRIVES, ignore_errors=True)
    DRIVES.mkdir()
    for document in DOCUMENTS:
        for sdk, writer in WRITERS.items():
            program = writer().program(document, calls_of(document))
            (DRIVES / f"{document}.{sdk}.ts").write_text(program, encoding="utf-8")
    done = node(TSC, "--project", PROJECT)
    assert done.returncode == 0, done.stdout
    return COMPILED


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("sdk", WRITERS)
def test_calls_every_operation(compiled: Path, sdk: str, document: str, tmp_path: Path) -> None:
    with staged(document, tmp_path) as stage:
        done = node(compiled / f"{document}.{sdk}.js", **stage.environment)
        assert done.returncode == 0, done.stderr
        assert stage.undriven() == {}
        assert stage.unrefused() == {}


def test_what_the_types_do_not_say_is_an_error(compiled: Path) -> None:
    """What `tsc --strict` lets through is really typed: sent values, places, and what is there."""
    mistakes = (
        ('"12.5"', "12.5", "TS2322"),
        ('"status"', '"statuss"', "TS2345"),
        ('"none"', '"nonee"', "TS2345"),
        ('"12500000"', "12500000", "TS2345"),
    )
    mistaken = [DRIVES / f"mistaken.{sdk}.ts" for sdk in WRITERS]
    for path in mistaken:
        source = path.with_name(path.name.replace("mistaken", "payment")).read_text()
        for right, wrong, _ in mistakes:
            assert right in source
            source = source.replace(right, wrong, 1)
        path.write_text(source, encoding="utf-8")
    try:
        done = node(TSC, "--project", PROJECT, "--noEmit")
    finally:
        for path in mistaken:
            path.unlink()
    for path in mistaken:
        found = [line for line in done.stdout.splitlines() if path.name in line]
        codes = [line.partition("error ")[2][:6] for line in found]
        assert codes == [code for *_, code in mistakes], done.stdout
