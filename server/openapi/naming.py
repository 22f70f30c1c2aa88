"""Which function handles an operation: its module and name, derived where the document is silent.

The module is named like the first tag, `operations` without one, and lies in the service's package
of handlers. The function is named like the operationId, without one like the method and the path:
`get_invoices_id` for `GET /invoices/{id}`; a second one of that name gets a number. As in
connexion, `x-openapi-router-controller` names another module, and so does an operationId with dots.
The names are made fit for Python: the tag `pet store` is the module `pet_store`.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CONTROLLER = "x-openapi-router-controller"
UNTAGGED = "operations"


@dataclass(frozen=True, slots=True)
class HandlerName:
    """The module and the function of an operation."""

    module: str
    function: str

    def __str__(self) -> str:
        return f"{self.module}.{self.function}"


def operation_id_of(path: str, method: str, operation: Mapping[str, Any]) -> str:
    """Return the operationId, or the one made of method and path; `path` as the document has it."""
    given = operation.get("operationId")
    if given:
        return str(given)
    return "_".join([method.lower(), *re.findall(r"[A-Za-z0-9]+", path)])


def handler_of(handlers: str, path: str, method: str, operation: Mapping[str, Any]) -> HandlerName:
    """Return where the handler of an operation is; `handlers` is the service's package."""
    operation_id = operation_id_of(path, method, operation)
    controller = operation.get(CONTROLLER)
    dotted = f"{controller}.{operation_id}" if controller else operation_id
    module, _, last = dotted.rpartition(".")
    if not module:
        tags = operation.get("tags") or [UNTAGGED]
        module = f"{handlers}.{identifier_of(str(tags[0])).lower()}"
    return HandlerName(module, identifier_of(last))


def identifier_of(text: str) -> str:
    """Return a text as a Python name."""
    name = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_") or "_"
    return f"_{name}" if name[0].isdigit() or keyword.iskeyword(name) else name
