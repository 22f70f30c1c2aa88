"""Derives the module and the name of the function that handles an operation.

The module is named after the first tag, or `operations` without a tag, and is in the service's
package of handlers. If the service has a single module of handlers instead, it has the functions of
all tags. The function is named after the operationId, or without one after the method and the path:
`get_orders_id` for `GET /orders/{id}`. As in connexion, `x-openapi-router-controller` names another
module. An operationId with dots names a module in the service's package of handlers.

Names are converted to Python identifiers: the tag `pet store` is the module `pet_store`, and
letters of every script are kept. A duplicate function name gets a number: `get-user` is `get_user`,
and `get_user` after it is `get_user_2`.
"""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

CONTROLLER = "x-openapi-router-controller"
UNTAGGED = "operations"
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""The places where a word begins with a capital letter."""
_NEEDED = frozenset(
    (
        *("Any", "Context", "Literal", "NotImplementedError", "Response", "bool", "bytes", "dict"),
        *("float", "int", "list", "object", "str", "tuple", "types"),
    )
)
"""Names that a module of handlers needs, so functions cannot have them."""


@dataclass(frozen=True, slots=True)
class HandlerName:
    """The module and the function of an operation."""

    module: str
    function: str

    def __str__(self) -> str:
        return f"{self.module}.{self.function}"


def operation_id_of(path: str, method: str, operation: Mapping[str, Any]) -> str:
    """Return the operationId, or one derived from the method and the path. `path` is as in the
    document.
    """
    given = operation.get("operationId")
    if given:
        return str(given)
    return "_".join([method.lower(), *re.findall(r"[A-Za-z0-9]+", path)])


def handler_of(
    handlers: str,
    path: str,
    method: str,
    operation: Mapping[str, Any],
    *,
    has_modules: bool = True,
    snake_case: bool = False,
) -> HandlerName:
    """Return the name of the handler of an operation, ignoring duplicates. `handlers` is the
    service's package, or its only module without `has_modules`. With `snake_case`, the operationId
    `GetUser` is the function `get_user`.
    """
    operation_id = operation_id_of(path, method, operation)
    controller = operation.get(CONTROLLER)
    if controller:
        module, _, last = f"{controller}.{operation_id}".rpartition(".")
    else:
        *packages, last = _parts_of(operation_id)
        if not packages:
            packages = [str((operation.get("tags") or [UNTAGGED])[0])]
            tag = f".{identifier_of(packages[0]).lower()}" if has_modules else ""
            module = f"{handlers}{tag}"
        elif operation_id.startswith(f"{handlers}."):
            module = operation_id.rpartition(".")[0]
        else:
            module = ".".join([handlers, *map(identifier_of, packages)])
    return HandlerName(module, function_of(in_snake_case(last) if snake_case else last))


def in_snake_case(text: str) -> str:
    """Return a name in snake case: `GetUserByID` is `get_user_by_id`."""
    return _WORDS.sub("_", text).lower()


def _parts_of(operation_id: str) -> list[str]:
    """Return the parts of an operationId between dots, without empty ones."""
    return [part for part in operation_id.split(".") if part.strip("/ ")] or [operation_id]


def handlers_of(
    handlers: str,
    operations: Iterable[tuple[str, str, Mapping[str, Any]]],
    *,
    has_modules: bool = True,
    snake_case: bool = False,
) -> dict[tuple[str, str], HandlerName]:
    """Return (path, method) -> the name of the handler. All names are different. `operations` are
    paths, methods and operation objects, in the order of the document. Without `has_modules`,
    `handlers` is the module that has the functions of all tags.
    """
    plain = {
        (path, method): handler_of(
            handlers, path, method, operation, has_modules=has_modules, snake_case=snake_case
        )
        for path, method, operation in operations
    }
    known = set(plain.values())
    taken: set[HandlerName] = set()
    found = {}
    for place, name in plain.items():
        if name in taken:
            numbered = (replace(name, function=f"{name.function}_{n}") for n in count(2))
            name = next(each for each in numbered if each not in known)
            known.add(name)
        taken.add(name)
        found[place] = name
    return found


def function_of(text: str) -> str:
    """Return a text as the name of a function in a module of handlers. For example, `list` becomes
    `list_`, because the module needs the type.
    """
    name = identifier_of(text)
    return f"{name}_" if name in _NEEDED else name


def name_by_hand(function: str) -> str:
    """Return a function's name without the underscore that `function_of` adds."""
    bare = function.removesuffix("_")
    return bare if bare in _NEEDED else function


def identifier_of(text: str) -> str:
    """Return a text as a Python identifier, normalized as in Python (NFKC)."""
    normal = unicodedata.normalize("NFKC", text)
    name = "".join(char if f"a{char}".isidentifier() else "_" for char in normal)
    name = re.sub(r"_+", "_", name).strip("_") if not normal.isidentifier() else normal.strip("_")
    return name if name.isidentifier() and not keyword.iskeyword(name) else f"_{name}"


def argument_name(name: str) -> str:
    """Return the keyword argument for a parameter: `Idempotency-Key` -> `idempotency_key`, `petId`
    -> `pet_id`, `id` -> `id_` (connexion's `pythonic_params`). Letters of every script are kept,
    normalized as in Python (NFKC).
    """
    parted = unicodedata.normalize("NFKC", _WORDS.sub("_", name.replace("[]", "")).lower())
    result = "".join(char if f"a{char}".isidentifier() else "_" for char in parted)
    if not result.isidentifier():
        result = f"_{result}"
    if keyword.iskeyword(result) or hasattr(builtins, result):
        result += "_"
    return result
