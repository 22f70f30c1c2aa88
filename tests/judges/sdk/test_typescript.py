"""The TypeScript SDKs that `scripts/sdk` generates pass `tsc --strict`, call every operation and
read typed results.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.judges.sdk.stage import ENVIRONMENT_VARIABLE, GENERATED, NOT_GENERATED
from tests.judges.sdk.test_python import staged
from tests.live.running_server import ROOT

MODULES = ROOT / "build" / "tools" / "typescript" / "node_modules"
TSC = MODULES / "typescript" / "bin" / "tsc"
DRIVES = ROOT / "tests" / "sdk" / "typescript"
COMPILED = GENERATED / "drives" / "tests" / "sdk" / "typescript"
SDKS = ("typescript-fetch", "openapi-typescript", "hey-api")
DRIVEN_AS = {"openapi-typescript": "openapi-fetch"}
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
    there = all((GENERATED / s / sdk).is_dir() for s in ("payment", "chat") for sdk in SDKS)
    if not there or not TSC.exists() or shutil.which("node") is None:
        pytest.skip(NOT_GENERATED)
    done = node(TSC, "--project", DRIVES)
    assert done.returncode == 0, done.stdout
    return COMPILED


@pytest.mark.parametrize("service", ["payment", "chat"])
@pytest.mark.parametrize("sdk", SDKS)
def test_calls_every_operation(compiled: Path, sdk: str, service: str, tmp_path: Path) -> None:
    drive = compiled / DRIVEN_AS.get(sdk, sdk) / f"{service}.js"
    with staged(service, tmp_path) as stage:
        done = node(drive, **{ENVIRONMENT_VARIABLE: str(stage.facts)})
        assert done.returncode == 0, done.stderr
        assert stage.undriven() == {}
        assert stage.unrefused() == {}


def test_a_mistyped_property_is_an_error(compiled: Path, tmp_path: Path) -> None:
    """What `tsc --strict` lets through is really typed."""
    sdk = GENERATED / "payment" / "hey-api"
    source = tmp_path / "mistyped.ts"
    source.write_text(
        f'import type {{ Invoice }} from "{sdk}";\n'
        "export const read = (invoice: Invoice): number => invoice.amount;\n"
        "export const miss = (invoice: Invoice): string => invoice.amont;\n"
    )
    done = node(TSC, "--strict", "--noEmit", "--module", "Node16", "--skipLibCheck", source)
    assert "error TS2322" in done.stdout
    assert "error TS2551" in done.stdout
