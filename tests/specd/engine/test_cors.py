"""CORS, step by step: the conclusions of a browser from our responses (Fetch standard, 3.3, 4.8,
4.9).

`Page` implements the part of a browser that the standard describes. It sends a preflight request if
required, and returns the response or a network error to the page.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from specd import Context, Cors
from specd._engine.errors import ForeignOrigin
from specd._engine.http.browsers import Origins
from specd._engine.openapi.union import Document
from specd._engine.serving.app import build_app
from tests.specd.engine.client import Answer, Client
from tests.specd.engine.services import (
    ADA,
    KEY,
    module,
    operation,
    respond,
    serve,
    shop,
    shop_service,
)
from tests.specd.engine.services import document as document_of
from tests.specd.engine.wire import Connection, answer_to, request

APP = "https://app.example"
OTHER = "https://other.example"
SAFE_METHODS = ("GET", "HEAD", "POST")
NAMED = Origins("https://pay.example", [APP])
ANYONE = Origins("https://pay.example", cors=Cors(["*"]))
MIXED = Origins("https://pay.example", [APP], Cors(["*"]))


class NetworkError(Exception):
    """The page gets no information."""


def values(answer: Answer, name: str) -> list[str]:
    """All values of a header that is a list."""
    return [
        value.strip()
        for key, text in answer.headers
        if key == name.lower()
        for value in text.split(",")
        if value.strip()
    ]


@dataclass
class Page:
    """A page of an origin, and the requests that its browser sends."""

    client: Client
    origin: str = APP
    includes_credentials: bool = False
    preflights: list[Answer] = field(default_factory=list)

    def fetch(
        self, method: str, path: str, headers: Sequence[tuple[str, str]] = (), **facts: Any
    ) -> Answer:
        """Section 4.3, "HTTP fetch"."""
        names = [name.lower() for name, _ in headers]
        if method not in SAFE_METHODS or names:
            self.preflight(method, path, names)
        sent = [*headers, ("Origin", self.origin)]
        if self.includes_credentials:
            sent.append(("Cookie", "session=1"))
        answer = self.client.send(method, path, headers=sent, **facts)
        self.check(answer)
        return answer

    def preflight(self, method: str, path: str, names: Sequence[str] = ()) -> None:
        """Section 4.8, "CORS-preflight fetch"."""
        asked = [("Origin", self.origin), ("Access-Control-Request-Method", method)]
        if names:
            asked.append(("Access-Control-Request-Headers", ",".join(sorted(names))))
        answer = self.client.send("OPTIONS", path, headers=asked)
        self.preflights.append(answer)
        self.check(answer)
        if answer.status not in range(200, 300):
            raise NetworkError("status")
        allowed = values(answer, "Access-Control-Allow-Methods")
        if method not in (*allowed, *SAFE_METHODS) and not self._by_wildcard(allowed):
            raise NetworkError("method")
        known = [name.lower() for name in values(answer, "Access-Control-Allow-Headers")]
        for name in names:
            is_wild = self._by_wildcard(known) and name != "authorization"
            if name not in known and not is_wild:
                raise NetworkError("header")

    def check(self, answer: Answer) -> None:
        """Section 4.9, "CORS check"."""
        allowed = [value for key, value in answer.headers if key == "access-control-allow-origin"]
        if len(allowed) != 1:
            raise NetworkError("origin")
        if not self.includes_credentials and allowed == ["*"]:
            return
        if allowed != [self.origin]:
            raise NetworkError("origin")
        credentials = [v for key, v in answer.headers if key == "access-control-allow-credentials"]
        if self.includes_credentials and credentials != ["true"]:
            raise NetworkError("credentials")

    def readable(self, answer: Answer) -> set[str]:
        """Section 2.2.2, the names of the headers that the page can read."""
        exposed = values(answer, "Access-Control-Expose-Headers")
        names = {name for name, _ in answer.headers}
        if self._by_wildcard(exposed):
            return names
        return names & {*map(str.lower, exposed), "content-type", "content-length"}

    def _by_wildcard(self, listed: Sequence[str]) -> bool:
        return not self.includes_credentials and "*" in listed


@contextmanager
def network_error(reason: str) -> Iterator[None]:
    with pytest.raises(NetworkError, match=reason):
        yield


@pytest.fixture(scope="module")
def named() -> Client:
    return shop(origins=NAMED)


@pytest.fixture(scope="module")
def anyone() -> Client:
    return shop(origins=ANYONE)


@pytest.fixture(scope="module")
def mixed() -> Client:
    return shop(origins=MIXED)


ERRORS = [
    ("GET", "/items", [ADA], 200),
    ("POST", "/items", [KEY], 401),
    ("GET", "/items?limit=x", [ADA], 422),
    ("GET", "/nothing", [ADA], 404),
    ("GET", "/items/%ff", [ADA], 422),
    ("GET", f"/items/{'x' * 9000}", [ADA], 414),
    ("PUT", "/items", [ADA], 405),
    ("POST", "/items", [ADA, KEY, ("Content-Length", "99999999")], 413),
    ("POST", "/items", [ADA, KEY, ("Content-Type", "image/png")], 415),
    ("GET", "/items", [ADA, *([("X-Long", "x" * 999)] * 99)], 431),
    ("GET", "/items", [ADA, ("Host", "a"), ("Host", "b")], 422),
]


class TestOrigin:
    """3.3.3: `Access-Control-Allow-Origin` names the origin, or is `*`."""

    @pytest.mark.parametrize(("method", "path", "headers", "status"), ERRORS)
    def test_responses_and_errors_name_an_allowed_origin(
        self,
        named: Client,
        method: str,
        path: str,
        headers: list[tuple[str, str]],
        status: int,
    ) -> None:
        answer = Page(named).fetch(method, path, headers)
        assert answer.status == status
        assert "request-id" in Page(named).readable(answer)

    @pytest.mark.parametrize(("method", "path", "headers", "status"), ERRORS)
    def test_no_response_names_another_origin(
        self,
        named: Client,
        method: str,
        path: str,
        headers: list[tuple[str, str]],
        status: int,
    ) -> None:
        sent = [*headers, ("Origin", "https://pay.example")]
        answer = named.send(method, path, headers=sent)
        assert answer.status == status
        with network_error("origin"):
            Page(named, "https://pay.example").check(answer)

    def test_error_of_a_handler_names_the_origin(self) -> None:
        def fail(ctx: Context) -> None:
            raise RuntimeError

        client = serve({"/a": {"get": operation("fail")}}, {"fail": fail}, origins=NAMED)
        assert Page(client).fetch("GET", "/a").status == 500

    def test_stream_names_the_origin(self) -> None:
        def read(ctx: Context) -> Any:
            return iter(["a", "b"])

        answers = {"200": {"description": "Text.", "content": {"text/plain": {}}}}
        client = serve(
            {"/a": {"get": {**operation("read"), "responses": answers}}},
            {"read": read},
            origins=NAMED,
        )

        async def wait() -> Any:
            await asyncio.Event().wait()

        assert Page(client).fetch("GET", "/a", receive=wait).body == b"ab"

    @pytest.mark.parametrize(
        "origin",
        ["null", "http://app.example", "https://app.example:444", "https://app.example.evil"],
    )
    def test_different_origins_are_distinguished(self, named: Client, origin: str) -> None:
        with network_error("origin"):
            Page(named, origin).fetch("GET", "/items")

    def test_all_origins_can_be_allowed(self, anyone: Client) -> None:
        for origin in (APP, OTHER, "null"):
            assert Page(anyone, origin).fetch("GET", "/nothing").status == 404

    def test_cors_headers_of_a_handler_are_kept(self) -> None:
        def read(ctx: Context) -> Any:
            return {}, 200, {"Access-Control-Allow-Origin": "*"}

        client = serve({"/a": {"get": operation("read")}}, {"read": read}, origins=NAMED)
        assert Page(client, OTHER).fetch("GET", "/a").status == 200
        assert Page(client).fetch("GET", "/a").status == 200


class TestRefusedBeforeRouting:
    """Responses that the protocol sends without an application, because the connection ends."""

    @pytest.mark.parametrize(
        ("head", "status"),
        [
            (b"GET /shop/items HTTP/1.1\r\n%b\r\n", b"422"),  # no Host
            (b"GET /shop/items HTTP/1.1\r\nHost: a\r\n%bA: b\r\nBad Name: a\r\n\r\n", b"422"),
            (b"GET /shop/items HTTP/1.1\r\nHost: a\r\n%bX: " + b"x" * 40_000, b"431"),
        ],
    )
    def test_name_an_allowed_origin(self, head: bytes, status: bytes) -> None:
        for origin, is_readable in ((APP, True), (OTHER, False)):
            answer = answer_to(head % f"Origin: {origin}\r\n".encode(), origins=NAMED)
            assert answer.split(b" ")[1] == status
            lines = answer.partition(b"\r\n\r\n")[0].split(b"\r\n")
            assert (f"access-control-allow-origin: {origin}".encode() in lines) is is_readable
            assert b"vary: Origin" in lines


class TestOverOurServer:
    """Requests received in one packet are answered in the callback of the parser, without ASGI."""

    def test_responses_and_preflights_have_the_same_headers(self) -> None:
        async def talk(*, as_ever: bool) -> bytes:
            connection = Connection(build_app([shop_service(origins=NAMED)]), as_ever=as_ever)
            origin = f"Origin: {APP}".encode()
            asked = b"Access-Control-Request-Method: POST"
            connection.feed(request(b"OPTIONS /shop/items", origin, asked))
            connection.feed(request(b"GET /shop/nothing", origin))
            connection.feed(request(b"GET /shop/nothing"))
            return (await connection.settle())[0]

        fast = asyncio.run(talk(as_ever=False))
        assert fast == asyncio.run(talk(as_ever=True))
        assert fast.count(f"access-control-allow-origin: {APP}".encode()) == 2
        assert fast.count(b"vary: Origin") == 3
        assert fast.startswith(b"HTTP/1.1 204 No Content")


class TestPreflight:
    """4.8: sent before a request that a form could not send."""

    def test_names_the_methods_of_the_path(self, named: Client) -> None:
        page = Page(named)
        page.preflight("POST", "/items", ["authorization", "content-type"])
        (answer,) = page.preflights
        assert (answer.status, answer.body) == (204, b"")
        assert values(answer, "Access-Control-Allow-Methods") == ["GET", "HEAD", "POST"]
        assert answer.header("Allow") == "GET, HEAD, OPTIONS, POST"

    @pytest.mark.parametrize("path", ["/items", "/nothing", "/items/%ff", f"/items/{'x' * 9000}"])
    def test_pages_can_read_errors_of_wrong_methods_and_paths(
        self, named: Client, path: str
    ) -> None:
        assert Page(named).fetch("PUT", path, [ADA]).status in (404, 405, 414, 422)

    def test_names_the_requested_headers(self, named: Client) -> None:
        Page(named).preflight("GET", "/items", ["authorization", "x-anything"])

    @pytest.mark.parametrize("names", ["", "a\tb", "a b", "a:b", ",", "a,,b"])
    def test_wrong_names_allow_nothing(self, named: Client, names: str) -> None:
        asked = [
            ("Origin", APP),
            ("Access-Control-Request-Method", "GET"),
            ("Access-Control-Request-Headers", names),
        ]
        answer = named.send("OPTIONS", "/items", headers=asked)
        assert answer.status == 204
        assert answer.header("Access-Control-Allow-Headers") is None

    def test_wrong_method_allows_nothing(self, named: Client) -> None:
        asked = [("Origin", APP), ("Access-Control-Request-Method", "a b")]
        answer = named.send("OPTIONS", "/nothing", headers=asked)
        assert answer.header("Access-Control-Allow-Methods") == ""

    def test_other_origin_is_allowed_nothing(self, named: Client) -> None:
        page = Page(named, OTHER)
        with network_error("origin"):
            page.preflight("POST", "/items")
        names = {name for name, _ in page.preflights[0].headers}
        assert not {name for name in names if name.startswith("access-control-")}

    def test_reaches_no_operation(self) -> None:
        """Even if the document has an operation for OPTIONS: no credentials, no handler, no row."""
        called = []

        def choose(ctx: Context) -> dict[str, Any]:
            called.append("handler")
            return {}

        def check(token: str, **_: Any) -> None:
            called.append("authentication")

        class Database:
            reads_inline = True
            write_threads = 1

            def __getattr__(self, name: str) -> Any:
                called.append(name)
                raise AttributeError(name)

        client = serve(
            {"/a": {"options": operation("choose"), "get": operation("choose", operationId="b")}},
            {"choose": choose, "b": choose},
            origins=NAMED,
            database=Database(),
        )
        called.clear()
        Page(client).preflight("GET", "/a", ["authorization"])
        with network_error("origin"):
            Page(client, OTHER).preflight("GET", "/a")
        assert called == []

    def test_has_the_configured_lifetime(self) -> None:
        for cors, seconds in ((Cors([APP]), "7200"), (Cors([APP], max_age_s=60), "60")):
            page = Page(shop(origins=Origins(cors=cors)))
            page.preflight("GET", "/items")
            assert page.preflights[0].header("Access-Control-Max-Age") == seconds

    def test_is_documented_by_the_service_without_origins(self, shop: Client) -> None:
        asked = [("Origin", APP), ("Access-Control-Request-Method", "GET")]
        assert shop.send("OPTIONS", "/nothing", headers=asked).status == 404
        answer = shop.send("OPTIONS", "/items", headers=asked)
        assert answer.header("Allow")
        assert answer.header("Access-Control-Allow-Methods") is None


class TestCredentials:
    """3.3.5: `*` never goes with credentials."""

    def test_are_allowed_for_named_origins(self, named: Client, mixed: Client) -> None:
        for client in (named, mixed):
            page = Page(client, includes_credentials=True)
            assert page.fetch("GET", "/items", [("X-Own", "1")]).status == 200

    def test_are_not_allowed_for_others(self, anyone: Client, mixed: Client) -> None:
        for client in (anyone, mixed):
            assert Page(client, OTHER).fetch("GET", "/items").status == 200
            with network_error("origin"):
                Page(client, OTHER, includes_credentials=True).fetch("GET", "/items")

    def test_can_be_disallowed(self) -> None:
        client = shop(origins=Origins(cors=Cors([APP], credentials=False)))
        assert Page(client).fetch("GET", "/items").status == 200
        with network_error("credentials"):
            Page(client, includes_credentials=True).fetch("GET", "/items")

    def test_authorization_set_by_the_page_is_allowed_for_any_origin(self, anyone: Client) -> None:
        """In a response to a preflight, `*` does not include Authorization, so it is named."""
        item = {"name": "Bolt", "price": 1}
        answer = Page(anyone, OTHER).fetch("POST", "/items", [ADA, KEY], value=item)
        assert answer.status not in (401, 403)

    @pytest.mark.parametrize(
        ("header", "is_refused"),
        [
            ({}, False),
            ({b"authorization": b"Bearer good-token"}, False),
            ({b"authorization": b"Basic Og=="}, True),
            ({b"authorization": b"negotiate a"}, True),
            ({b"cookie": b"session=1"}, True),
        ],
    )
    def test_cookies_added_by_the_browser_change_nothing(
        self, header: dict[bytes, bytes], is_refused: bool
    ) -> None:
        """A form needs no preflight and sends the cookies of the target site."""
        sent = {b"origin": OTHER.encode(), b"sec-fetch-site": b"cross-site", **header}
        disallowed = Origins(cors=Cors([OTHER], credentials=False))
        for origins in (ANYONE, MIXED, disallowed):
            if is_refused:
                with pytest.raises(ForeignOrigin):
                    origins.check(sent)
            else:
                origins.check(sent)
        Origins(cors=Cors([OTHER])).check(sent)


class TestExposedHeaders:
    """3.3.3: `Access-Control-Expose-Headers`."""

    def test_are_all_by_default(self, named: Client, anyone: Client, mixed: Client) -> None:
        for client, origin in ((named, APP), (anyone, OTHER), (mixed, APP), (mixed, OTHER)):
            page = Page(client, origin)
            answer = page.fetch("PUT", "/items", [ADA])
            assert {"allow", "request-id", "content-type"} <= page.readable(answer)

    def test_cookies_are_never_exposed(self) -> None:
        def read(ctx: Context) -> Any:
            return {}, 200, {"Set-Cookie": "a=b"}

        client = serve({"/a": {"get": operation("read")}}, {"read": read}, origins=NAMED)
        answer = Page(client).fetch("GET", "/a")
        assert "set-cookie" not in Page(client).readable(answer)

    @pytest.mark.parametrize("origin", [APP, "*"])
    def test_can_be_chosen(self, origin: str) -> None:
        cors = Cors([origin], exposed_headers=["Request-Id", "X-Left"])
        answer = Page(shop(origins=Origins(cors=cors))).fetch("GET", "/items")
        assert values(answer, "Access-Control-Expose-Headers") == ["Request-Id", "X-Left"]


class TestCaches:
    """3.3.7: a response that names an origin varies by it, even for a request without an origin."""

    @pytest.mark.parametrize("path", ["/items", "/nothing"])
    @pytest.mark.parametrize("headers", [[], [("Origin", APP)], [("Origin", OTHER)]])
    def test_responses_vary_by_origin(
        self, named: Client, mixed: Client, path: str, headers: list[tuple[str, str]]
    ) -> None:
        for client in (named, mixed):
            assert values(client.get(path, headers=headers), "Vary") == ["Origin"]

    def test_responses_for_all_origins_do_not_vary(self, anyone: Client, shop: Client) -> None:
        for client in (anyone, shop):
            for headers in ([], [("Origin", APP)]):
                assert client.get("/items", headers=headers).header("Vary") is None


class TestDocuments:
    """All origins can read published documents, and allowed origins with credentials."""

    @pytest.mark.parametrize("path", ["/openapi.json", "/openapi.yaml"])
    def test_every_page_can_read_them(
        self, shop: Client, named: Client, anyone: Client, mixed: Client, path: str
    ) -> None:
        for client in (shop, named, anyone, mixed):
            page = Page(client, OTHER)
            answer = page.fetch("GET", path, [("If-None-Match", '"old"')])
            assert answer.status == 200
            assert "etag" in page.readable(answer)
        for client in (named, mixed):
            page = Page(client, includes_credentials=True)
            assert page.fetch("GET", path, [("If-None-Match", '"old"')]).status == 200


def test_nothing_is_shared_without_origins(shop: Client) -> None:
    answer = shop.get("/items", headers=[ADA, ("Origin", APP)])
    assert not [name for name, _ in answer.headers if name.startswith("access-control-")]


@pytest.mark.parametrize(
    "origins", ["https://app.example", ["app.example"], ["https://a.example/"]]
)
def test_invalid_origins_are_rejected(origins: Any) -> None:
    with pytest.raises(ValueError, match="origin"):
        Cors(origins)


def test_each_service_has_its_own_origins() -> None:
    def read(ctx: Context) -> dict[str, Any]:
        return {}

    other = shop_service(
        name="other",
        documents=[Document("other", document_of({"/a": {"get": operation("read")}}))],
        handlers=module("things", read=read),
        base_path="/other",
        respond=respond,
    )
    client = Client(build_app([shop_service(origins=NAMED), other]))
    assert Page(client).fetch("GET", "/shop/items").status == 200
    with network_error("origin"):
        Page(client).fetch("GET", "/other/a")
