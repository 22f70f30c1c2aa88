"""The file of users for schemathesis (Web Fuzzing Commons)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml


def read_users(path: str) -> dict[str, str]:
    """Return name -> `Authorization` header as written by `write_users`, or nothing without such a
    file.
    """
    if not path or not Path(path).exists():
        return {}
    entries = yaml.safe_load(Path(path).read_text())["auth"]
    return {entry["name"]: entry["fixedHeaders"][0]["value"] for entry in entries}


def write_users(directory: Path, users: Mapping[str, str]) -> Path:
    """Write a file with these users: name -> `Authorization` header. Return its path."""
    entries = [
        {"name": name, "fixedHeaders": [{"name": "Authorization", "value": header}]}
        for name, header in users.items()
    ]
    path = directory / "users.yaml"
    path.write_text(yaml.safe_dump({"auth": entries}))
    return path
