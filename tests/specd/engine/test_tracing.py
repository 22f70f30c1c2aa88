"""Spans are created if an exporter is configured. Otherwise the exporter is not imported."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from specd import _tracing as tracing
from specd._engine.serving.app import build_app
from tests.specd.engine.client import Client
from tests.specd.engine.services import shop_service

TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}
OFF: list[Mapping[str, str]] = [
    {},
    {"OTEL_SERVICE_NAME": "shop"},
    {"OTEL_EXPORTER_OTLP_ENDPOINT": " "},
    {**ENDPOINT, "OTEL_SDK_DISABLED": "true"},
    {**ENDPOINT, "OTEL_TRACES_EXPORTER": "none"},
]
ON: list[Mapping[str, str]] = [
    ENDPOINT,
    {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"},
    {"OTEL_TRACES_EXPORTER": "otlp"},
    {**ENDPOINT, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"},
]


@pytest.fixture(autouse=True)
def _no_spans_before_and_after() -> Iterator[None]:
    assert tracing.tracer is None
    yield
    tracing.tracer = None


@pytest.mark.parametrize("environment", OFF)
def test_nothing_is_imported_without_an_exporter(
    environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "specd._tracing.otel", None)  # an import would raise
    tracing.start(environment, "specd-test")
    assert tracing.tracer is None


@pytest.mark.parametrize("environment", ON)
def test_missing_extra_gives_a_message_with_the_remedy(
    environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "specd._tracing.otel", raising=False)
    monkeypatch.delattr(tracing, "otel", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(tracing.CannotTrace, match=r"pip install 'specd-server\[otel\]'"):
        tracing.start(environment, "specd-test")


@pytest.mark.parametrize("environment", ON)
def test_spans_are_created_with_the_extra(environment: Mapping[str, str]) -> None:
    pytest.importorskip(
        "opentelemetry.exporter.otlp", reason="NOT TESTED: the extra otel is not installed"
    )
    tracing.start(environment, "specd-test")
    assert tracing.tracer is not None


@pytest.mark.parametrize(
    "environment",
    [
        {"OTEL_TRACES_EXPORTER": "zipkin"},
        {**ENDPOINT, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
        {**ENDPOINT, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/json"},
    ],
)
def test_unknown_exporters_are_rejected(environment: Mapping[str, str]) -> None:
    with pytest.raises(tracing.CannotTrace, match="must be"):
        tracing.start(environment, "specd-test")


@dataclass
class KeptSpan:
    """A recorded span."""

    name: str
    kind: str
    parent: str | None
    attributes: dict[str, Any]
    traceparent: str
    ended: list[tuple[str | None, bool]] = field(default_factory=list)

    def end(
        self, attributes: tracing.Attributes, *, name: str | None = None, failed: bool = False
    ) -> None:
        self.attributes |= attributes
        self.ended.append((name, failed))


class Kept:
    """A tracer that records its spans."""

    def __init__(self) -> None:
        self.spans: list[KeptSpan] = []

    def begin(
        self, name: str, kind: str, parent: str | None, attributes: tracing.Attributes
    ) -> KeptSpan:
        traceparent = f"00-{'ab' * 16}-{len(self.spans) + 1:016x}-01"
        self.spans.append(KeptSpan(name, kind, parent, dict(attributes), traceparent))
        return self.spans[-1]

    def close(self) -> None: ...


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[KeptSpan]:
    """The recorded spans of the test."""
    tracer = Kept()
    monkeypatch.setattr(tracing, "tracer", tracer)
    return tracer.spans


def test_request_is_one_span(kept: list[KeptSpan]) -> None:
    client = Client(build_app([shop_service()]), "/shop")
    assert client.get("/items", headers=[("traceparent", TRACEPARENT)]).status == 200
    assert client.get("/items?limit=secret").status == 422
    assert client.get("/nothing").status == 404
    assert [span.parent for span in kept] == [TRACEPARENT, None, None]
    assert [span.ended for span in kept] == [
        [("list_items", False)],
        [("list_items", False)],
        [(None, False)],
    ]
    assert [span.attributes["http.response.status_code"] for span in kept] == [200, 422, 404]
    assert kept[0].attributes["http.route"] == "/shop/items"
    assert "secret" not in str([span.attributes for span in kept])


def test_step_is_a_span_if_it_found_work(kept: list[KeptSpan]) -> None:
    answers = [False, True]
    seen = []

    def try_one() -> bool:
        seen.append(tracing.current_traceparent())
        if not answers:
            raise LookupError
        return answers.pop()

    step = tracing.traced("mail", try_one)
    assert (step(), step()) == (True, False)
    with pytest.raises(LookupError):
        step()
    assert [span.ended for span in kept] == [[(None, False)], [], [(None, True)]]
    assert seen == [span.traceparent for span in kept], "its effects must be part of its trace"
    assert tracing.current_traceparent() is None


def test_request_to_other_services_is_part_of_the_trace(kept: list[KeptSpan]) -> None:
    for status, failure in ((204, None), (500, None), (None, "timeout")):
        tracing.Outgoing("webhook", TRACEPARENT, {}).end(status, failure)
    outgoing = tracing.Outgoing("webhook", None, {})
    assert [span.parent for span in kept] == [TRACEPARENT] * 3 + [None]
    assert [span.ended for span in kept] == [[(None, False)], [(None, True)], [(None, True)], []]
    assert outgoing.headers == {"traceparent": kept[-1].traceparent}


def test_header_is_passed_on_unchanged_without_spans() -> None:
    def try_one() -> bool:
        return True

    assert tracing.traced("mail", try_one) is try_one, "a step must not create a span"
    assert tracing.Outgoing("webhook", TRACEPARENT, {}).headers == {"traceparent": TRACEPARENT}
    assert tracing.Outgoing("webhook", None, {}).headers == {}
    assert tracing.current_traceparent() is None
