"""A unit of work opens at the first use of `ctx.session` or `ctx.connection`, and always closes."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, create_engine, event, make_url, select
from sqlalchemy.pool import Pool
from structlog.testing import capture_logs

from specd._composition import compose
from specd._settings import load_settings
from tests.specd.sample import Sample

DOCUMENT = """
    openapi: 3.1.0
    info: {title: Orders, version: 1.0.0}
    servers: [{url: /shop}]
    paths:
      /{how}:
        parameters:
          - {name: how, in: path, required: true, schema: {type: string}}
        get:
          operationId: read
          responses: &responses
            "200": {description: Done., content: {application/json: {schema: {type: object}}}}
            "503":
              description: The database is unavailable.
              content: {application/problem+json: {schema: {type: object}}}
        post: {operationId: write, responses: *responses}
        put: {operationId: query, responses: *responses}
        patch: {operationId: prepared, responses: *responses}
        delete:
          operationId: guarded
          security: [{key: []}]
          responses: *responses
      /later/pieces:
        get:
          operationId: pieces
          responses: {"200": {description: Pieces., content: {text/plain: {}}}}
    components:
      securitySchemes:
        key: {type: apiKey, in: header, name: X-Key, x-apikeyInfoFunc: NAME.auth.check_key}
"""
MODELS = """
    from sqlalchemy import MetaData
    from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

    from specd.db import NAMING, RowNumber

    class Base(DeclarativeBase):
        metadata = MetaData(naming_convention=NAMING)

    class Order(Base):
        __tablename__ = "customer_order"
        id: Mapped[int] = mapped_column(RowNumber, primary_key=True)
        text: Mapped[str] = mapped_column()
"""
HANDLERS = """
    from sqlalchemy import Connection, insert, select
    from sqlalchemy.orm import Session

    from specd import Context, before_transaction, read_only
    from {name}.models import Order

    def constant(ctx):
        pass

    def session(ctx):
        assert isinstance(ctx.session, Session)
        assert all(isinstance(each, Order) for each in ctx.session.scalars(select(Order)))

    def connection(ctx):
        assert isinstance(ctx.connection, Connection)
        ctx.connection.execute(select(Order))

    def both(ctx):
        session(ctx)
        connection(ctx)
        assert ctx.session is ctx.session
        assert ctx.session.connection() is ctx.connection

    def turned(ctx):
        connection(ctx)
        session(ctx)
        assert ctx.session.connection() is ctx.connection

    def add(ctx):
        ctx.session.add(Order(text="new"))

    def add_by_connection(ctx):
        ctx.connection.execute(insert(Order).values(text="new"))

    def add_both(ctx):
        add_by_connection(ctx)
        assert len(ctx.session.scalars(select(Order).where(Order.text == "new")).all()) == 1
        add(ctx)

    def change(ctx):
        ctx.session.get(Order, 1).text = "changed"

    def delete(ctx):
        ctx.session.delete(ctx.session.get(Order, 1))

    def add_and_read(ctx):
        add(ctx)
        ctx.session.scalars(select(Order)).all()

    def fail(ctx):
        add(ctx)
        ctx.session.flush()
        raise LookupError("a bug")

    def fail_by_connection(ctx):
        add_by_connection(ctx)
        raise LookupError("a bug")

    def fail_unused(ctx):
        raise LookupError("a bug")

    tries = []

    def race(ctx):
        tries.append(len(tries))
        ctx.session.add(Order(id=1 if len(tries) == 1 else 99, text="late"))

    def roll_back(ctx):
        add(ctx)
        ctx.session.flush()
        ctx.session.rollback()

    def roll_back_and_add(ctx):
        roll_back(ctx)
        add(ctx)

    def commit_and_read(ctx):
        connection(ctx)
        ctx.connection.commit()
        connection(ctx)

    def undocumented(ctx):
        add(ctx)
        return {}, 418

    def run(ctx, how):
        return globals()[how](ctx) or {}

    def read(ctx: Context, *, how):
        return run(ctx, how)

    def write(ctx: Context, *, how):
        return run(ctx, how)

    @read_only
    def query(ctx: Context, *, how):
        return run(ctx, how)

    def prepare(ctx, *, how):
        return run(ctx, how)

    @before_transaction(prepare)
    def prepared(ctx: Context, done):
        return done

    def guarded(ctx: Context, *, how):
        return run(ctx, how)

    def pieces(ctx: Context):
        def later():
            ctx.session
            yield b"never"
        return later(), 200, {"Content-Type": "text/plain"}
"""
AUTH = """
    from sqlalchemy import select
    from {name}.models import Order

    def check_key(key, *, request):
        if key == "known":
            request.connection.execute(select(Order))
        return key
"""
ORDERS = 3
READS, WRITES = ("GET", "PUT"), ("POST",)
USES = ("session", "connection", "both", "turned")
pytestmark = pytest.mark.both_databases


class Opened:
    """Counts connections taken from any pool and transactions of any engine."""

    def __init__(self) -> None:
        self.connections = 0
        self.in_use = 0

    def take(self, *_: object) -> None:
        self.connections += 1
        self.in_use += 1

    def give_back(self, *_: object) -> None:
        self.in_use -= 1

    @contextmanager
    def counted(self) -> Iterator[Opened]:
        """Count from the beginning of the block, and require that nothing is open at its end."""
        self.connections = self.in_use = 0
        listeners = [(Pool, "checkout", self.take), (Pool, "checkin", self.give_back)]
        for target, name, call in listeners:
            event.listen(target, name, call)
        try:
            yield self
        finally:
            for target, name, call in listeners:
                event.remove(target, name, call)
        assert self.in_use == 0


@pytest.fixture
def orders(sample: Sample) -> Sample:
    sample.write("{name}/openapi.yaml", DOCUMENT.replace("NAME", sample.name))
    sample.write("{name}/models.py", MODELS)
    sample.write("{name}/handlers.py", HANDLERS)
    sample.write("{name}/auth.py", AUTH)
    return sample


@pytest.fixture(params=["sqlite", "postgresql", "pooled"])
def url(request: pytest.FixtureRequest, orders: Sample) -> str:
    if request.param != "sqlite":
        server = request.getfixturevalue("postgres")
        more = {"pooling": "transaction"} if request.param == "pooled" else {}
        found = make_url(server.url_of(server.create())).update_query_dict(more)
        return found.render_as_string(hide_password=False)
    return f"sqlite:///{orders.root / 'orders.db'}"


@pytest.fixture
def engine(orders: Sample, url: str) -> Iterator[Engine]:
    orders.project()
    models: Any = import_module(f"{orders.name}.models")
    engine = create_engine(make_url(url).difference_update_query(["pooling"]))
    models.Base.metadata.create_all(engine)
    with engine.begin() as connection:
        connection.execute(models.Order.__table__.insert(), [{"text": "old"}] * ORDERS)
    yield engine
    engine.dispose()


@pytest.fixture
def client(orders: Sample, url: str, engine: Engine) -> Iterator[httpx.Client]:
    settings = {
        f"SPECD_{orders.name.upper()}_DATABASE_URL": url,
        "SPECD_VALIDATE_RESPONSES": "true",
    }
    with orders.client(**settings) as client:
        yield client


def texts_of(orders: Sample, engine: Engine) -> list[str]:
    model: Any = import_module(f"{orders.name}.models").Order
    with engine.connect() as connection:
        return list(connection.execute(select(model.text).order_by(model.id)).scalars())


OLD = ["old"] * ORDERS


class TestOpening:
    @pytest.mark.parametrize("method", [*READS, *WRITES, "PATCH"])
    def test_unused_unit_uses_no_connection(self, client: httpx.Client, method: str) -> None:
        with Opened().counted() as opened:
            assert client.request(method, "/shop/constant").status_code == 200
        assert opened.connections == 0

    @pytest.mark.parametrize("method", [*READS, *WRITES, "PATCH"])
    @pytest.mark.parametrize("use", USES)
    def test_used_unit_uses_one_connection(
        self, client: httpx.Client, method: str, use: str
    ) -> None:
        with Opened().counted() as opened:
            assert client.request(method, f"/shop/{use}").status_code == 200
        assert opened.connections == 1

    def test_security_function_opens_the_unit_only_if_it_reads(self, client: httpx.Client) -> None:
        """It runs twice: before the request is parsed, and in the writing unit."""
        for key, connections in (("known", 2), ("signed", 0)):
            with Opened().counted() as opened:
                answer = client.delete("/shop/constant", headers={"X-Key": key})
                assert answer.status_code == 200
            assert opened.connections == connections

    def test_requests_without_database_access_work_while_all_connections_are_in_use(
        self, orders: Sample, url: str, engine: Engine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(f"SPECD_{orders.name.upper()}_DATABASE_URL", url)
        monkeypatch.setenv("SPECD_DATABASE_POOL_SIZE", "1")
        monkeypatch.setenv("SPECD_LOCK_TIMEOUT_S", "0.2")
        made: list[Any] = []
        compose_really = compose

        def noted(*parts: Any, **named: Any) -> Any:
            made.append(compose_really(*parts, **named))
            return made[-1]

        monkeypatch.setattr("tests.specd.sample.compose", noted)
        with orders.client() as client, made[0].database.reading():
            assert client.get("/shop/connection").status_code == 503
            with ThreadPoolExecutor(8) as threads:
                found = threads.map(lambda _: client.get("/shop/constant").status_code, range(40))
            assert set(found) == {200}
        assert load_settings().database_pool_size == 1


class TestReading:
    @pytest.mark.parametrize("method", [*READS, "PATCH"])
    @pytest.mark.parametrize("how", ["add", "change", "delete", "add_and_read"])
    def test_changes_of_the_session_are_rejected(
        self, client: httpx.Client, orders: Sample, engine: Engine, method: str, how: str
    ) -> None:
        with capture_logs() as lines, Opened().counted():
            assert client.request(method, f"/shop/{how}").status_code == 500
        assert any("this operation only reads" in str(line) for line in lines)
        assert texts_of(orders, engine) == OLD

    @pytest.mark.parametrize("method", READS)
    def test_statements_with_changes_are_rejected(
        self, client: httpx.Client, orders: Sample, engine: Engine, method: str
    ) -> None:
        with capture_logs() as lines, Opened().counted():
            assert client.request(method, "/shop/add_by_connection").status_code == 500
        (error,) = (line["exc_info"] for line in lines if "exc_info" in line)
        assert any("this operation only reads" in note for note in error.__notes__)
        assert texts_of(orders, engine) == OLD

    def test_unit_ends_before_a_stream_begins(self, client: httpx.Client) -> None:
        with capture_logs() as lines, Opened().counted() as opened:
            assert b"never" not in client.get("/shop/later/pieces").content
        assert opened.connections == 0
        assert any("the unit of work has ended" in str(line) for line in lines)


class TestWriting:
    def test_session_and_connection_share_one_transaction(
        self, client: httpx.Client, orders: Sample, engine: Engine
    ) -> None:
        assert client.post("/shop/add_both").status_code == 200
        assert texts_of(orders, engine) == [*OLD, "new", "new"]

    def test_changes_of_the_connection_alone_are_committed(
        self, client: httpx.Client, orders: Sample, engine: Engine
    ) -> None:
        assert client.post("/shop/add_by_connection").status_code == 200
        assert texts_of(orders, engine) == [*OLD, "new"]

    def test_lost_race_is_retried(
        self, client: httpx.Client, orders: Sample, engine: Engine
    ) -> None:
        with Opened().counted() as opened:
            assert client.post("/shop/race").status_code == 200
        assert opened.connections == 2
        assert texts_of(orders, engine) == [*OLD, "late"]

    @pytest.mark.parametrize("how", ["roll_back", "roll_back_and_add", "commit_and_read"])
    def test_handler_that_ends_the_transaction_fails(
        self, client: httpx.Client, orders: Sample, engine: Engine, how: str
    ) -> None:
        with capture_logs() as lines:
            assert client.post(f"/shop/{how}").status_code == 500
        assert "begin_nested" in str([line.get("exc_info") for line in lines])
        assert client.post("/shop/add").status_code == 200  # there must be no locks
        assert texts_of(orders, engine) == [*OLD, "new"]

    @pytest.mark.parametrize("how", ["fail", "fail_by_connection", "fail_unused", "undocumented"])
    def test_error_rolls_back(
        self,
        client: httpx.Client,
        orders: Sample,
        engine: Engine,
        how: str,
    ) -> None:
        with Opened().counted() as opened:
            assert client.post(f"/shop/{how}").status_code == 500
        assert opened.connections == (how != "fail_unused")
        assert texts_of(orders, engine) == OLD
        assert client.post("/shop/add").status_code == 200  # there must be no locks


class TestOutage:
    @pytest.fixture(params=["sqlite", "postgresql"])
    def url(self, request: pytest.FixtureRequest, tmp_path: Path) -> str:
        if request.param == "postgresql":
            return "postgresql://nobody@127.0.0.1:1/nothing"
        return f"sqlite:///{tmp_path / 'no' / 'such' / 'folder' / 'orders.db'}"

    @pytest.fixture
    def client(self, orders: Sample, url: str) -> Iterator[httpx.Client]:
        with orders.client(**{f"SPECD_{orders.name.upper()}_DATABASE_URL": url}) as client:
            yield client

    @pytest.mark.parametrize("method", [*READS, *WRITES, "PATCH"])
    def test_only_requests_with_database_access_fail(
        self, client: httpx.Client, method: str
    ) -> None:
        assert client.request(method, "/shop/constant").status_code == 200
        for use in USES:
            answer = client.request(method, f"/shop/{use}")
            assert answer.status_code == 503
            assert answer.headers["Content-Type"] == "application/problem+json"
            assert answer.headers["Retry-After"]
            assert answer.json()["message"].startswith("The database did not answer")
        assert client.request(method, "/shop/constant").status_code == 200
