"""One effect per Idempotency-Key: the answer is stored in the transaction of its effect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Protocol

import orjson

from specd._engine.context import Context
from specd._engine.response import Headers, Response

REPLAYED = ("Idempotent-Replayed", "true")


class StoredAnswer(Protocol):
    """The first answer under a key, byte for byte."""

    @property
    def status(self) -> int: ...
    @property
    def body(self) -> bytes: ...


class Keys(Protocol):
    """Where a service stores its keys, such as `specd.db.IdempotencyKeys`."""

    def claim(
        self,
        session: Any,
        *,
        owner: str | int,
        key: str,
        operation: str,
        fingerprint: str,
        now: datetime,
    ) -> StoredAnswer | None:
        """Take the key for this transaction, or return the answer it already has."""
        ...

    def keep(
        self,
        session: Any,
        *,
        owner: str | int,
        key: str,
        status: int,
        body: bytes,
        **columns: Any,
    ) -> None:
        """Store the answer of a key claimed in this transaction."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotentAnswers:
    """How one service answers requests that bring a key.

    `is_definitive(error)`: whether the same request would always be refused so; the answer, which
    `respond(error, request_id)` makes, is then stored. `help_of(code)` is the header with the link
    to the description of an error. `standing` are headers of every answer. `as_text` is the text
    of a path parameter; it must be the same for values that mean the same.
    """

    keys: Keys
    is_definitive: Callable[[Exception], bool]
    respond: Callable[[Exception, str], Response]
    help_of: Callable[[str], tuple[str, str]]
    standing: Headers = ()
    as_text: Callable[[Any], str] = str

    def answer(
        self,
        ctx: Context,
        session: Any,
        *,
        owner: str | int,
        key: str,
        sent: Any,
        work: Callable[[], Response],
        columns: Mapping[str, Any] | None = None,
    ) -> Response:
        """Return the answer of `work`, or the answer that this key already has.

        `session`: of the write unit. `sent`: the parsed parameters or the parsed body. `columns`:
        what the service stores beside the answer; `work` may fill it.

        `work` must raise a definitive refusal before it writes anything. Every other exception goes
        on, and the rollback frees the key.
        """
        stored = self.keys.claim(
            session,
            owner=owner,
            key=key,
            operation=ctx.operation.operation_id,
            fingerprint=self.fingerprint(ctx, sent),
            now=ctx.now,
        )
        if stored is not None:
            return Response(stored.status, stored.body, self._headers(stored))
        try:
            response = work()
        except Exception as refusal:
            if not self.is_definitive(refusal):
                raise
            response = self.respond(refusal, ctx.request_id)
        self.keys.keep(
            session,
            owner=owner,
            key=key,
            status=response.status,
            body=response.body,
            **(columns or {}),
        )
        return response

    def fingerprint(self, ctx: Context, sent: Any) -> str:
        """Return the SHA-256 of a request: method, path template, path parameters and `sent`, with
        sorted keys. Numbers sent as text stay text.
        """
        path = {name: self.as_text(value) for name, value in ctx.path_parameters.items()}
        request = [ctx.operation.method, ctx.operation.path, path, sent]
        return sha256(orjson.dumps(request, option=orjson.OPT_SORT_KEYS)).hexdigest()

    def _headers(self, stored: StoredAnswer) -> Headers:
        headers = (*self.standing, REPLAYED)
        if stored.status < 400:
            return headers
        return (*headers, self.help_of(orjson.loads(stored.body)["code"]))
