"""Services for the tests of the engine: the shop, and small services of single tests."""

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

from specd import Context, Response, encode
from specd._engine.openapi.union import Document
from specd._engine.service import Service
from specd._engine.serving.app import build_app
from specd.errors import InvalidRequest, MethodNotAllowed, Unauthenticated
from tests.specd.engine.client import Client

SHOP_TEXT = (Path(__file__).parent / "shop" / "shop.yaml").read_bytes()
SHOP = yaml.safe_load(SHOP_TEXT)
PUBLISHED_TEXT = re.sub(rb", x-\w+Func: [\w.]+", b"", SHOP_TEXT)
"""The text without the names of the functions that check credentials."""
PUBLISHED = yaml.safe_load(PUBLISHED_TEXT)

ADA = ("Authorization", "Bearer good-token")
KEY = ("Idempotency-Key", "12345678")


class NotAllowed(Exception):
    """The actor lacks the role."""


def respond(error: Exception, request_id: str) -> Response:
    """Return the error response of every service here. The code is the class of the exception."""
    status = getattr(error, "status", 500)
    headers: tuple[tuple[str, str], ...] = ()
    if isinstance(error, InvalidRequest):
        status = 422
    elif isinstance(error, NotAllowed):
        status = 403
    elif isinstance(error, MethodNotAllowed):
        headers = (("Allow", ", ".join(error.allow)),)
    elif isinstance(error, Unauthenticated):
        headers = (("WWW-Authenticate", ", ".join(error.challenges)),)
    body = {
        "code": type(error).__name__ if status != 500 else "Bug",
        "request_id": request_id,
        "details": [
            {"path": violation.path, "message": violation.message}
            for violation in getattr(error, "violations", ())
        ],
    }
    return Response(status, encode(body), headers)


def require_role(ctx: Context, role: str) -> None:
    if ctx.actor != "root":
        raise NotAllowed


def shop_service(*, document: Mapping[str, Any] | None = None, **changes: Any) -> Service:
    """Return the shop with some changes. `document` replaces its document."""
    own = Document("shop", SHOP, SHOP_TEXT)
    facts: dict[str, Any] = {
        "name": "shop",
        "documents": [own if document is None else Document("shop", document)],
        "handlers": "tests.specd.engine.shop",
        "base_path": "/shop",
        "respond": respond,
        "require_role": require_role,
        "validate_responses": True,
    }
    return Service(**{**facts, **changes})


def shop(**changes: Any) -> Client:
    return Client(build_app([shop_service(**changes)]), "/shop")


def module(name: str, **functions: Callable[..., Any]) -> str:
    """Create a handler module, `module("things", read_thing=...)`. Return its package."""
    package = f"made_{name}"
    made = ModuleType(f"{package}.{name}")
    sys.modules[package] = ModuleType(package)
    sys.modules[made.__name__] = made
    for key, function in functions.items():
        function.__module__ = made.__name__
        function.__name__ = function.__qualname__ = key
        setattr(made, key, function)
    return package


def document(paths: dict[str, Any], version: str = "3.0.3", **components: Any) -> dict[str, Any]:
    return {
        "openapi": version,
        "info": {"title": "Made", "version": "1"},
        "paths": paths,
        "components": components,
    }


ANYTHING = {
    "default": {
        "description": "Whatever.",
        "content": {"application/json": {"schema": {}}},
    }
}


def operation(operation_id: str, *, tag: str = "things", **facts: Any) -> dict[str, Any]:
    return {"tags": [tag], "operationId": operation_id, "responses": ANYTHING, **facts}


def serve(
    paths: dict[str, Any],
    functions: dict[str, Callable[..., Any]],
    *,
    tag: str = "things",
    components: dict[str, Any] | None = None,
    version: str = "3.0.3",
    **changes: Any,
) -> Client:
    """Return a client of a service with these `paths` and `functions`, at /t."""
    facts: dict[str, Any] = {
        "name": "made",
        "documents": [Document("made", document(paths, version, **(components or {})))],
        "handlers": module(tag, **functions),
        "base_path": "/t",
        "respond": respond,
        "validate_responses": True,
    }
    return Client(build_app([Service(**{**facts, **changes})]), "/t")


def echo(schema: dict[str, Any], *, where: str = "query", **facts: Any) -> Client:
    """Return a service of one operation, which returns its parameter `value` as received."""

    def read_thing(ctx: Context, *, value: Any = "absent") -> dict[str, Any]:
        return {"value": value}

    parameter = {"name": "value", "in": where, **facts}
    if "content" not in facts:
        parameter["schema"] = schema
    path = "/things"
    if where == "path":
        path, parameter["required"] = "/things/{value}", True
    return serve(
        {path: {"get": operation("read_thing", parameters=[parameter])}}, {"read_thing": read_thing}
    )


def post(
    media: dict[str, Any], function: Callable[..., Any], *, required: bool = True, **facts: Any
) -> Client:
    """Return a service of one operation, POST /things, whose body is `media`."""
    body = {"required": required, "content": media}
    return serve(
        {"/things": {"post": operation("make_thing", requestBody=body)}},
        {"make_thing": function},
        **facts,
    )
