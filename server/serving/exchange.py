"""One request being answered: what the engine knows of it so far."""

from __future__ import annotations

from collections.abc import Mapping

from server.context import Context
from server.document.operation import Call, Operation

# Until the headers are known to be sound, a body may follow, and the connection cannot go on.
_UNKNOWN_FRAMING: Mapping[bytes, bytes] = {b"transfer-encoding": b"unknown"}


class Exchange:
    """One request being answered: what is known of it so far, for its log line and its end."""

    __slots__ = ("call", "client", "ctx", "headers", "operation", "request_id", "unread")

    def __init__(self, request_id: str, client: str) -> None:
        self.request_id = request_id
        self.client = client
        self.operation: Operation | None = None
        self.call: Call | None = None
        self.ctx: Context | None = None
        self.headers = _UNKNOWN_FRAMING
        self.unread = True

    @property
    def operation_id(self) -> str | None:
        return None if self.operation is None else self.operation.operation_id

    @property
    def actor_id(self) -> int | str | None:
        return None if self.ctx is None else self.ctx.actor_id

    @property
    def key_id(self) -> str | None:
        return None if self.ctx is None else self.ctx.key_id

    @property
    def has_body(self) -> bool:
        """Do the headers say that a body follows?"""
        length = self.headers.get(b"content-length", b"0")
        return b"transfer-encoding" in self.headers or length != b"0"
