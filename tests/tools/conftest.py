"""A new demo for the tests that send the documents' examples."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.live.running_demo import Demo


@pytest.fixture
def ready(tmp_path: Path) -> Iterator[Mapping[str, Any]]:
    """Return what a new demo announces when it is ready."""
    demo = Demo(tmp_path, "--json")
    try:
        yield json.loads(demo.out.splitlines()[-1])
    finally:
        demo.kill()
