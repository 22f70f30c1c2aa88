"""`@idempotent` for handlers of a sample service, whose table of keys has the library's columns."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import create_engine, func, select

from specd._composition import list_failures
from specd._engine.openapi.mistakes import Mistakes
from specd._testing import Backends
from tests.specd.sample import Sample

DOCUMENT = """
    openapi: 3.1.0
    info: {title: Orders, version: 1.0.0}
    servers: [{url: /shop}]
    paths:
      /orders:
        post:
          operationId: create_order
          parameters: [{name: Idempotency-Key, in: header, schema: {type: string}}]
          requestBody: &body
            required: true
            content:
              application/json:
                schema:
                  type: object
                  required: [text]
                  properties: {text: {type: string}}
          responses: {"201": {description: Created.}}
      /slowly:
        post:
          operationId: create_slowly
          parameters: [{name: Idempotency-Key, in: header, schema: {type: string}}]
          requestBody: *body
          responses: {"201": {description: Created.}}
      /orders/{order_id}/close:
        post:
          operationId: close_order
          parameters:
            - {name: order_id, in: path, required: true, schema: {type: integer}}
            - {name: Idempotency-Key, in: header, schema: {type: string}}
          responses: {"200": {description: Closed.}}
"""
MODELS = """
    from sqlalchemy import MetaData
    from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

    from specd.db import NAMING, IdempotencyKeyColumns, RowNumber

    class Base(DeclarativeBase):
        metadata = MetaData(naming_convention=NAMING)

    class Order(Base):
        __tablename__ = "customer_order"
        id: Mapped[int] = mapped_column(RowNumber, primary_key=True)
        text: Mapped[str] = mapped_column()
"""
KEYS = """
    class IdempotencyKey(IdempotencyKeyColumns, Base):
        pass
"""
HANDLERS = """
    from specd import Context, ErrorTable, Refusal, idempotent
    from {name}.models import Order

    class Busy(Refusal):
        status, code, sentence = 409, "busy", "Try again."

    class Forbidden(Refusal):
        status, code, sentence = 422, "forbidden", "Never."

    seen = []

    def _create(session, text):
        if text == "busy" and "busy" not in seen:
            seen.append("busy")
            raise Busy()
        if text == "forbidden":
            seen.append("forbidden")
            raise Forbidden()
        order = Order(text=text)
        session.add(order)
        session.flush()
        return {"id": order.id, "text": text}, 201

    @idempotent
    def create_order(ctx: Context, *, body):
        return _create(ctx.session, body["text"])

    @idempotent
    async def create_slowly(ctx: Context, *, body):
        return await ctx.write(lambda session: _create(session, body["text"]))

    @idempotent
    def close_order(ctx: Context, *, order_id):
        seen.append(order_id)
        return {"closed": order_id}
"""
ERRORS = """
    from specd import ErrorTable
    from specd.errors import Row

    errors = ErrorTable({"forbidden": Row(is_definitive=True)})
"""
PATHS = ("/shop/orders", "/shop/slowly")
pytestmark = pytest.mark.both_databases


@pytest.fixture
def orders(sample: Sample) -> Sample:
    sample.write("{name}/openapi.yaml", DOCUMENT)
    sample.write("{name}/models.py", MODELS + KEYS)
    sample.write("{name}/handlers.py", HANDLERS)
    sample.write("{name}/errors.py", ERRORS)
    return sample


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, orders: Sample) -> str:
    if request.param == "postgresql":
        server = request.getfixturevalue("postgres")
        return str(server.url_of(server.create()))
    return f"sqlite:///{orders.root / 'orders.db'}"


@pytest.fixture
def client(orders: Sample, url: str) -> Iterator[httpx.Client]:
    variable = f"SPECD_{orders.name.upper()}_DATABASE_URL"
    orders.project()
    engine = create_engine(url)
    import_module(f"{orders.name}.models").Base.metadata.create_all(engine)
    engine.dispose()
    with orders.client(**{variable: url}) as client:
        yield client


def count_of(orders: Sample, url: str) -> int:
    model: Any = import_module(f"{orders.name}.models").Order
    engine = create_engine(url)
    with engine.connect() as connection:
        found = connection.execute(select(func.count()).select_from(model)).scalar_one()
    engine.dispose()
    return int(found)


def post(client: httpx.Client, path: str, text: str, key: str | None = "a") -> httpx.Response:
    headers = {} if key is None else {"Idempotency-Key": key}
    return client.post(path, json={"text": text}, headers=headers)


@pytest.mark.parametrize("path", PATHS)
class TestKey:
    def test_repeated_request_gets_the_first_response(
        self, client: httpx.Client, orders: Sample, url: str, path: str
    ) -> None:
        first, second = (post(client, path, "tea") for _ in range(2))
        assert first.status_code == second.status_code == 201
        assert first.content == second.content
        assert "Idempotent-Replayed" not in first.headers
        assert second.headers["Idempotent-Replayed"] == "true"
        assert count_of(orders, url) == 1

    def test_of_another_request_is_rejected(
        self, client: httpx.Client, orders: Sample, url: str, path: str
    ) -> None:
        post(client, path, "tea")
        refused = post(client, path, "coffee")
        assert (refused.status_code, refused.json()["code"]) == (422, "idempotency_key_reused")
        assert count_of(orders, url) == 1

    def test_is_free_after_a_rejection(self, client: httpx.Client, path: str) -> None:
        assert post(client, path, "busy").status_code == 409
        assert post(client, path, "busy").status_code == 201

    def test_definitive_rejection_is_stored(
        self, client: httpx.Client, orders: Sample, path: str
    ) -> None:
        first, second = (post(client, path, "forbidden") for _ in range(2))
        assert (first.status_code, first.content) == (422, second.content)
        assert second.headers["Idempotent-Replayed"] == "true"
        assert second.headers["Link"] == first.headers["Link"]
        assert import_module(f"{orders.name}.handlers").seen == ["forbidden"]


@pytest.mark.parametrize("path", PATHS)
def test_requests_without_a_key_are_not_stored(
    client: httpx.Client, orders: Sample, url: str, path: str
) -> None:
    answers = [post(client, path, "tea", key=None) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert count_of(orders, url) == 2


def test_path_parameter_is_part_of_the_request(client: httpx.Client) -> None:
    headers = {"Idempotency-Key": "a"}
    assert client.post("/shop/orders/1/close", headers=headers).json() == {"closed": 1}
    assert client.post("/shop/orders/1/close", headers=headers).json() == {"closed": 1}
    assert client.post("/shop/orders/2/close", headers=headers).status_code == 422


@pytest.mark.parametrize("path", PATHS)
def test_one_of_several_concurrent_requests_has_an_effect(
    client: httpx.Client, orders: Sample, url: str, path: str
) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: post(client, path, "tea"), range(4)))
    assert {answer.status_code for answer in answers} <= {201, 409}
    assert len({answer.content for answer in answers if answer.status_code == 201}) == 1
    assert count_of(orders, url) == 1


def test_service_needs_a_table_of_keys(orders: Sample) -> None:
    orders.write("{name}/models.py", MODELS)
    with pytest.raises(Mistakes, match="add one to its models") as raised, orders.client():
        pass
    assert {Path(each.file).name for each in raised.value.found} == {"handlers.py"}


def test_wrong_use_fails_every_test_of_the_service(orders: Sample, tmp_path: Path) -> None:
    orders.write("{name}/models.py", MODELS)
    orders.project()
    backends = Backends(tmp_path)
    for _ in range(2):
        with pytest.raises(Mistakes, match="has no table of keys"):
            backends.get(orders.name, {})


def test_page_of_errors_has_the_errors_of_keys(orders: Sample) -> None:
    codes = {failure.code for failure in list_failures(orders.project()[orders.name])}
    assert {"idempotency_key_reused", "idempotency_in_progress", "forbidden"} <= codes
