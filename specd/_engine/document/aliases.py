"""Aliases of a parameter: `x-alias-of: topic` next to the schema of `subject`.

A value sent under an alias is read as if it had the parameter's own name, so handlers and
validation use only the own name. A request with both is a violation of the rule `alias`, unless the
values are equal, because tools that import a collection send every parameter. A parameter with an
alias cannot be required, because other readers of the document would reject a request with only the
alias.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from specd._engine.errors import DocumentError, Violation

EXTENSION = "x-alias-of"
Sent = TypeVar("Sent")


class Aliases:
    """The aliases among the parameters of one operation in one place."""

    def __init__(
        self,
        declared: Mapping[str, Mapping[str, Any]],
        where: str,
        place: str,
        *,
        required: Collection[str] = (),
    ) -> None:
        self._where = where
        self.of = {
            name: str(node[EXTENSION]) for name, node in declared.items() if EXTENSION in node
        }
        for alias, name in self.of.items():
            if name not in declared or name in self.of:
                raise DocumentError(f"{place}: {alias} is an alias of {name}, which is none here")
            if name in required:
                raise DocumentError(f"{place}: {name} has the alias {alias}, so it is not required")

    def resolve(self, sent: Mapping[str, Sent]) -> tuple[Mapping[str, Sent], list[Violation]]:
        """Return the sent values by the parameters' own names, and violations for parameters that
        were sent under two names with different values.
        """
        aliases = [alias for alias in self.of if alias in sent]
        if not aliases:
            return sent, []
        resolved, violations = dict(sent), []
        for alias in aliases:
            name = self.of[alias]
            values = resolved.pop(alias)
            if name in resolved and resolved[name] != values:
                facts = {"names": (name, alias)}
                path = f"/{self._where}/{name}"
                violations.append(Violation(path, f"also came as {alias}", "alias", facts))
            resolved.setdefault(name, values)
        return resolved, violations
