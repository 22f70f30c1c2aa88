"""The last released documents: docs/released/<document>.yaml."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import specs
from tests.contract.released.documents import allows_breaks, breaking_changes
from tests.support.yaml_files import read_yaml
from wsgi import project

ROOT = Path(__file__).parents[3]
CHANGES = ROOT / "docs/changes.md"
RELEASED = {name: ROOT / f"docs/released/{name}.yaml" for name in project.documents}
"""A document that was never released has no file."""
FIXED = ("payment",)
"""Documents with a given version that stays. Their texts and examples may be improved, but breaking
changes are not allowed."""


def released(name: str) -> dict[str, Any]:
    """Return the last released document."""
    document: dict[str, Any] = read_yaml(RELEASED[name])
    return document


def written_down(name: str) -> list[str]:
    """Return the versions of a document in docs/changes.md, the newest first."""
    section = CHANGES.read_text().partition(f"## {name.replace('-', ' ').capitalize()}\n")[2]
    return re.findall(r"^### (\S+)", section.partition("\n## ")[0], re.MULTILINE)


def release(name: str) -> str:
    """Release the present document. Return a message. Exits if this is not allowed."""
    place, document = RELEASED[name], specs.load(name)
    version = document["info"]["version"]
    if place.exists():
        old = released(name)
        before = old["info"]["version"]
        if place.read_bytes() == specs.text(name):
            return f"{name} {version} is released already."
        if before == version and name not in FIXED:
            sys.exit(f"{name} {version} was released with another text: raise info.version.")
        found = [] if allows_breaks(before, version) else breaking_changes(old, document)
        if found:
            sys.exit("\n".join([f"{name} {version} breaks what {before} promised:", *found]))
    if version not in written_down(name):
        sys.exit(f"docs/changes.md says nothing of {name} {version}.")
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(specs.text(name))
    return f"{name} {version} is released."
