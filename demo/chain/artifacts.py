"""The compiled contracts in the package, which `scripts/build_contracts` creates."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from typing import Any


@dataclass(frozen=True, slots=True)
class Artifact:
    """A contract: its JSON ABI and its creation code (0x and hex digits)."""

    abi: list[dict[str, Any]]
    bytecode: str


def load_artifact(name: str) -> Artifact:
    """Load the contract `TestToken` or `PayFromContract`."""
    path = resources.files("demo.chain") / "contracts" / f"{name}.json"
    built = json.loads(path.read_text(encoding="utf-8"))
    return Artifact(abi=built["abi"], bytecode=built["bytecode"])
