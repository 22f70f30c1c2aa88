"""The file that tells schemathesis its users (Web Fuzzing Commons)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml


def write_users(directory: Path, users: Mapping[str, str]) -> Path:
    """The path of a file with these users: name to `Authorization` header."""
    entries = [
        {"name": name, "fixedHeaders": [{"name": "Authorization", "value": header}]}
        for name, header in users.items()
    ]
    path = directory / "users.yaml"
    path.write_text(yaml.safe_dump({"auth": entries}))
    return path
