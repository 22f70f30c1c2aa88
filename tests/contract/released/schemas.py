"""Checks whether every value that one schema accepts is accepted by another, and returns the
differences.

Requests must stay valid: the new schema must accept all values of the old one. Responses must stay
readable: the old schema must accept all values of the new one. Both are the same check with the
sides exchanged, with one exception: requests are closed and responses are open. A client ignores
unknown properties, so a new property in a response breaks nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.documents import resolved

Schema = Mapping[str, Any]
Document = Mapping[str, Any]

LOWER = ("minimum", "minLength", "minItems", "minProperties")
UPPER = ("maximum", "maxLength", "maxItems", "maxProperties")
NARROWING = (
    "format",
    "multipleOf",
    "uniqueItems",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "not",
)
"""A new or changed value of these keywords may reject values that were accepted."""
WORDS = {"description", "example", "title", "deprecated"}
"""Keywords that reject nothing."""
UNBOUND = {"uniqueItems": False, "exclusiveMinimum": False, "exclusiveMaximum": False}


def unwrapped(document: Document, node: Schema) -> Schema:
    """Return an `allOf` of one schema as that schema with its sibling keywords, which is how
    OpenAPI 3.0 adds to a `$ref`.
    """
    if len(node.get("allOf", ())) != 1:
        return node
    inner = unwrapped(document, resolved(document, node["allOf"][0]))
    siblings = {keyword: value for keyword, value in node.items() if keyword != "allOf"}
    return node if inner.keys() & siblings.keys() - WORDS else {**inner, **siblings}


def pattern_of(schema: Schema) -> str | None:
    """Return the pattern in the notation that every engine supports (`\x00`), or None next to
    `format: uuid`, which has the same meaning.
    """
    if schema.get("format") == "uuid" or "pattern" not in schema:
        return None
    return re.sub(r"\\u00([0-9a-f]{2})", r"\\x\1", schema["pattern"])


def ref_name(node: Any) -> str | None:
    """Return `Invoice` for `{$ref: "#/components/schemas/Invoice"}`."""
    return node["$ref"].rpartition("/")[2] if isinstance(node, Mapping) and "$ref" in node else None


@dataclass
class Comparison:
    """Compares the schemas of two documents. `found` collects breaking changes, place by place."""

    old: Document
    new: Document
    found: list[str] = field(default_factory=list)
    _seen: set[tuple[bool, str | None, str | None]] = field(default_factory=set)

    def breaks(self, place: str, problem: str) -> None:
        if f"{place}: {problem}" not in self.found:
            self.found.append(f"{place}: {problem}")

    def compare(self, old: Any, new: Any, place: str, *, sent: bool) -> None:
        """Compare two schemas. `sent` is true for requests, and false for responses."""
        names = (ref_name(old), ref_name(new))
        if all(names):
            if names[0] != names[1]:
                self.breaks(place, f"was a {names[0]} and is a {names[1]}")
            place = f"schema {names[1]}"
            if (sent, *names) in self._seen:
                return
            self._seen.add((sent, *names))
        old, new = resolved(self.old, old), resolved(self.new, new)
        if ("allOf" in old) != ("allOf" in new):
            old, new = unwrapped(self.old, old), unwrapped(self.new, new)
        taken, by = (old, new) if sent else (new, old)
        self._values(old, new, taken, by, place, sent)
        self._bounds(old, new, taken, by, place)
        self._properties(old, new, taken, by, place, sent)
        if "items" in old and "items" in new:
            self.compare(old["items"], new["items"], f"{place}[]", sent=sent)
        elif "items" in by:
            self.breaks(place, "has other items")
        self._branches(old, new, place, sent)

    def _values(
        self, old: Schema, new: Schema, taken: Schema, by: Schema, place: str, sent: bool
    ) -> None:
        kinds = (taken.get("type"), by.get("type"))
        is_wider = sent and (kinds[1] is None or kinds == ("integer", "number"))
        if kinds[0] != kinds[1] and not is_wider:
            self.breaks(place, f"type was {old.get('type')} and is {new.get('type')}")
        if taken.get("nullable") and not by.get("nullable"):
            self.breaks(place, "may be null" if not sent else "may no longer be null")
        if "enum" in by and not (not sent and old.get("x-may-grow")):
            gone = [
                value for value in taken.get("enum", ["anything else"]) if value not in by["enum"]
            ]
            if gone:
                verb = "takes no more" if sent else "may now be"
                self.breaks(place, f"{verb} {', '.join(map(str, gone))}")
        if sent and old.get("default") != new.get("default"):
            self.breaks(place, f"default was {old.get('default')} and is {new.get('default')}")

    def _bounds(self, old: Schema, new: Schema, taken: Schema, by: Schema, place: str) -> None:
        wider: dict[str, Callable[[Any, Any], bool]] = {
            **dict.fromkeys(LOWER, lambda inner, outer: inner >= outer),
            **dict.fromkeys(UPPER, lambda inner, outer: inner <= outer),
        }
        for keyword, is_within in wider.items():
            if keyword in by and not (keyword in taken and is_within(taken[keyword], by[keyword])):
                self.breaks(place, f"{keyword} was {old.get(keyword)} and is {new.get(keyword)}")
        if pattern_of(by) not in (None, pattern_of(taken)):
            self.breaks(place, f"pattern was {old.get('pattern')} and is {new.get('pattern')}")
        for keyword in NARROWING:
            none = UNBOUND.get(keyword)
            if by.get(keyword, none) not in (none, taken.get(keyword, none)):
                self.breaks(place, f"{keyword} was {old.get(keyword)} and is {new.get(keyword)}")

    def _properties(
        self, old: Schema, new: Schema, taken: Schema, by: Schema, place: str, sent: bool
    ) -> None:
        before, after = old.get("properties", {}), new.get("properties", {})
        for name in before:
            if name not in after:
                self.breaks(f"{place}.{name}", "is gone")
            else:
                self.compare(before[name], after[name], f"{place}.{name}", sent=sent)
        for name in by.get("required", ()):
            if name not in taken.get("required", ()):
                now = "is required" if sent else "is no longer always present"
                self.breaks(f"{place}.{name}", now)
        others_taken, others_by = (s.get("additionalProperties", True) for s in (taken, by))
        if sent and others_by is False and others_taken is not False:
            self.breaks(place, "is closed now")
        rest = [s.get("additionalProperties") for s in (old, new)]
        if all(isinstance(schema, Mapping) for schema in rest):
            self.compare(*rest, f"{place}.*", sent=sent)
        elif isinstance(others_by, Mapping) and others_by and others_taken is not False:
            self.breaks(f"{place}.*", "has a schema" if sent else "no longer has a schema")

    def _branches(self, old: Schema, new: Schema, place: str, sent: bool) -> None:
        for keyword in ("oneOf", "anyOf", "allOf"):
            before, after = old.get(keyword), new.get(keyword)
            if before is None and after is None:
                continue
            if (
                before is None
                or after is None
                or (keyword == "allOf" and len(before) != len(after))
            ):
                self.breaks(place, f"{keyword} was there or is there, not both")
            elif keyword == "allOf":
                for a, b in zip(before, after, strict=True):
                    self.compare(a, b, place, sent=sent)
            else:
                taken, by = (before, after) if sent else (after, before)
                for index, branch in enumerate(taken):
                    if not any(self._fits(branch, other, sent) for other in by):
                        now = "is refused" if sent else "is new"
                        self.breaks(place, f"{keyword} branch {index} {now}")

    def _fits(self, taken: Any, by: Any, sent: bool) -> bool:
        """Return whether a branch can be sent (or returned) under another branch with the same
        name.
        """
        inner = Comparison(self.old, self.new, _seen=set(self._seen))
        inner.compare(*((taken, by) if sent else (by, taken)), "", sent=sent)
        return not inner.found
