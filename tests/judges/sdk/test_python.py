"""The Python SDKs that `scripts/sdk` generates call every operation and read typed results."""

import os
import subprocess
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.judges.sdk.chat_stage import chat_stage
from tests.judges.sdk.payment_stage import payment_stage
from tests.judges.sdk.stage import ENVIRONMENT_VARIABLE, GENERATED, NOT_GENERATED, Stage
from tests.live.running_server import ROOT

PYTHON = ROOT / "build" / "tools" / "sdk-venv" / "bin" / "python"
DRIVES = ROOT / "tests" / "sdk" / "python"
DRIVE_S = 120
STAGES = {"payment": payment_stage, "chat": chat_stage}


def staged(service: str, directory: Path) -> AbstractContextManager[Stage]:
    return STAGES[service](directory)


def drive(stage: Stage, generator: str, name: str) -> None:
    """Run a drive to its end. Raises AssertionError with what it said when it fails."""
    done = subprocess.run(
        [PYTHON, DRIVES / f"{name}.py"],
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(GENERATED / stage.service / generator),
            ENVIRONMENT_VARIABLE: str(stage.facts),
        },
        capture_output=True,
        text=True,
        timeout=DRIVE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("service", "generator", "name"),
    [
        ("payment", "python", "payment_openapi_generator"),
        ("payment", "python-client", "payment_python_client"),
        ("chat", "python", "chat_openapi_generator_rest"),
        ("chat", "python-client", "chat_python_client_rest"),
    ],
)
def test_calls_every_operation(service: str, generator: str, name: str, tmp_path: Path) -> None:
    if not (GENERATED / service / generator).is_dir() or not PYTHON.exists():
        pytest.skip(NOT_GENERATED)
    with staged(service, tmp_path) as stage:
        drive(stage, generator, name)
        assert stage.undriven() == {}
        assert stage.unrefused() == {}


def test_an_operation_nobody_called_is_told(tmp_path: Path) -> None:
    """The check above can fail."""
    if not (GENERATED / "payment" / "python").is_dir() or not PYTHON.exists():
        pytest.skip(NOT_GENERATED)
    with staged("payment", tmp_path) as stage:
        assert stage.undriven().keys() == {
            "list_payment_methods",
            "create_invoice",
            "get_invoice",
            "cancel_invoice",
            "create_checkout_session",
        }
