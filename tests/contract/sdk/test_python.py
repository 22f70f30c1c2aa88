"""The Python SDKs that `scripts/sdk` generates make every call of the table and read typed
results.
"""

import os
import subprocess
from pathlib import Path

import pytest

from tests.contract.sdk.stage import (
    DOCUMENTS,
    GENERATED,
    NOT_GENERATED,
    Stage,
    operation_ids,
    staged,
)
from tests.live.running_server import ROOT

PYTHON = ROOT / "build" / "tools" / "sdk-venv" / "bin" / "python"
DRIVES = Path(__file__).parent / "python"
DRIVEN_BY = {"python": "openapi_generator", "python-client": "python_client"}
DRIVE_S = 120


def skip_unless_generated(document: str, sdk: str) -> None:
    if not (GENERATED / document / sdk).is_dir() or not PYTHON.exists():
        pytest.skip(NOT_GENERATED)


def python_drive(stage: Stage, sdk: str) -> None:
    """Run a drive to its end. Raises AssertionError with its output if it fails. Skips the test if
    the SDK does not exist.
    """
    skip_unless_generated(stage.document, sdk)
    done = subprocess.run(
        [PYTHON, DRIVES / f"{DRIVEN_BY[sdk]}.py"],
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(GENERATED / stage.document / sdk),
            **stage.environment,
        },
        capture_output=True,
        text=True,
        timeout=DRIVE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("document", DOCUMENTS)
@pytest.mark.parametrize("sdk", DRIVEN_BY)
def test_sdk_calls_every_operation(sdk: str, document: str, tmp_path: Path) -> None:
    skip_unless_generated(document, sdk)
    with staged(document, tmp_path) as stage:
        python_drive(stage, sdk)
        assert stage.undriven() == {}
        assert stage.unrefused() == {}


def test_operation_that_was_not_called_is_detected(tmp_path: Path) -> None:
    """Verifies the check above."""
    with staged("payment", tmp_path) as stage:
        assert stage.undriven().keys() == set(operation_ids("payment"))
