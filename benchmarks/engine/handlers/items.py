"""A path parameter behind a bearer token, and a JSON body."""

from typing import Any

from specd import Context


def access_item(ctx: Context, *, item_id: int) -> dict[str, Any]:
    """Read an item."""
    return {"id": item_id, "name": f"item-{item_id}", "owner": ctx.actor}


def create_item(ctx: Context, *, body: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Create an item."""
    return {"id": 1, **body}, 201
