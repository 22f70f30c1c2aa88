"""The operator's view of a running server and its workers: metrics and traces."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest

from tests.live.collector import Collector, Span
from tests.live.http_receiver import Receiver
from tests.live.running_demo import Demo, until
from tests.support.alerts import expressions, metrics_of

HAS_OTEL = bool(find_spec("opentelemetry")) and bool(find_spec("opentelemetry.sdk"))
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
ARRIVES_WITHIN_S = 30.0
BACKUPS = {
    "specd_wal_archive_failing",
    "specd_wal_archive_last_seconds",
    "specd_backup_timestamp_seconds",
    "specd_base_backup_timestamp_seconds",
}
"""Metrics of PostgreSQL's archive and the nightly base backup only (`test_backup.py`)."""


class Stage:
    """A demo, with spans if they are available, their collector, and a merchant's receiver."""

    def __init__(self, demo: Demo, collector: Collector, receiver: Receiver) -> None:
        self.demo, self.collector, self.receiver = demo, collector, receiver
        self.ready = json.loads(demo.out.splitlines()[-1])
        self.client = httpx.Client(
            base_url=demo.base_url,
            headers={"Authorization": f"Bearer {self.ready['key']}"},
            timeout=15,
        )


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with Collector() as collector, Receiver() as receiver:
        settings = {"SPECD_WEBHOOK_NETWORKS": "127.0.0.0/8"}
        if HAS_OTEL:
            settings |= {
                "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
                "OTEL_BSP_SCHEDULE_DELAY": "100",
            }
        demo = Demo(tmp_path_factory.mktemp("observed"), "--json", **settings)
        try:
            yield Stage(demo, collector, receiver)
        finally:
            demo.kill()


@pytest.fixture(scope="module")
def posted(stage: Stage) -> dict[str, str]:
    """Return the headers of the webhook that a traced request has caused."""
    hook = {"url": f"{stage.receiver.url}/hook", "event_types": ["invoice.created"]}
    made = stage.client.post(
        "/v1/webhook-endpoints", json=hook, headers={"Idempotency-Key": "observed-endpoint"}
    )
    assert made.status_code == 201, made.text
    order = {
        "external_order_id": "observed-1",
        "attempt_no": 1,
        "amount": "1.5",
        "payment_method_id": "tusd-local",
    }
    headers = {"Idempotency-Key": "observed-order", "traceparent": f"00-{TRACE}-{SPAN}-01"}
    created = stage.client.post("/v1/invoices", json=order, headers=headers)
    assert created.status_code == 201, created.text
    until(lambda: bool(stage.receiver.got), ARRIVES_WITHIN_S, f"no webhook: {stage.demo.err}")
    return stage.receiver.got[0]


def names(stage: Stage) -> set[str]:
    """Return the names of the samples in a scrape."""
    scrape = stage.client.get("/metrics").text
    return {re.split(r"[{ ]", line)[0] for line in scrape.splitlines() if line[:1] != "#"}


def test_each_metric_that_a_rule_or_a_panel_names_is_there(
    stage: Stage, posted: dict[str, str]
) -> None:
    """Metrics of the watcher appear when it has started, and that of the event log when a client
    waits for events.
    """
    asked = {where: metrics_of(asked) for where, asked in expressions().items()}
    wanted = set().union(*asked.values()) - BACKUPS
    assert len(wanted) >= 25
    page = stage.client.get("/v1/events", params={"limit": 100}).json()
    waits = {"after": page["next_cursor"], "wait_s": 2}
    assert stage.client.get("/v1/events", params=waits).status_code == 200
    until(lambda: not wanted - names(stage), ARRIVES_WITHIN_S, f"of {wanted} some are not there")


def test_the_processes_show_what_they_have(stage: Stage, posted: dict[str, str]) -> None:
    """Two server processes, whose values are added in a scrape of either."""
    scrape = stage.client.get("/metrics").text
    sizes = dict(
        re.findall(r'^specd_threads_size\{kind="writing",service="(\w+)"\} (\S+)$', scrape, re.M)
    )
    assert "payment" in sizes
    away = dict(re.findall(r'^specd_database_away\{service="(\w+)"\} (\S+)$', scrape, re.M))
    assert away == {"chat": "0.0", "payment": "0.0"}
    assert re.search(r'^specd_watcher_leading\{chain="\d+"\} 1.0$', scrape, re.M)


def logged(directory: Path) -> list[dict[str, object]]:
    """Return the lines of requests with a trace in any log below the directory."""
    lines = [line for log in directory.iterdir() if log.is_file() for line in log.open()]
    requests = (json.loads(line) for line in lines if line.startswith('{"event":"request"'))
    return [line for line in requests if "trace" in line]


def test_one_trace_goes_from_a_request_through_a_worker_to_a_webhook(
    stage: Stage, posted: dict[str, str]
) -> None:
    version, trace, span, flags = posted["traceparent"].split("-")
    assert (version, trace, flags) == ("00", TRACE, "01")
    assert (span == SPAN) != HAS_OTEL, "passed on as it came, unless there are spans"
    [line] = [
        line for line in logged(stage.demo.directory / "var" / "logs") if line["trace"] == TRACE
    ]
    assert line["operation"] == "create_invoice"


@pytest.mark.skipif(not HAS_OTEL, reason="NOT TESTED: the extra otel is not installed")
def test_the_spans_of_that_trace(stage: Stage, posted: dict[str, str]) -> None:
    def spans() -> list[Span]:
        return [span for span in stage.collector.spans if span.trace == TRACE]

    until(lambda: len(spans()) >= 2, ARRIVES_WITHIN_S, "the collector has got too few spans")
    request, webhook = sorted(spans(), key=lambda span: span.start_ns)
    named = (request.process, request.name, request.kind)
    assert named == ("specd-server", "create_invoice", "SERVER")
    assert request.parent == SPAN
    assert request.attributes["http.route"] == "/v1/invoices"
    assert request.attributes["http.response.status_code"] == 201
    assert (webhook.process, webhook.name, webhook.kind) == ("specd-worker", "webhook", "CLIENT")
    assert webhook.parent == request.id
    assert posted["traceparent"] == f"00-{TRACE}-{webhook.id}-01"
    assert webhook.attributes["http.response.status_code"] == 204
    steps = {span.name for span in stage.collector.spans if span.kind == "INTERNAL"}
    assert "step webhooks" in steps
