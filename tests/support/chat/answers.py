"""Common response bodies of the chat service."""

from typing import Any

DONE = {"result": "success", "msg": ""}


def bad(msg: str, code: str = "BAD_REQUEST", **facts: Any) -> dict[str, Any]:
    """Return the body of an error."""
    return {"result": "error", "msg": msg, "code": code, **facts}
