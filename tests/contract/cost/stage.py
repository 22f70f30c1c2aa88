"""Both services with large databases, and the requests for them in permissions.yaml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import orjson
from sqlalchemy.orm import Session

from specd._db import migrate
from specd.db import Database
from tests.contract.authorization import chat_stage, payment_stage
from tests.contract.authorization.policy import ALLOWED, Case, filled, load
from tests.contract.cost.crowd import Crowd, Scale
from tests.contract.cost.fillings import Pools
from tests.contract.cost.meter import RolledBack
from tests.contract.cost.places import Document, Place
from tests.support.app import ServiceApp
from tests.support.chat.app import ChatApp, ChatClient, SentFile
from tests.support.chat.people import CAST_MADE_AT, make_cast
from tests.support.contract import operations_of
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.app import FakeGateway, PaymentApp
from tests.support.payment.factories import make_payment

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
ACTORS = ("member", "guest", "administrator", "owner", "project", "nobody")
"""The caller is the first of these actors that is allowed."""
MAX_IN_TARGET = 24_000
"""Maximum bytes of a query. A longer query is sent as a form with `method=GET`."""
MAX_BODY = 1024 * 1024
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Base:
    """A successful request before a place in it is filled."""

    case: Case
    actor: str
    parameters: Mapping[str, Any]

    @property
    def operation(self) -> str:
        return self.case.operation


class Stage:
    """A service with a large database. `build` creates requests, and `send` sends them."""

    service: str
    people = 0
    """Additional users, who send no requests."""

    def __init__(self, app: ServiceApp, database: RolledBack, pools: Pools) -> None:
        self.app = app
        self.database = database
        self.pools = pools
        self.document = Document(app.document)
        self.operations = operations_of(app.document)

    def bases(self) -> Iterator[Base]:
        """Yield a request for each allowed case, and at least one for each operation."""
        allowed = {c.operation for c in load(self.service).cases if ALLOWED in c.cells.values()}
        for case in load(self.service).cases:
            actor = next((a for a in ACTORS if case.cells.get(a) == ALLOWED), None)
            if actor is None and case.operation not in allowed:
                actor = ACTORS[0]  # rejected in this state, which has a cost too
            if actor is not None:
                yield Base(case, actor, dict(filled(case.request, self.things_of(actor))))

    def send(self, request: httpx.Request) -> httpx.Response:
        return self.app.send(request)[0]

    def things_of(self, actor: str) -> Mapping[str, Any]:
        raise NotImplementedError

    def build(self, base: Base, place: Place | None = None, value: Any = None) -> httpx.Request:
        """Return the request with one place filled."""
        raise NotImplementedError

    def _target(self, base: Base, parameters: dict[str, Any]) -> tuple[str, str]:
        method, path = self.operations[base.operation]
        for name in list(parameters):
            if f"{{{name}}}" in path:
                path = path.replace(f"{{{name}}}", quote(str(parameters.pop(name)), safe=""))
        return method, path


class ChatStage(Stage):
    service = "chat"

    def __init__(
        self,
        app: ChatApp,
        database: RolledBack,
        pools: Pools,
        cast: Any,
        things: Mapping[str, Any],
        own: Mapping[str, Mapping[str, Any]],
    ) -> None:
        super().__init__(app, database, pools)
        self.app: ChatApp = app
        self._things, self._own = things, own
        self._members = chat_stage.members(cast)
        self._hank = cast.hank

    def things_of(self, actor: str) -> Mapping[str, Any]:
        return {**self._things, **self._own["owner"], **self._own.get(actor, {})}

    def build_unrelated(self) -> httpx.Request:
        """Return a request in which a user of another organization reads their own data."""
        return ChatClient(self.app, self._hank.host, self._hank).build("GET", "/users/me")

    def build(self, base: Base, place: Place | None = None, value: Any = None) -> httpx.Request:
        parameters = dict(base.parameters)
        headers = {}
        if place is not None:
            if place.where == "header":
                headers[place.name] = quote(str(place.wrap(value)), safe=" ,/")[:4000]
            else:
                parameters[place.name] = place.wrap(value)
        method, path = self._target(base, parameters)
        client = ChatClient(self.app, chat_stage.HOST, self._members.get(base.actor))
        if any(isinstance(value, SentFile) for value in parameters.values()):
            return client.build(method, path, parameters)
        pairs = [(name, _text(item)) for name, item in parameters.items() if item is not None]
        form = urlencode(pairs).encode()
        if method == "GET":
            if len(form) <= MAX_IN_TARGET:
                return client.build("GET", f"{path}?{form.decode()}" if form else path)
            form = b"method=GET&" + form
        headers["Content-Type"] = FORM
        if len(form) > MAX_BODY - 100 and method != "GET":
            form = orjson.dumps(parameters)
            headers["Content-Type"] = "application/json"
        form = form[:MAX_BODY]
        verb = "POST" if method == "GET" else method
        return client.build(verb, path, content=form, headers=headers)


class PaymentStage(Stage):
    service = "payment"

    def __init__(
        self,
        app: PaymentApp,
        database: RolledBack,
        things: Mapping[str, Any],
        keys: Mapping[str, str | None],
    ) -> None:
        super().__init__(app, database, Pools({"numbers": [1]}, {"texts": ["books"]}))
        self._things, self._keys = things, keys

    def things_of(self, actor: str) -> Mapping[str, Any]:
        return self._things

    def build(self, base: Base, place: Place | None = None, value: Any = None) -> httpx.Request:
        parameters = dict(base.parameters)
        body = dict(parameters.pop("body", {}))
        if place is not None:
            target = body if place.where == "body" else parameters
            target[place.name] = place.wrap(value)
        method, path = self._target(base, parameters)
        headers = {name: quote(str(text), safe=' ,/"')[:4000] for name, text in parameters.items()}
        headers["Host"] = "service.test"
        key = self._keys.get(base.actor)
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        content = b""
        if body:
            content = orjson.dumps(body)[: 64 * 1024]
            headers["Content-Type"] = "application/json"
        return httpx.Request(method, f"http://service.test{path}", headers=headers, content=content)


@contextmanager
def chat_on(
    url: str, directory: Path, scale: Scale, *, compiled: ChatStage | None = None
) -> Iterator[ChatStage]:
    """Yield the chat service on an empty database at `url`, after filling it.

    The application is that of a `compiled` stage, if given, which gets it back.
    """
    migrate.upgrade(url, "chat")
    clock = FrozenClock(NOW)
    filling = Database(url)
    if compiled is None:
        app = ChatApp(filling, clock, directory, validate_responses=False)
    else:
        app = compiled.app
        app.play(filling, clock)
    cast = filling.run(lambda session: make_cast(session, now=CAST_MADE_AT))
    things, own = chat_stage.furnish(filling, app, cast, clock)
    pools = filling.run(lambda session: Crowd(session, cast, things, NOW).gather(scale))
    _settle(filling)
    filling.dispose()
    database = RolledBack(url)
    app.play(database, clock)
    try:
        stage = ChatStage(app, database, pools, cast, things, own)
        stage.people = scale.people
        yield stage
    finally:
        if compiled is None:
            app.close()
        else:
            app.play(compiled.database, clock)
        database.dispose()


@contextmanager
def payment_on(url: str, scale: Scale) -> Iterator[PaymentStage]:
    """Yield the payment service on an empty database at `url`, with many payments."""
    migrate.upgrade(url, "payment")
    clock = FrozenClock(NOW)
    filling = Database(url)
    app = PaymentApp(filling, clock, FakeGateway(), validate_responses=False)
    stage = payment_stage.prepare(app, filling, clock)

    def fill(session: Session) -> None:
        invoice = stage.things["invoice"]
        for n in range(scale.mine):
            at = NOW - timedelta(seconds=n)
            make_payment(session, invoice, at=at, amount=1, block_number=100 + n)

    filling.run(fill)
    _settle(filling)
    filling.dispose()
    database = RolledBack(url)
    app.play(database, clock, FakeGateway())
    try:
        yield PaymentStage(app, database, stage.things, stage.keys)
    finally:
        app.close()
        database.dispose()


def _settle(database: Database) -> None:
    """Update the planner statistics."""
    with database.reading() as reader:
        if database.dialect == "postgresql":
            reader.exec_driver_sql("SET default_transaction_read_only = off")
            reader.exec_driver_sql("ANALYZE")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
