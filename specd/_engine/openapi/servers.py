"""The paths at which the servers of a document serve it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice, product
from typing import Any
from urllib.parse import urljoin, urlsplit

_MAX_ADDRESSES = 100


def base_path_of(document: Mapping[str, Any]) -> str:
    """Return the path of the first of a document's servers, with the defaults of its variables
    (OpenAPI 3.0.4, section 4.8.5). It is empty for the root.
    """
    return base_paths_of(document)[0]


def base_paths_of(document: Mapping[str, Any]) -> list[str]:
    """Return the paths of all servers of a document, with all values of their variables. The path
    of the first server with its defaults is first. Relative addresses are relative to the root (RFC
    3986).
    """
    found: dict[str, None] = {}
    for server in document.get("servers") or [{}]:
        variables = server.get("variables") or {}
        values = [
            list(dict.fromkeys(map(str, (each.get("default", ""), *(each.get("enum") or ())))))
            for each in variables.values()
        ]
        for chosen in islice(product(*values), _MAX_ADDRESSES):
            url = str(server.get("url", ""))
            for name, value in zip(variables, chosen, strict=True):
                url = url.replace("{" + name + "}", value)
            found.setdefault(urlsplit(urljoin("http://localhost/", url)).path.rstrip("/"))
    return list(found)
