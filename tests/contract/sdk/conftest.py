"""Fixtures for several tests of SDKs."""

from pathlib import Path

import pytest

from tests.contract.sdk.stage import NOT_GENERATED
from tests.contract.sdk.typescript_programs import (
    COMPILED,
    PROJECT,
    TSC,
    are_generated,
    node,
    write_programs,
)


@pytest.fixture(scope="session")
def compiled() -> Path:
    """The drives as JavaScript. `tsc --strict` reported nothing in them or in an SDK."""
    if not are_generated():
        pytest.skip(NOT_GENERATED)
    write_programs()
    done = node(TSC, "--project", PROJECT)
    assert done.returncode == 0, done.stdout[:20_000]
    return COMPILED
