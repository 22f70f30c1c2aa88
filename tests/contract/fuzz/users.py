"""The file that tells schemathesis its users (Web Fuzzing Commons)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml


def read_users(path: str) -> dict[str, str]:
    """What `write_users` wrote: name to `Authorization` header. Empty without such a file."""
    if not path or not Path(path).exists():
        return {}
    entries = yaml.safe_load(Path(path).read_text())["auth"]
    return {entry["name"]: entry["fixedHeaders"][0]["value"] for entry in entries}


def write_users(directory: Path, users: Mapping[str, str]) -> Path:
    """The path of a file with these users: name to `Authorization` header."""
    entries = [
        {"name": name, "fixedHeaders": [{"name": "Authorization", "value": header}]}
        for name, header in users.items()
    ]
    path = directory / "users.yaml"
    path.write_text(yaml.safe_dump({"auth": entries}))
    return path
