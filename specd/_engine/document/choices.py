"""Chooses the branch of a `oneOf` or `anyOf` by which a wrong value is explained.

A `discriminator` identifies the intended branch. Without it, the nearest branch is chosen. A branch
with a different type is furthest, followed by a branch with a different tag (a property with fixed
values).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specd._engine.http.guard import pointer_step
from specd._engine.openapi.structure import steps_of

_TAGS = ("enum", "const")


@dataclass(frozen=True, slots=True)
class Wrong:
    """A mistake in the property that names the branch: a rule with its facts, and the steps from
    the value to the place.
    """

    rule: str
    facts: Mapping[str, Any]
    steps: tuple[str, ...] = ()


def chosen(error: Any, schema: Any) -> Sequence[Any] | Wrong | None:
    """Return the errors of the branch that explains an error of jsonschema-rs, or the mistake in
    the name of the branch. Return None for other errors, and if no branch is near. `schema` is the
    schema with the choice.
    """
    if error.kind.name not in ("oneOf", "anyOf"):
        return None
    branches = [list(branch) for branch in error.kind.as_dict().get("context", ())]
    if not branches or not all(branches):
        return None  # it fits several branches
    described = schema.get("discriminator") if isinstance(schema, Mapping) else None
    if isinstance(described, Mapping) and isinstance(error.instance, Mapping):
        options = _options(described, schema[error.kind.name])
        found = _named(described, options, error.instance)
        if isinstance(found, Wrong):
            return found
        if found is not None and found < len(branches):
            return branches[found]
    depth = len(error.instance_path)
    near = [branch for branch in branches if not _is_of_another_type(branch, depth)]
    return min(near, key=lambda branch: _distance(branch, depth), default=None)


def _options(discriminator: Mapping[str, Any], branches: Sequence[Any]) -> dict[str, int]:
    """Return the discriminator's name of each branch -> its number."""
    names = {
        str(steps_of(branch["$ref"])[-1]): number
        for number, branch in enumerate(branches)
        if isinstance(branch, Mapping) and isinstance(branch.get("$ref"), str)
    }
    mapping = discriminator.get("mapping") or {}
    mapped = {
        str(value): names[str(target).rpartition("/")[2]]
        for value, target in mapping.items()
        if str(target).rpartition("/")[2] in names
    }
    implied = {name: number for name, number in names.items() if number not in mapped.values()}
    return {**mapped, **implied}


def _named(
    discriminator: Mapping[str, Any], options: Mapping[str, int], value: Mapping[str, Any]
) -> int | Wrong | None:
    """Return the number of the branch that a value names, or None if the document names no
    branches.
    """
    key = str(discriminator.get("propertyName"))
    if not options:
        return None
    if key not in value:
        return Wrong("required", {"property": key})
    named = value[key]
    if isinstance(named, str) and named in options:
        return options[named]
    return Wrong("enum", {"options": list(options)}, (pointer_step(key),))


def _is_of_another_type(branch: Sequence[Any], depth: int) -> bool:
    return any(each.kind.name == "type" and len(each.instance_path) == depth for each in branch)


def _distance(branch: Sequence[Any], depth: int) -> tuple[bool, int, int]:
    """Return the distance of a branch: whether its tag differs, the number of its errors, and the
    depth of the deepest error, negated.
    """
    has_another_tag = any(
        each.kind.name in _TAGS and len(each.instance_path) == depth + 1 for each in branch
    )
    return has_another_tag, len(branch), -max(len(each.instance_path) for each in branch)
