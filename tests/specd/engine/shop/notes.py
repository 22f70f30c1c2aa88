"""Handlers of forms, and a handler that waits."""

import asyncio
from typing import Any

from specd import Context
from specd._engine.response import Reply


def create_note(
    ctx: Context,
    *,
    text: str,
    to: list[int] | None = None,
    names: list[str] | None = None,
    extra: dict[str, Any] | None = None,
    flag: bool,
    either: int | list[int] | None = None,
) -> Reply:
    sent = dict(locals())
    del sent["ctx"]
    return sent


async def wait_for_note(ctx: Context, *, seconds: float) -> Reply:
    await asyncio.sleep(seconds)
    return {"waited": seconds}
