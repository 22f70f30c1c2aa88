"""Which operation of a document a request is for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from specd._engine.openapi.union import METHODS

Operation = Mapping[str, Any]


class Routes:
    """The operations of a document by method and path; a fixed path goes before a template."""

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
        """The operation, of a path below the base path of the service; None: there is none."""
        for _, known, pattern, operation in self._routes:
            if known == method and pattern.fullmatch(path):
                return operation
        return None
