"""Paths of the clients installed by `scripts/clients`, and skips for missing clients."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_CACHE = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
CLIENTS = Path(os.environ.get("SPECD_TEST_CLIENTS") or Path(_CACHE) / "specd-clients")
BOTS = CLIENTS / "python/bin/zulip-run-bot"
TERMINAL = CLIENTS / "terminal/bin/zulip-term"
TERMINAL_PYTHON = CLIENTS / "terminal/bin/python"
SEND = CLIENTS / "python/bin/zulip-send"
APPRISE = CLIENTS / "apprise/bin/python"
"""The Python with the package."""
NODE = CLIENTS / "node"
WEBHOOKS = CLIENTS / "webhooks"


def need(path: Path) -> pytest.MarkDecorator:
    """Skip a test if this file of a client is not installed."""
    reason = f"{path.name} is not installed: scripts/clients install"
    return pytest.mark.skipif(not path.exists(), reason=reason)
