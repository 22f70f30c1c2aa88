"""Values of parameters that the daily run leaves out."""

from __future__ import annotations

from typing import Any

import pytest


def in_all(*values: Any) -> Any:
    """Return values of a parameter whose test runs only with `--all`."""
    return pytest.param(*values, marks=pytest.mark.exhaustive)
