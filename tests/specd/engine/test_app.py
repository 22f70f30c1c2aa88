"""The application around the engine: lifespan, periodic work, pages, probes, documents, metrics."""

import asyncio
import os
import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from specd import __version__
from specd._engine.serving.app import build_app
from specd._engine.serving.health import is_inside
from tests.specd.engine.client import Client
from tests.specd.engine.database import Books
from tests.specd.engine.services import (
    PUBLISHED,
    PUBLISHED_TEXT,
    SHOP,
    module,
    operation,
    serve,
    shop,
    shop_service,
)

ROOT = Path(__file__).parents[3]


async def live(app: Any, play: Any) -> list[str]:
    """Run the lifespan of an application around `play`. Return the messages that it sent."""
    inbox: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    sent: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    task = asyncio.ensure_future(app({"type": "lifespan", "state": {}}, inbox.get, sent.put))
    await inbox.put({"type": "lifespan.startup"})
    async with asyncio.timeout(10):
        messages = [(await sent.get())["type"]]
        await play()
        await inbox.put({"type": "lifespan.shutdown"})
        messages.append((await sent.get())["type"])
        await task
    return messages


class TestLifespan:
    def test_chores_run_repeatedly_and_at_the_end(self) -> None:
        books = Books(inline=True)
        runs: list[tuple[Any, datetime]] = []
        app = build_app(
            [
                shop_service(
                    database=books,
                    chores={"count": (0.001, lambda database, now: runs.append((database, now)))},
                )
            ]
        )
        before_end = 0

        async def play() -> None:
            nonlocal before_end
            while len(runs) < 3:
                await asyncio.sleep(0.001)
            before_end = len(runs)
            assert not books.is_disposed

        messages = asyncio.run(live(app, play))
        assert messages == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
        assert len(runs) > before_end
        assert runs[0][0] is books
        assert runs[0][1].tzinfo is UTC
        assert books.is_disposed

    def test_failing_chore_is_logged_once_and_runs_again(self, logs: Any) -> None:
        runs = 0

        def fail(database: Any, now: datetime) -> None:
            nonlocal runs
            runs += 1
            raise LookupError("chore")

        app = build_app([shop_service(chores={"fail": (0.001, fail)})])

        async def play() -> None:
            while runs < 3:
                await asyncio.sleep(0.001)

        asyncio.run(live(app, play))
        failed = [line for line in logs() if line["event"] == "chore failed"]
        assert len(failed) == 2, "at the first failure, and when the server stops"
        assert "LookupError: chore" in failed[0]["exception"]
        assert (failed[0]["service"], failed[0]["chore"]) == ("shop", "fail")

    def test_requests_are_served_during_the_lifespan_and_threads_end_with_it(self) -> None:
        books = Books(inline=False)
        client = serve({"/do": {"post": operation("do")}}, {"do": lambda ctx: {}}, database=books)

        async def play() -> None:
            assert (await client.exchange("POST", "/do")).status == 200

        asyncio.run(live(client.app, play))
        assert books.is_disposed


class TestPages:
    def test_other_paths_are_served_by_the_pages(self) -> None:
        def pages(environ: dict[str, Any], start_response: Any) -> list[bytes]:
            start_response("200 OK", [("Content-Type", "text/plain")])
            return [environ["PATH_INFO"].encode()]

        client = Client(build_app([shop_service()], pages=pages))
        for path in ("/", "/checkout/x", "/shop", "/shopping/items", "/healthzz"):
            answer = client.get(path)
            assert (answer.status, answer.body) == (200, path.encode())
        assert client.get("/shop/nope").json["code"] == "NotFound"

    def test_without_pages_other_paths_are_404(self) -> None:
        assert Client(build_app([shop_service()])).get("/").status == 404


class TestProbes:
    def test_live_process_is_reported(self, shop: Client) -> None:
        answer = Client(shop.app).get("/healthz")
        assert (answer.status, answer.json) == (200, {"status": "ok", "version": __version__})

    @pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "Via"])
    def test_requests_through_a_proxy_do_not_get_the_version(
        self, shop: Client, header: str
    ) -> None:
        answer = Client(shop.app).get("/healthz", headers=[(header, "203.0.113.7")])
        assert answer.json == {"status": "ok"}

    @pytest.mark.parametrize(
        ("peer", "expected"),
        [("10.0.0.4", True), ("::1", True), ("fd00::4", True), ("", True),
         ("198.41.0.4", False), ("2a00::1", False), ("nonsense", False)],
    )  # fmt: skip
    def test_private_networks_count_as_internal(self, peer: str, expected: bool) -> None:
        assert is_inside({"client": (peer, 1), "headers": []}) is expected

    def test_metrics_contain_the_version(self, shop: Client) -> None:
        scrape = Client(shop.app).get("/metrics").body.decode()
        assert re.search(
            rf'^specd_build_info{{python=".+",version="{__version__}"}} 1.0$', scrape, re.M
        )

    def test_readiness_checks_the_database_and_the_service(self) -> None:
        books, asked = Books(inline=True), []
        client = Client(shop(database=books, ready=lambda: asked.append(1)).app)
        assert client.get("/readyz").json == {"status": "ok", "services": {"shop": "ok"}}
        assert (books.pings, asked) == (1, [1])

    @pytest.mark.parametrize("how", ["database", "service"])
    def test_readiness_names_the_service_and_logs_the_reason(self, how: str, logs: Any) -> None:
        books = Books(inline=True)
        books.is_down = how == "database"

        def ready() -> None:
            if how == "service":
                raise ConnectionError("down")

        answer = Client(shop(database=books, ready=ready).app).get("/readyz")
        assert answer.status == 503
        assert answer.json == {"status": "unavailable", "services": {"shop": "unavailable"}}
        (line,) = logs()
        assert (line["event"], line["error"]) == ("not ready", "ConnectionError: down")

    @pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
    def test_only_get_and_head_are_allowed(self, shop: Client, path: str) -> None:
        client = Client(shop.app)
        head = client.send("HEAD", path)
        assert (head.status, head.body) == (200, b"")
        answer = client.post(path)
        assert (answer.status, answer.header("Allow")) == (405, "GET, HEAD")


PREFLIGHT = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, HEAD",
    "Access-Control-Allow-Headers": "if-none-match",
    "Access-Control-Max-Age": "86400",
}


class TestDocuments:
    def test_yaml_is_the_file_except_for_its_servers(self, shop: Client) -> None:
        answer = shop.get("/openapi.yaml")
        assert answer.status == 200
        changed = set(PUBLISHED_TEXT.splitlines()) ^ set(answer.body.splitlines())
        assert all(b"url:" in line or line == b"servers:" for line in changed)
        assert answer.header("Content-Type") == "application/yaml"

    def test_json_is_the_same_document(self, shop: Client) -> None:
        answer = shop.get("/openapi.json")
        assert answer.json == yaml.safe_load(shop.get("/openapi.yaml").body)
        assert {**answer.json, "servers": PUBLISHED["servers"]} == PUBLISHED
        assert answer.header("Content-Type") == "application/json"

    @pytest.mark.parametrize("path", ["/openapi.yaml", "/openapi.json"])
    def test_any_origin_may_read_without_a_key(self, shop: Client, path: str) -> None:
        answer = shop.get(path)
        assert answer.header("Access-Control-Allow-Origin") == "*"
        assert answer.header("Access-Control-Expose-Headers") == "ETag"
        assert answer.header("Request-Id")
        head = shop.send("HEAD", path)
        assert (head.status, head.body) == (200, b"")
        assert head.header("Content-Length") == str(len(answer.body))

    @pytest.mark.parametrize("spelling", ["{}", "W/{}", '"other", {}', "*"])
    def test_unchanged_document_is_not_sent_again(self, shop: Client, spelling: str) -> None:
        etag = shop.get("/openapi.yaml").header("ETag") or ""
        assert etag.startswith('"')
        answer = shop.get("/openapi.yaml", headers=[("If-None-Match", spelling.format(etag))])
        assert (answer.status, answer.body) == (304, b"")
        assert answer.header("ETag") == etag
        assert answer.header("Content-Type") is None

    def test_changed_document_is_sent_again(self, shop: Client) -> None:
        assert shop.get("/openapi.yaml", headers=[("If-None-Match", '"old"')]).status == 200
        etags = {shop.get(f"/openapi.{kind}").header("ETag") for kind in ("yaml", "json")}
        assert len(etags) == 2

    def test_page_of_another_origin_may_send_conditional_requests(self, shop: Client) -> None:
        asked = [
            ("Origin", "https://docs.example"),
            ("Access-Control-Request-Method", "GET"),
            ("Access-Control-Request-Headers", "if-none-match"),
        ]
        answer = shop.send("OPTIONS", "/openapi.yaml", headers=asked)
        assert (answer.status, answer.body) == (204, b"")
        told = {name: answer.header(name) for name in ("Allow", *PREFLIGHT)}
        assert told == {"Allow": "GET, HEAD, OPTIONS", **PREFLIGHT}

    def test_other_methods_are_rejected(self, shop: Client) -> None:
        answer = shop.post("/openapi.yaml")
        assert (answer.status, answer.header("Allow")) == (405, "GET, HEAD, OPTIONS")

    def test_documents_are_not_served_by_other_services(self) -> None:
        service = shop_service(
            name="other",
            base_path="/other",
            handlers=module("things", read_a=lambda ctx: {}),
            document={
                **SHOP,
                "paths": {"/a": {"get": operation("read_a", security=[])}},
                "components": SHOP["components"],
                "security": [],
            },
        )
        client = Client(build_app([shop_service(), service]))
        assert client.get("/other/openapi.json").json["paths"].keys() == {"/a"}
        assert client.get("/shop/openapi.json").json == PUBLISHED


def metrics(client: Client) -> dict[str, float]:
    lines = Client(client.app).get("/metrics").body.decode().splitlines()
    pairs = (line.rpartition(" ") for line in lines if line and line[0] != "#")
    return {name: float(value) for name, _, value in pairs}


class TestMetrics:
    def test_count_requests_errors_and_time_by_operation(self) -> None:
        client = shop(name="metered")
        for target in ("/items", "/items?limit=x", "/nope", "/items/13"):
            client.get(target, headers=[("Authorization", "Bearer good-token")])
        found = metrics(client)

        def requests(operation_id: str, status: int) -> float | None:
            labels = f'operation="{operation_id}",service="metered",status="{status}"'
            return found.get(f"specd_requests_total{{{labels}}}")

        assert requests("list_items", 200) == 1
        assert requests("list_items", 422) == 1
        assert requests("-", 404) == 1
        assert requests("get_item", 500) == 1
        labels = 'operation="get_item",service="metered"'
        assert found[f"specd_errors_total{{{labels}}}"] == 1
        labels = 'operation="list_items",service="metered"'
        assert found[f"specd_request_seconds_count{{{labels}}}"] == 2
        bucket = 'specd_request_seconds_bucket{le="+Inf",' + labels + "}"
        assert found[bucket] == 2
        assert "specd_errors_total{" + labels + "}" not in found

    def test_service_adds_gauges(self) -> None:
        asked: list[object] = []

        def gauges(database: object, now: datetime) -> list[tuple[str, str, float, dict[str, str]]]:
            asked.append((database, now))
            return [("specd_apples", "Apples in stock.", 7.5, {})]

        service = shop_service(gauges=gauges)
        client = Client(build_app([service]))
        assert metrics(client)["specd_apples"] == 7.5
        assert "# HELP specd_apples Apples in stock." in client.get("/metrics").body.decode()
        assert [database for database, _ in asked] == [service.database] * 2

    def test_failing_gauges_do_not_affect_others(self) -> None:
        def gauges(database: object, now: datetime) -> list[tuple[str, str, float, dict[str, str]]]:
            raise RuntimeError("the database is away")

        client = Client(build_app([shop_service(gauges=gauges, name="metered")]))
        client.get("/nope")
        found = metrics(client)
        assert "specd_apples" not in found
        assert any(name.startswith("specd_requests_total") for name in found)

    def test_labels_never_come_from_clients(self, shop: Client) -> None:
        shop.get("/nope/s3cret")
        shop.send("S3CRET", "/items")
        assert "s3cret" not in str(metrics(shop)).lower()

    def test_processes_are_summed(self, tmp_path: Path) -> None:
        """Like workers of gunicorn: each process counts in its own files, and any of them reports
        the sum.
        """
        program = (
            "import sys\n"
            "from tests.specd.engine.client import Client\n"
            "from tests.specd.engine.services import shop\n"
            "client = shop()\n"
            "for _ in range(int(sys.argv[1])): client.get('/items/special')\n"
            "print(Client(client.app).get('/metrics').body.decode(), file=sys.stderr)\n"
        )
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PROMETHEUS_MULTIPROC_DIR": str(tmp_path),
        }
        for times, total in ((3, 3), (4, 7)):
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", program, str(times)],
                env=environment,
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=True,
                timeout=60,
            )
            labels = 'operation="special_item",service="shop",status="200"'
            assert f"specd_requests_total{{{labels}}} {total}.0" in done.stderr


def test_clock_of_the_service_is_used() -> None:
    class Stopped:
        def now(self) -> datetime:
            return datetime(2020, 1, 1, tzinfo=UTC)

    client = serve(
        {"/a": {"get": operation("read_a")}},
        {"read_a": lambda ctx: {"now": ctx.now.isoformat()}},
        clock=Stopped(),
    )
    assert client.get("/a").json == {"now": "2020-01-01T00:00:00+00:00"}
    assert time.time() > 0


SPELLINGS = ["/%6detrics", "/me%74rics", "/%72eadyz", "/%68ealthz", "//metrics", "/./metrics",
             "/metrics/", "/%2fmetrics", "/METRICS", "/a/../metrics", "/metrics%00",
             "/%256detrics", "/metrics;a"]  # fmt: skip


@pytest.mark.parametrize("path", SPELLINGS)
def test_internal_page_has_one_spelling(shop: Client, path: str) -> None:
    """A proxy in front blocks the path as it was sent, without normalizing it."""
    assert Client(shop.app).get(path).status in (400, 404)
