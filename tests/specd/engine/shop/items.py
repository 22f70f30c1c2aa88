"""Handlers that return their arguments."""

from typing import Any

from specd import Context
from specd._engine.response import Reply


def list_items(
    ctx: Context,
    *,
    limit: int,
    ratio: float | None = None,
    open_: bool | None = None,
    tag: list[str] | None = None,
    ids: list[int] | None = None,
    sort: str | None = None,
    which: int | list[int] | None = None,
    filter_: dict[str, Any] | None = None,
    x_depth: int | None = None,
) -> Reply:
    sent = dict(locals())
    del sent["ctx"]
    return {**sent, "unknown": list(ctx.unknown_parameters)}


def create_item(ctx: Context, *, idempotency_key: str, body: dict[str, Any]) -> Reply:
    if body["name"] == "crash":
        raise RuntimeError("a bug that saw Bearer good-token")
    return {"key": idempotency_key, "name": body["name"], "actor": ctx.actor}, 201


def get_item(ctx: Context, *, id_: int) -> Reply:
    if id_ == 13:
        return {"id": "not a number"}
    return {"id": id_}


def delete_item(ctx: Context, *, id_: int) -> Reply:
    return {"id": id_, "actor": ctx.actor}


def find_item(ctx: Context, *, name: str) -> Reply:
    return {"name": name, "actor": ctx.actor}


def special_item(ctx: Context) -> Reply:
    return {"special": True}, 200, {"X-Special": "yes"}
