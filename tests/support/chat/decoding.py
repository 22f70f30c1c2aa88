"""A small language for what a client's decoder accepts: types, required and optional keys.

`check(value, kind, place)` raises `Undecodable` if the client would reject the complete response.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


class Undecodable(AssertionError):
    """The client rejects the response because of the value at a place."""


@dataclass(frozen=True)
class Plain:
    """A value of one of these Python types. A boolean is not a number."""

    types: tuple[type, ...]


@dataclass(frozen=True)
class OneOf:
    """One of these values."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class Maybe:
    """Null or a value of the kind."""

    kind: Kind


@dataclass(frozen=True)
class ListOf:
    kind: Kind


@dataclass(frozen=True)
class MapOf:
    """An object with any keys. If `by_id`, they are integers as text."""

    kind: Kind
    by_id: bool = False


@dataclass(frozen=True)
class Obj:
    """An object with required and optional keys. Other keys are ignored."""

    required: Mapping[str, Kind] = field(default_factory=dict)
    optional: Mapping[str, Kind] = field(default_factory=dict)

    def with_keys(self, **required: Kind) -> Obj:
        return Obj({**self.required, **required}, self.optional)


@dataclass(frozen=True)
class Either:
    """A value of any of the kinds."""

    kinds: tuple[Kind, ...]


Kind = Plain | OneOf | Maybe | ListOf | MapOf | Obj | Either
INT, NUMBER, TEXT, BOOL = Plain((int,)), Plain((int, float)), Plain((str,)), Plain((bool,))


def check(value: Any, kind: Kind, place: str = "") -> None:
    match kind:
        case Plain(types):
            is_right = isinstance(value, types) and (bool in types or not isinstance(value, bool))
            _require(is_right, place, f"{value!r} is no {types}")
        case OneOf(values):
            is_known = any(value == each and type(value) is type(each) for each in values)
            _require(is_known, place, f"{value!r} is none of {values}")
        case Maybe(inner):
            if value is not None:
                check(value, inner, place)
        case ListOf(inner):
            _require(isinstance(value, list), place, f"{value!r} is no list")
            for at, item in enumerate(value):
                check(item, inner, f"{place}/{at}")
        case MapOf(inner, by_id):
            _require(isinstance(value, dict), place, f"{value!r} is no object")
            for key, item in value.items():
                _require(not by_id or key.isdecimal(), place, f"{key!r} is no id")
                check(item, inner, f"{place}/{key}")
        case Either(kinds):
            _require(any(_fits(value, each, place) for each in kinds), place, f"{value!r}")
        case Obj(required, optional):
            _require(isinstance(value, dict), place, f"{value!r} is no object")
            missing = sorted(required.keys() - value.keys())
            _require(not missing, place, f"lacks {missing}")
            for key, inner in {**required, **optional}.items():
                if key in value:
                    check(value[key], inner, f"{place}/{key}")


def _fits(value: Any, kind: Kind, place: str) -> bool:
    try:
        check(value, kind, place)
    except Undecodable:
        return False
    return True


def _require(is_right: bool, place: str, problem: str) -> None:
    if not is_right:
        raise Undecodable(f"{place}: {problem}")
