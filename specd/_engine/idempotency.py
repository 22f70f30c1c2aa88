"""One effect per Idempotency-Key: the response is stored in the same transaction as the effect."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial, wraps
from hashlib import sha256
from typing import Any, Protocol, TypeVar, overload

import orjson

from specd._engine.context import Context
from specd._engine.openapi.naming import argument_name
from specd._engine.response import Headers, Reply, Response, as_response

R = TypeVar("R")
KEY = "idempotency_key"
_MARK = "_idempotent"
REPLAYED = ("Idempotent-Replayed", "true")


class StoredAnswer(Protocol):
    """The first response to a key, byte for byte."""

    @property
    def status(self) -> int: ...
    @property
    def body(self) -> bytes: ...


class Keys(Protocol):
    """The keys of one service."""

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
        """Claim the key for this transaction and return None, or return its stored response."""
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
        """Store the response of a key claimed in this transaction."""
        ...


def _owner_of(ctx: Context) -> str:
    """Return the caller of a request as text. Raise TypeError for a caller without an id."""
    caller = ctx.actor if ctx.actor_id is None else ctx.actor_id
    if not isinstance(caller, str | int | None):
        raise TypeError("set ctx.actor_id, or give Idempotency an owner")
    return "" if caller is None else str(caller)


@dataclass(frozen=True, slots=True, kw_only=True)
class Idempotency:
    """How a service responds to requests with an idempotency key.

    `table` stores the keys. It has the columns key, operation, fingerprint, status, body and
    created_at, and one with the name `owner_column`. Its primary key is the owner and the key (see
    `specd.db.IdempotencyKeyColumns`). `owner(ctx)` returns the owner of the key. `columns(reply)`
    returns the values of the service's own columns for the return value of a handler, stored with
    the response. `headers` are sent with every replayed response. `as_text` returns the text of a
    path parameter. It must be the same for equivalent values.

    The library adds the others: `keys` reads and writes the table, `is_definitive(error)` returns
    whether the same request would always be refused, so that the refusal is stored, `respond(error,
    request_id)` returns the response to a refusal, and `link_of(code)` returns the header with the
    link to the description of an error.
    """

    table: Any
    owner_column: str = "owner"
    owner: Callable[[Context], str | int] = _owner_of
    columns: Callable[[Any], Mapping[str, Any]] | None = None
    headers: Headers = ()
    as_text: Callable[[Any], str] = str
    keys: Keys | None = None
    is_definitive: Callable[[Exception], bool] = lambda error: False
    respond: Callable[[Exception, str], Response] | None = None
    link_of: Callable[[str], tuple[str, str]] | None = None

    def answer(
        self, ctx: Context, session: Any, *, key: str, sent: Any, work: Callable[[], Reply]
    ) -> Response:
        """Return the response of `work`, or the stored response of this key.

        `session` is that of the unit that writes. `sent` is the parsed parameters or the parsed
        body.

        `work` must raise a definitive refusal before it writes anything. Every other exception is
        raised, and the rollback frees the key.
        """
        keys, owner = self.keys, self.owner(ctx)
        assert keys is not None, "the service is not composed"
        stored = keys.claim(
            session,
            owner=owner,
            key=key,
            operation=ctx.operation.operation_id,
            fingerprint=self.fingerprint(ctx, sent),
            now=ctx.now,
        )
        if stored is not None:
            return Response(stored.status, stored.body, self._headers(stored))
        columns: Mapping[str, Any] = {}
        try:
            reply = work()
        except Exception as refusal:
            if self.respond is None or not self.is_definitive(refusal):
                raise
            response = self.respond(refusal, ctx.request_id)
        else:
            response = as_response(reply)
            if self.columns is not None:
                columns = self.columns(reply)
        keys.keep(
            session,
            owner=owner,
            key=key,
            status=response.status,
            body=response.body,
            **columns,
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
        headers = (*self.headers, REPLAYED)
        if stored.status < 400 or self.link_of is None:
            return headers
        code = orjson.loads(stored.body).get("code")
        return (*headers, self.link_of(code)) if code else headers


@overload
def idempotent(handler: Callable[..., R]) -> Callable[..., R]: ...
@overload
def idempotent(
    *, key: str = ..., sent: Callable[..., Any] | None = ...
) -> Callable[[Callable[..., R]], Callable[..., R]]: ...
def idempotent(
    handler: Any = None,
    *,
    key: str = KEY,
    sent: Callable[..., Any] | None = None,
) -> Any:
    """Mark a handler so that a repeated request with the same key gets the first response again.

    `key` names the argument with the key, by default that of the header `Idempotency-Key`. The
    handler does not have to accept this argument. A request without a key is not stored. The same
    key with a different request is refused. Requests are the same if their method, path and content
    are the same. The content is the body or the other parameters, or the result of `sent`, which is
    called with the handler's arguments.

    An `async def` handler must call `ctx.write` exactly once and return its result.
    """
    if handler is None:
        return partial(idempotent, key=key, sent=sent)
    signature = inspect.signature(handler)
    takes_key = key in signature.parameters

    def arguments_of(ctx: Context, args: tuple[Any, ...], given: dict[str, Any]) -> Any:
        return _sent_by(ctx, given, key) if sent is None else sent(ctx, *args, **given)

    @wraps(handler)
    def wrapper(ctx: Context, *args: Any, **given: Any) -> Any:
        value = given.get(key)
        if not takes_key:
            given.pop(key, None)
        if value is None:
            return handler(ctx, *args, **given)
        return _idempotency_of(ctx).answer(
            ctx,
            ctx.session,
            key=value,
            sent=arguments_of(ctx, args, given),
            work=partial(handler, ctx, *args, **given),
        )

    @wraps(handler)
    async def async_wrapper(ctx: Context, *args: Any, **given: Any) -> Any:
        value = given.get(key)
        if not takes_key:
            given.pop(key, None)
        if value is not None:
            request = arguments_of(ctx, args, given)
            write, idempotency = ctx.write, _idempotency_of(ctx)

            def write_once(work: Callable[[Any], Any]) -> Any:
                def unit(session: Any) -> Response:
                    return idempotency.answer(
                        ctx, session, key=value, sent=request, work=partial(work, session)
                    )

                return write(unit)

            ctx.write = write_once
        return await handler(ctx, *args, **given)

    marked: Any = async_wrapper if inspect.iscoroutinefunction(handler) else wrapper
    if not takes_key:
        marked.__signature__ = _with_argument(signature, key)
    setattr(marked, _MARK, True)
    return marked


def is_idempotent(handler: Callable[..., Any]) -> bool:
    """Return whether a handler needs `Idempotency`."""
    return getattr(handler, _MARK, False)


def _idempotency_of(ctx: Context) -> Idempotency:
    assert ctx.idempotency is not None, "the service has no Idempotency"
    found: Idempotency = ctx.idempotency
    return found


def _sent_by(ctx: Context, given: Mapping[str, Any], key: str) -> Any:
    """Return the body, or the parameters except the key and those in the path."""
    in_path = {key, *map(argument_name, ctx.path_parameters)}
    others = {name: value for name, value in given.items() if name not in in_path}
    return others.get("body") if others.keys() <= {"body"} else others


def _with_argument(signature: inspect.Signature, name: str) -> inspect.Signature:
    """Return a signature with one more keyword-only argument."""
    added = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
    parameters = list(signature.parameters.values())
    has_more = bool(parameters) and parameters[-1].kind is inspect.Parameter.VAR_KEYWORD
    parameters.insert(len(parameters) - has_more, added)
    return signature.replace(parameters=parameters)
