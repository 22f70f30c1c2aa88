"""A form with a JSON-encoded array."""

from typing import Any

from specd import Context


def update_flags(ctx: Context, *, messages: list[int], op: str, flag: str) -> dict[str, Any]:
    """Flag messages."""
    return {"messages": messages, "op": op, "flag": flag}
