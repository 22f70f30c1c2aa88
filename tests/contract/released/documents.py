"""The changes between two versions of a document that break a client or a generated SDK."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.contract.released.schemas import Comparison, Document
from tests.support.documents import resolved

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
STYLES = {"query": "form", "path": "simple", "header": "simple", "cookie": "form"}


def breaking_changes(old: Document, new: Document) -> list[str]:
    """Return a line for each breaking change, or nothing if all old clients still work."""
    found = Comparison(old, new)
    if [server["url"] for server in old["servers"]] != [server["url"] for server in new["servers"]]:
        found.breaks("servers", "are others")
    for kind in ("schemas", "securitySchemes"):
        for name in old["components"].get(kind, {}):
            if name not in new["components"].get(kind, {}):
                found.breaks(f"{kind} {name}", "is gone, or has another name")
    before, after = dict(_operations(old)), dict(_operations(new))
    for place, operation in before.items():
        if place not in after:
            found.breaks(place, "is gone")
        else:
            _compare_operations(found, place, operation, after[place])
    return found.found


def allows_breaks(old_version: str, new_version: str) -> bool:
    """Return whether the newer version permits breaking changes, by its major number, or below 1.0
    by its minor number.
    """
    old, new = ([int(part) for part in v.split(".")] for v in (old_version, new_version))
    return new[:1] > old[:1] or (new[0] == old[0] == 0 and new[1] > old[1])


def _operations(document: Document) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                operation = dict(item[method])
                operation["parameters"] = {
                    (parameter["in"], parameter["name"]): parameter
                    for at in (item, item[method])
                    for parameter in (resolved(document, p) for p in at.get("parameters", ()))
                }
                operation.setdefault("security", document.get("security", []))
                yield f"{method.upper()} {path}", operation


def _compare_operations(
    found: Comparison, place: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> None:
    for name in ("operationId", "tags"):
        if old.get(name) != new.get(name):
            found.breaks(place, f"{name} was {old.get(name)} and is {new.get(name)}")
    for way in old["security"] or [{}]:
        # Old clients are still allowed if an alternative requires nothing else.
        if not any(set(other) <= set(way) for other in new["security"] or [{}]):
            found.breaks(place, f"{' and '.join(way) or 'no credentials'} no longer suffices")
    _compare_parameters(found, place, old["parameters"], new["parameters"])
    _compare_bodies(found, place, old, new)
    for status, response in old["responses"].items():
        if status not in new["responses"]:
            found.breaks(f"{place} -> {status}", "is gone")
        else:
            _compare_responses(
                found,
                f"{place} -> {status}",
                resolved(found.old, response),
                resolved(found.new, new["responses"][status]),
            )


def _compare_parameters(
    found: Comparison, place: str, old: Mapping[Any, Any], new: Mapping[Any, Any]
) -> None:
    for key, parameter in new.items():
        if parameter.get("required") and not old.get(key, {}).get("required"):
            found.breaks(f"{place} {key[1]}", "is required")
    for key, parameter in old.items():
        at, other = f"{place} {key[1]}", new.get(key)
        if other is None:
            found.breaks(at, "is gone")
            continue
        style = [p.get("style", STYLES[key[0]]) for p in (parameter, other)]
        explode = [
            p.get("explode", s == "form") for p, s in zip((parameter, other), style, strict=True)
        ]
        if style[0] != style[1] or explode[0] != explode[1]:
            found.breaks(at, "is written another way")
        if "schema" in parameter and "schema" in other:
            found.compare(parameter["schema"], other["schema"], at, sent=True)
        else:
            _compare_media(found, at, parameter.get("content", {}), other.get("content", {}), True)


def _compare_bodies(
    found: Comparison, place: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> None:
    before = resolved(found.old, old.get("requestBody"))
    after = resolved(found.new, new.get("requestBody"))
    if before and not after:
        found.breaks(f"{place} body", "is gone")
    elif after and after.get("required") and not (before or {}).get("required"):
        found.breaks(f"{place} body", "is required")
    if before and after:
        _compare_media(found, f"{place} body", before["content"], after["content"], True)


def _compare_responses(
    found: Comparison, place: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> None:
    _compare_media(found, place, old.get("content", {}), new.get("content", {}), False)
    for name, header in old.get("headers", {}).items():
        was = resolved(found.old, header)
        now = resolved(found.new, new.get("headers", {}).get(name))
        if now is None:
            found.breaks(f"{place} {name}", "is gone")
            continue
        if was.get("required") and not now.get("required"):
            found.breaks(f"{place} {name}", "is no longer always present")
        found.compare(was.get("schema", {}), now.get("schema", {}), f"{place} {name}", sent=False)


def _compare_media(
    found: Comparison, place: str, old: Mapping[str, Any], new: Mapping[str, Any], sent: bool
) -> None:
    for media_type, content in old.items():
        if media_type not in new:
            found.breaks(place, f"is no longer {media_type}")
            continue
        other = new[media_type]
        found.compare(content.get("schema", {}), other.get("schema", {}), place, sent=sent)
        for name, encoding in content.get("encoding", {}).items():
            if sent and other.get("encoding", {}).get(name) != encoding:
                found.breaks(f"{place}.{name}", "is encoded another way")
