"""Units of work and their threads: returning commits, raising rolls back, waiting uses no
resources.
"""

import asyncio
import threading
import time
from typing import Any

import pytest

from specd import Context, before_transaction, read_only
from specd._engine.document.execution import SMALL
from specd._engine.threads import LONG_READS, Threads
from tests.specd.engine.client import Client
from tests.specd.engine.database import Books, LostRace
from tests.specd.engine.services import ADA, ANYTHING, operation, require_role, serve

BODY = {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}
AUTH = {
    "securitySchemes": {
        "bearer": {
            "type": "http",
            "scheme": "bearer",
            "x-bearerInfoFunc": "tests.specd.engine.test_operation.knows",
        }
    }
}
MAIN = threading.main_thread().name


ASKED: list[Any] = []
"""The sessions passed to security functions, in order."""
UNKNOWN: set[str] = set()
"""Users whose token expired after the first check."""


def knows(token: str, *, request: Context) -> str | None:
    used: Any = request.connection if request.is_read_only else request.session
    assert used in ("connection", "snapshot", []), "it must run first"
    ASKED.append(used)
    return "ada" if token == "good-token" and "ada" not in UNKNOWN else None


TURNS: list[str] = []


def takes_turns(token: str, *, request: Context) -> str:
    assert request.connection
    return TURNS.pop(0)


def service(books: Books, handler: Any, *, method: str = "post", **facts: Any) -> Client:
    described = operation("do", **facts)
    return serve({"/do": {method: described}}, {"do": handler}, database=books, components=AUTH)


def write(ctx: Context, *, body: dict[str, Any]) -> Any:
    ctx.session.append(body["value"])
    if body.get("fail"):
        raise LookupError
    if body.get("unspeakable"):
        return {"x": object()}
    if body.get("undocumented"):
        return ({"x": 1}, 418)
    return {"wrote": body["value"]}


def touch(ctx: Context) -> Any:
    assert ctx.connection
    return {"threads": []}


@pytest.fixture(params=[True, False], ids=["inline", "threads"])
def books(request: pytest.FixtureRequest) -> Books:
    return Books(inline=request.param)


class TestTwoPhases:
    def test_prepare_phase_runs_before_the_unit_and_off_the_event_loop(self, books: Books) -> None:
        seen: list[Any] = []

        def prepare(ctx: Context, *, body: dict[str, Any]) -> str:
            seen.append((threading.current_thread().name, ctx.connection, books.kept, body))
            return f"prepared {body['value']}"

        @before_transaction(prepare)
        def do(ctx: Context, prepared: str) -> Any:
            ctx.session.append(prepared)
            return {"prepared": prepared, "open": books.open}

        books.lose = 1
        client = service(books, do, requestBody=BODY, security=[{"bearer": []}])
        answer = client.post("/do", value={"value": 1}, headers=[ADA])
        assert answer.json == {"prepared": "prepared 1", "open": 1}
        assert books.kept == ["prepared 1"]
        ((thread, session, kept, body),) = seen  # once, although the unit ran twice
        assert (session, kept, body) == ("connection", books.kept, {"value": 1})
        assert thread != MAIN

    def test_error_of_the_prepare_phase_is_the_response(self, books: Books) -> None:
        def prepare(ctx: Context) -> None:
            raise LookupError

        @before_transaction(prepare)
        def do(ctx: Context, prepared: None, *, body: dict[str, Any]) -> Any:
            return write(ctx, body=body)

        client = service(books, do, requestBody=BODY)
        assert client.post("/do", value={"value": 1}).status == 500
        assert books.run_threads == set()

    def test_read_only_handler_opens_no_write_unit(self, books: Books) -> None:
        @read_only
        def do(ctx: Context, *, body: dict[str, Any]) -> Any:
            return {"session": ctx.session, "at": threading.current_thread().name}

        answer = service(books, do, requestBody=BODY).post("/do", value={"value": 1})
        assert answer.json["session"] == "session on connection"
        assert answer.json["at"] != MAIN
        assert books.run_threads == set()

    def test_prepare_phase_of_a_get_runs_off_the_event_loop(self, books: Books) -> None:
        @read_only
        def do(ctx: Context) -> Any:
            return {"at": threading.current_thread().name}

        answer = service(books, do, method="get").get("/do")
        assert answer.json["at"] != MAIN


class TestWriting:
    def test_return_commits(self, books: Books) -> None:
        answer = service(books, write, requestBody=BODY).post("/do", value={"value": 1})
        assert (answer.status, answer.json) == (200, {"wrote": 1})
        assert (books.kept, books.undone, books.open) == ([1], 0, 0)

    def test_raise_rolls_back(self, books: Books) -> None:
        client = service(books, write, requestBody=BODY)
        assert client.post("/do", value={"value": 1, "fail": True}).status == 500
        assert (books.kept, books.undone, books.open) == ([], 1, 0)

    @pytest.mark.parametrize("how", ["unspeakable", "undocumented"])
    def test_invalid_response_rolls_back(self, books: Books, how: str) -> None:
        responses = {"200": ANYTHING["default"]}
        described = {**operation("do", requestBody=BODY), "responses": responses}
        client = serve({"/do": {"post": described}}, {"do": write}, database=books)
        assert client.post("/do", value={"value": 1, how: True}).status == 500
        assert (books.kept, books.undone) == ([], 1)

    def test_lost_race_is_retried(self, books: Books) -> None:
        books.lose = 1
        answer = service(books, write, requestBody=BODY).post("/do", value={"value": 1})
        assert answer.status == 200
        assert (books.kept, books.undone) == ([1], 1)

    def test_lost_race_is_retried_only_once(self, books: Books) -> None:
        books.lose = 2
        answer = service(books, write, requestBody=BODY).post("/do", value={"value": 1})
        assert (answer.status, answer.json["code"]) == (500, "Bug")
        assert (books.kept, books.undone) == ([], 2)
        assert issubclass(LostRace, Exception)

    def test_writes_never_run_on_the_event_loop(self, books: Books) -> None:
        service(books, write, requestBody=BODY).post("/do", value={"value": 1})
        assert len(books.run_threads) == 1
        assert MAIN not in books.run_threads

    def test_invalid_request_opens_no_unit(self, books: Books) -> None:
        client = service(books, write, requestBody=BODY, security=[{"bearer": []}])
        assert client.post("/do", value={"value": 1}).status == 401
        assert client.post("/do", value=[], headers=[ADA]).status == 422
        assert books.run_threads == set()

    def test_unit_has_the_actor(self, books: Books) -> None:
        def do(ctx: Context) -> Any:
            assert ctx.session == []
            return {"actor": ctx.actor}

        client = service(books, do, security=[{"bearer": []}])
        assert client.post("/do", headers=[ADA]).json == {"actor": "ada"}

    @pytest.mark.parametrize("is_async", [True, False])
    def test_actor_is_checked_again_in_the_unit(
        self, books: Books, monkeypatch: pytest.MonkeyPatch, is_async: bool
    ) -> None:
        """If the actor no longer exists when the unit begins, each try writes nothing."""

        def do(ctx: Context) -> Any:
            ctx.session.append("written")
            return {"actor": ctx.actor}

        async def do_waiting(ctx: Context) -> Any:
            await ctx.write(lambda session: session.append("written"))
            return {"actor": ctx.actor}

        client = service(books, do_waiting if is_async else do, security=[{"bearer": []}])
        ASKED.clear()
        books.lose = 1
        assert client.post("/do", headers=[ADA]).json == {"actor": "ada"}
        assert ASKED == ["connection", ["written"], ["written"]]
        run = books.run_unit

        def run_late(work: Any) -> Any:
            UNKNOWN.add("ada")
            return run(work)

        monkeypatch.setattr(books, "run_unit", run_late)
        try:
            answer = client.post("/do", headers=[ADA])
        finally:
            UNKNOWN.clear()
        assert (answer.status, answer.json["code"]) == (401, "Unauthenticated")
        assert books.kept == ["written"]

    @pytest.mark.parametrize("is_async", [True, False])
    def test_role_is_checked_again_in_the_unit(self, books: Books, is_async: bool) -> None:
        """The first check finds root, and the second finds Ada."""

        def do(ctx: Context) -> Any:
            ctx.session.append("written")
            return {}

        async def do_waiting(ctx: Context) -> Any:
            await ctx.write(lambda session: session.append("written"))
            return {}

        scheme = {"type": "http", "scheme": "bearer"}
        function = {"x-bearerInfoFunc": f"{__name__}.takes_turns"}
        described = operation("do", security=[{"bearer": []}], **{"x-required-role": "root"})
        client = serve(
            {"/do": {"post": described}},
            {"do": do_waiting if is_async else do},
            database=books,
            components={"securitySchemes": {"bearer": {**scheme, **function}}},
            require_role=require_role,
        )
        TURNS[:] = ["root", "ada"]
        answer = client.post("/do", headers=[ADA])
        assert (answer.status, answer.json["code"]) == (403, "NotAllowed")
        assert (books.kept, books.undone) == ([], 1)

    def test_unauthenticated_write_does_not_check_the_actor(self, books: Books) -> None:
        async def do(ctx: Context) -> Any:
            UNKNOWN.add("ada")
            await ctx.write_down(lambda session: session.append("done"))
            return {}

        client = service(books, do, security=[{"bearer": []}])
        try:
            assert client.post("/do", headers=[ADA]).status == 200
        finally:
            UNKNOWN.clear()
        assert books.kept == ["done"]

    @pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
    def test_every_method_except_get_writes(self, books: Books, method: str) -> None:
        def do(ctx: Context) -> Any:
            ctx.session.append(method)
            return {}

        assert service(books, do, method=method).send(method.upper(), "/do").status == 200
        assert books.kept == [method]


class TestReading:
    def test_get_reads_in_the_thread_that_the_database_prefers(self, books: Books) -> None:
        def do(ctx: Context) -> Any:
            return {"session": ctx.session, "thread": threading.current_thread().name}

        answer = service(books, do, method="get").get("/do")
        assert answer.json["session"] == "session on connection"
        assert (answer.json["thread"] == MAIN) is books.reads_inline
        assert (books.run_threads, books.open) == (set(), 0)

    @pytest.mark.parametrize("most", [None, 1000])
    def test_long_list_is_read_off_the_event_loop(self, books: Books, most: int | None) -> None:
        def do(ctx: Context) -> Any:
            assert ctx.connection
            return {"threads": [threading.current_thread().name]}

        names: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
        if most is not None:
            names["maxItems"] = most
        schema = {"type": "object", "properties": {"threads": names}}
        good = {"description": "", "content": {"application/json": {"schema": schema}}}
        answer = service(books, do, method="get", responses={"200": good}).get("/do")
        assert answer.json["threads"] != [MAIN]
        assert MAIN not in books.read_threads

    def test_short_list_is_read_on_the_event_loop(self) -> None:
        books = Books(inline=True)
        names = {"type": "array", "maxItems": 100, "items": {"type": "string"}}
        schema = {"type": "object", "properties": {"threads": names}}
        good = {"description": "", "content": {"application/json": {"schema": schema}}}
        client = service(books, touch, method="get", responses={"200": good})
        assert client.get("/do").status == 200
        assert books.read_threads == {MAIN}

    def test_reads_of_a_large_request_run_off_the_event_loop(self) -> None:
        books = Books(inline=True)
        client = service(books, write, security=[{"bearer": []}], requestBody=BODY)
        for size, is_inline in ((10, True), (SMALL, False)):
            books.read_threads.clear()
            client.post("/do", headers=[ADA], value={"value": 1, "more": "x" * size})
            assert (books.read_threads == {MAIN}) is is_inline

    def test_security_function_never_waits_on_the_event_loop(self) -> None:
        books = Books(inline=False)
        client = service(books, lambda ctx: {}, method="get", security=[{"bearer": []}])
        assert client.get("/do", headers=[ADA]).status == 200
        assert MAIN not in books.read_threads

    def test_failing_read_closes_its_connection(self, books: Books) -> None:
        def do(ctx: Context) -> Any:
            return 1 / bool(ctx.connection is None)

        assert service(books, do, method="get").get("/do").status == 500
        assert (books.open, books.most_open) == (0, 1)


class TestWaiting:
    @pytest.mark.parametrize("is_secured", [True, False])
    def test_async_handler_uses_a_thread_only_if_its_security_may_wait(
        self, is_secured: bool
    ) -> None:
        books = Books(inline=False)

        async def do(ctx: Context) -> Any:
            return {}

        facts = {"security": [{"bearer": []}]} if is_secured else {}
        client = service(books, do, method="get", **facts)
        given: list[Any] = []
        really = Threads.run_reading

        def run(threads: Threads, *parts: Any) -> Any:
            given.append(parts)
            return really(threads, *parts)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Threads, "run_reading", run)
            assert client.get("/do", headers=[ADA]).status == 200
        assert bool(given) is is_secured
        assert MAIN not in books.read_threads

    def test_units_of_an_async_handler_are_independent(self, books: Books) -> None:
        async def do(ctx: Context) -> Any:
            with pytest.raises(RuntimeError, match=r"ctx\.session: an async def handler uses"):
                ctx.session  # noqa: B018
            before = books.open
            seen = await ctx.read(lambda connection: connection)
            await ctx.write(lambda session: session.append(seen))
            return {"open": before + books.open, "actor": ctx.actor}

        client = service(books, do, security=[{"bearer": []}])
        assert client.post("/do", headers=[ADA]).json == {"open": 0, "actor": "ada"}
        assert books.kept == ["connection"]

    def test_snapshot_of_an_async_handler_begins_with_the_actor(self, books: Books) -> None:
        asked: list[Any] = []

        async def do(ctx: Context) -> Any:
            before, ctx.actor = ctx.actor, None
            seen = await ctx.read_snapshot(lambda connection: (connection, ctx.actor))
            asked.append(before)
            return {"seen": list(seen), "open": books.open}

        client = service(books, do, security=[{"bearer": []}])
        assert client.post("/do", headers=[ADA]).json == {"seen": ["snapshot", "ada"], "open": 0}
        assert asked == ["ada"]

    def test_failing_unit_of_an_async_handler_is_rolled_back(self, books: Books) -> None:
        async def do(ctx: Context) -> Any:
            await ctx.write(lambda session: 1 / 0)

        assert service(books, do).post("/do").status == 500
        assert (books.kept, books.undone, books.open) == ([], 1, 0)

    def test_200_waiting_requests_use_neither_threads_nor_connections(self, books: Books) -> None:
        """With two threads in total, other requests are served while 200 requests wait."""
        waiting = 0

        async def wait(ctx: Context) -> Any:
            nonlocal waiting
            await ctx.read(lambda connection: None)
            waiting += 1
            await released.wait()
            await ctx.write(lambda session: session.append("late"))
            return {}

        def write_now(ctx: Context) -> Any:
            ctx.session.append("now")
            return {}

        client = serve(
            {
                "/wait": {"post": operation("wait", security=[{"bearer": []}])},
                "/now": {"post": operation("write_now"), "get": operation("read_now")},
            },
            {"wait": wait, "write_now": write_now, "read_now": lambda ctx: {}},
            database=books,
            components=AUTH,
        )

        async def play() -> None:
            nonlocal released
            released = asyncio.Event()
            held = [
                asyncio.ensure_future(client.exchange("POST", "/wait", headers=[ADA]))
                for _ in range(200)
            ]
            deadline = time.monotonic() + 30
            while waiting < 200:
                assert time.monotonic() < deadline
                await asyncio.sleep(0.001)
            assert books.open == 0
            for _ in range(20):
                assert (await client.exchange("POST", "/now")).status == 200
                assert (await client.exchange("GET", "/now")).status == 200
            assert books.kept == ["now"] * 20
            assert not any(one.done() for one in held)
            released.set()
            assert {answer.status for answer in await asyncio.gather(*held)} == {200}

        released: asyncio.Event
        asyncio.run(play())
        assert books.kept == ["now"] * 20 + ["late"] * 200
        most = books.write_threads + (LONG_READS if books.reads_inline else 0)
        assert books.most_open <= most + 1
        names = books.read_threads | books.run_threads
        assert len(names - {MAIN}) <= most

    @pytest.mark.parametrize("name", ["session", "connection"])
    def test_service_without_a_database_has_no_session(self, name: str) -> None:
        messages: list[str] = []

        def do(ctx: Context) -> Any:
            with pytest.raises(RuntimeError) as raised:
                getattr(ctx, name)
            messages.append(str(raised.value))
            return {}

        assert serve({"/do": {"get": operation("do")}}, {"do": do}).get("/do").status == 200
        assert messages == [f"ctx.{name}: the service has no database"]

    def test_handler_runs_without_a_database(self, shop: Client) -> None:
        answer = shop.post("/notes/wait?seconds=0")
        assert (answer.status, answer.json) == (200, {"waited": 0})


class TestLiveness:
    def test_slow_write_does_not_delay_reads(self) -> None:
        """Like SQLite: reads run inline, and the only writing thread waits for a lock."""
        books = Books(inline=True, threads=1)
        stuck = threading.Event()

        def write_slowly(ctx: Context) -> Any:
            assert stuck.wait(30)
            return {}

        client = serve(
            {"/do": {"post": operation("write_slowly"), "get": operation("read_now")}},
            {"write_slowly": write_slowly, "read_now": lambda ctx: {}},
            database=books,
        )

        async def play() -> None:
            slow = [asyncio.ensure_future(client.exchange("POST", "/do")) for _ in range(5)]
            for _ in range(20):
                assert (await client.exchange("GET", "/do")).status == 200
            assert not any(one.done() for one in slow)
            stuck.set()
            assert {answer.status for answer in await asyncio.gather(*slow)} == {200}

        asyncio.run(play())


class TestRateLimits:
    class Limit:
        def __init__(self) -> None:
            self.taken: list[Any] = []

        def take(self, ctx: Context) -> tuple[tuple[str, str], ...]:
            self.taken.append(ctx.actor)
            return (("RateLimit", f"left={9 - len(self.taken)}"),)

    def test_every_request_counts_once_and_gets_the_remaining_limit(self) -> None:
        limit = self.Limit()
        client = serve(
            {"/do": {"post": operation("do", security=[{"bearer": []}], requestBody=BODY)}},
            {"do": lambda ctx, *, body: {}},
            components={
                "securitySchemes": {
                    "bearer": {
                        "type": "http",
                        "scheme": "bearer",
                        "x-bearerInfoFunc": "tests.specd.engine.shop.auth.bearer",
                    }
                }
            },
            rate_limit=limit,
        )
        answers = [
            client.post("/do", headers=[ADA], value={}),
            client.post("/do", headers=[ADA], value=[]),
            client.post("/do", value={}),
        ]
        assert [answer.status for answer in answers] == [200, 422, 401]
        assert [answer.header("RateLimit") for answer in answers] == ["left=8", "left=7", "left=6"]
        assert limit.taken == ["ada", "ada", None]
