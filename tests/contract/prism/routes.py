"""The operation of a document for a request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from specd._engine.openapi.union import METHODS

Operation = Mapping[str, Any]


class Routes:
    """The operations of a document by method and path. Fixed paths precede templates."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._routes: list[tuple[int, str, re.Pattern[str], Operation]] = []
        for template, item in document["paths"].items():
            pattern = re.compile(re.sub(r"\{[^}]*\}", "[^/]+", template))
            for method in METHODS:
                if method in item:
                    row = (template.count("{"), method.upper(), pattern, item[method])
                    self._routes.append(row)
        self._routes.sort(key=lambda route: route[0])

    def find(self, method: str, path: str) -> Operation | None:
        """Return the operation for a path below the base path of the service, or None."""
        for _, known, pattern, operation in self._routes:
            if known == method and pattern.fullmatch(path):
                return operation
        return None
