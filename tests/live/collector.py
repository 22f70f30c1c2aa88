"""An OpenTelemetry collector: receives spans by OTLP over HTTP, and stores them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.live.http_receiver import Receiver

KINDS = ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT")


@dataclass(frozen=True)
class Span:
    """One span with hexadecimal ids. `process` is the name of the service that created it."""

    process: str
    name: str
    kind: str
    trace: str
    id: str
    parent: str
    start_ns: int
    attributes: dict[str, Any]


class Collector(Receiver):
    """`url` is the value of `OTEL_EXPORTER_OTLP_ENDPOINT`."""

    def __init__(self) -> None:
        super().__init__()
        self.spans: list[Span] = []

    def take(self, headers: dict[str, str], body: bytes) -> None:
        from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

        request = trace_service_pb2.ExportTraceServiceRequest.FromString(body)
        for resource in request.resource_spans:
            process = _values(resource.resource.attributes)["service.name"]
            for scope in resource.scope_spans:
                for span in scope.spans:
                    self.spans.append(
                        Span(
                            process,
                            span.name,
                            KINDS[span.kind],
                            span.trace_id.hex(),
                            span.span_id.hex(),
                            span.parent_span_id.hex(),
                            span.start_time_unix_nano,
                            _values(span.attributes),
                        )
                    )


def _values(attributes: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in attributes}
