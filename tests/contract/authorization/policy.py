"""The cases of permissions.yaml: the response to each actor for each operation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.yaml_files import read_yaml

PERMISSIONS = Path(__file__).with_name("permissions.yaml")
ALLOWED = "allowed"


@dataclass(frozen=True)
class Case:
    """A line of the policy. `cells` maps an actor to `allowed` or the name of a refusal."""

    operation: str
    about: str
    request: Mapping[str, Any]
    cells: Mapping[str, str]

    @property
    def name(self) -> str:
        return f"{self.operation} ({self.about})" if self.about else self.operation


@dataclass(frozen=True)
class Policy:
    """A service's part of the file. `refusals` maps a name to (status, code or text)."""

    service: str
    actors: Mapping[str, str]
    refusals: Mapping[str, tuple[int, str]]
    cases: tuple[Case, ...]


@cache
def load(service: str) -> Policy:
    """Return the policy of a service. Raises AssertionError if it is inconsistent."""
    part = read_yaml(PERMISSIONS)[service]
    refusals = {name: (status, text) for name, (status, text) in part["refusals"].items()}
    cases = tuple(_cases(part, refusals))
    names = [case.name for case in cases]
    assert len(names) == len(set(names)), "two cases with one name"
    unused = set(refusals) - {answer for case in cases for answer in case.cells.values()}
    assert not unused, f"unused refusals: {sorted(unused)}"
    return Policy(service, part["actors"], refusals, cases)


def _cases(part: Mapping[str, Any], refusals: Mapping[str, Any]) -> Iterator[Case]:
    for operation, cases in part["operations"].items():
        for case in cases:
            groups = {k: v for k, v in case.items() if k not in ("about", "request")}
            about = case.get("about", "")
            assert set(groups) <= {ALLOWED, *refusals}, (operation, about, groups)
            named = [actor for actors in groups.values() for actor in actors]
            assert len(named) == len(set(named)), f"{operation}: an actor with two results"
            cells = {actor: answer for answer, actors in groups.items() for actor in actors}
            for answer, actors in part["otherwise"].items():
                for actor in actors:
                    cells.setdefault(actor, answer)
            assert set(cells) == set(part["actors"]), (operation, about, cells)
            yield Case(operation, about, case.get("request", {}), cells)


def filled(value: Any, things: Mapping[str, Any]) -> Any:
    """Return a request in which `$name` is replaced by objects of the stage."""
    if isinstance(value, Mapping):
        return {key: filled(item, things) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, things) for item in value]
    if isinstance(value, str) and value.startswith("$"):
        return things[value[1:]]
    return value


def worded(text: str, things: Mapping[str, Any]) -> str:
    """Return a refusal's text in which `$name` is replaced by objects of the stage."""
    for name, thing in sorted(things.items(), key=lambda item: -len(item[0])):
        text = text.replace(f"${name}", str(thing))
    return text
