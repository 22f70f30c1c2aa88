"""Parameter values that the daily run omits."""

from __future__ import annotations

from typing import Any

import pytest


def in_all(*values: Any) -> Any:
    """Return parameter values that are tested only with `--all`."""
    return pytest.param(*values, marks=pytest.mark.exhaustive)
