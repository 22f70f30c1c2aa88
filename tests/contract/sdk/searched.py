"""What broke SDKs of other languages, searched for in one that no compiler here reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

METHODS = ("get", "post", "put", "patch", "delete")
MAX_INT32 = 2**31 - 1


@dataclass(frozen=True)
class Language:
    """`suffix` of its files; `narrow`, a pattern of a member of 32 bits whose group is the name
    that the document has; `nameless`, one of an enumeration's value without a name; `empty`, one of a
    class without members whose group is its name.
    """

    suffix: str
    narrow: str
    nameless: str
    empty: str


LANGUAGES = {
    "csharp": Language(
        ".cs",
        r'\[DataMember\(Name = "(\w+)"[^\]]*\]\s*(?:/\*.*?\*/\s*)?public int\b',
        r"EnumMember\(Value = [^)]*\)\]\s*(?:=|,|\d)",
        r"public partial class (\w+)[^{]*\{\s*\}",
    ),
    "kotlin": Language(
        ".kt",
        r'@(?:Json|SerializedName)\((?:name = )?"(\w+)"\)\s*va[lr] \w+: kotlin\.Int\b',
        r'@Json\(name = "[^"]*"\)\s*\(',
        r"(?:data )?class (\w+) \(\s*\)",
    ),
    "swift": Language(
        ".swift",
        r"public var (\w+): Int32\b",
        r"case\s*=|case _ =",
        r"public struct (\w+)[^{]*\{\s*(?:public init\(\) ?\{ ?\}\s*)?\}",
    ),
    "dart": Language(
        ".dart",
        r"(?!)",  # an int has 64 bits
        r"static const\s*=",
        r"class (\w+) \{\s*\}",
    ),
}


def wide(schema: Any) -> Iterator[str]:
    """The names of members whose integers do not fit 32 bits, anywhere in a document."""
    if isinstance(schema, list):
        for item in schema:
            yield from wide(item)
    if isinstance(schema, dict):
        properties = schema.get("properties", {})
        for name, member in properties.items() if isinstance(properties, dict) else ():
            if isinstance(member, dict) and _is_wide(member):
                yield name
        for value in schema.values():
            yield from wide(value)


def _is_wide(schema: dict[str, Any]) -> bool:
    bounds = (schema.get("minimum", 0), schema.get("maximum", 0))
    return schema.get("type") == "integer" and any(abs(bound) > MAX_INT32 for bound in bounds)


def faults(sdk: Path, language: Language, wide_names: set[str]) -> Iterator[str]:
    """What would not compile or not read a real answer, one line each."""
    for path in sorted(sdk.rglob(f"*{language.suffix}")):
        source = path.read_text(encoding="utf-8")
        for name in re.findall(language.narrow, source):
            if name in wide_names:
                yield f"{path.name}: {name} has 32 bits"
        if found := re.search(language.nameless, source):
            yield f"{path.name}: no name: {found.group()}"
        for name in re.findall(language.empty, source):
            yield f"{path.name}: {name} has no members"
