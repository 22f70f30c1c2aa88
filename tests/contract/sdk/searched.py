"""Searches SDKs in languages without a compiler here for errors that were found in other SDKs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

METHODS = ("get", "post", "put", "patch", "delete")
MAX_INT32 = 2**31 - 1


NEVER = r"(?!)"


@dataclass(frozen=True)
class Language:
    """Patterns of errors in files with a suffix.

    `narrow` is a member of 32 bits, whose group is its name in the document. `nameless` is a value
    of an enumeration without a name. `empty` is a class without members.
    """

    suffix: str
    narrow: str
    nameless: str
    empty: str


LANGUAGES = {
    "csharp": Language(
        ".cs",
        narrow=r'\[JsonPropertyName\("(\w+)"\)\]\s+public int\b',
        nameless=r"enum \w+\s*\{(?:[^}]*[,/])?\s*= \d",
        empty=r"public partial class \w+[^{]*\{\s*\}",
    ),
    "kotlin": Language(
        ".kt",
        narrow=r'@Json\(name = "(\w+)"\)\s+va[lr] \w+: kotlin\.Int\b',
        nameless=r'@Json\(name = "[^"]*"\)\s*\(',
        empty=r"class \w+ \(\s*\)",
    ),
    "swift": Language(  # its Int has 64 bits
        ".swift",
        narrow=NEVER,
        nameless=r"case\s*=",
        empty=r"public struct \w+: [^{]*\{\s*public init\(\) ?\{\s*\}",
    ),
    "dart": Language(  # its int has 64 bits
        ".dart",
        narrow=NEVER,
        nameless=r"static const\s*=",
        empty=r"class (\w+) \{\s*/// Returns a new[^\n]*\s*\1\(\);",
    ),
}


def wide(document: Any) -> set[str]:
    """Return the names of members whose integers do not fit 32 bits, anywhere in a document."""
    integers = list(_integers(document))
    fitting = {name for name, member in integers if not _is_wide(member)}
    return {name for name, member in integers if _is_wide(member)} - fitting


def _integers(node: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(node, list):
        for item in node:
            yield from _integers(item)
    if isinstance(node, dict):
        properties = node.get("properties", {})
        for name, member in properties.items() if isinstance(properties, dict) else ():
            if isinstance(member, dict) and member.get("type") == "integer":
                yield name, member
        for value in node.values():
            yield from _integers(value)


def _is_wide(schema: dict[str, Any]) -> bool:
    bounds = (schema.get("minimum", 0), schema.get("maximum", 0))
    return any(abs(bound) > MAX_INT32 for bound in bounds)


def faults(sdk: Path, language: Language, wide_names: set[str]) -> Iterator[str]:
    """Yield a line for each error that prevents compilation or reading a real response."""
    for path in sorted(sdk.rglob(f"*{language.suffix}")):
        source = path.read_text(encoding="utf-8")
        for name in re.findall(language.narrow, source):
            if name in wide_names:
                yield f"{path.name}: {name} has 32 bits"
        if found := re.search(language.nameless, source):
            yield f"{path.name}: no name: {found.group()}"
        if found := re.search(language.empty, source):
            yield f"{path.name}: no members: {found.group()}"
