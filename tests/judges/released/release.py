"""The documents as they were last released: docs/released/<service>.yaml."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import yaml

import specs
from tests.judges.released.documents import allows_breaks, breaking_changes

ROOT = Path(__file__).parents[3]
CHANGES = ROOT / "docs/changes.md"
RELEASED = {name: ROOT / f"docs/released/{name}.yaml" for name in ("payment", "chat")}
FIXED = ("payment",)
"""Whose version was given from outside, and stays: its words and examples may get better under it,
and nothing may break.
"""
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def released(service: str) -> dict[str, Any]:
    """The document that was last released."""
    document: dict[str, Any] = yaml.load(RELEASED[service].read_text(), Loader=_LOADER)
    return document


def release(service: str) -> str:
    """Take the present document as released; says what happened. Exits if it may not be."""
    place, document = RELEASED[service], specs.load(service)
    version = document["info"]["version"]
    if place.exists():
        old = released(service)
        before = old["info"]["version"]
        if place.read_bytes() == specs.text(service):
            return f"{service} {version} is released already."
        if before == version and service not in FIXED:
            sys.exit(f"{service} {version} was released with another text: raise info.version.")
        found = [] if allows_breaks(before, version) else breaking_changes(old, document)
        if found:
            sys.exit("\n".join([f"{service} {version} breaks what {before} promised:", *found]))
    if f"### {version}\n" not in CHANGES.read_text():
        sys.exit(f"docs/changes.md says nothing of {service} {version}.")
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(specs.text(service))
    return f"{service} {version} is released."
