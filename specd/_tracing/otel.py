"""OpenTelemetry spans, sent by OTLP over HTTP. OpenTelemetry itself defines the `OTEL_*`
environment variables
(https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/).
"""

import threading
from collections.abc import Mapping
from functools import cached_property

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import (
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    Tracer,
    set_span_in_context,
)

from specd._tracing import CLIENT, SERVER, STEP, Attributes

_KINDS = {SERVER: SpanKind.SERVER, STEP: SpanKind.INTERNAL, CLIENT: SpanKind.CLIENT}
_CLOSED_WITHIN_S = 3.0


class OtelSpan:
    """An OpenTelemetry span that has begun."""

    def __init__(self, span: Span) -> None:
        self._span = span
        context = span.get_span_context()
        sampled = context.trace_flags & TraceFlags.SAMPLED
        self.traceparent = f"00-{context.trace_id:032x}-{context.span_id:016x}-{sampled:02x}"

    def end(self, attributes: Attributes, *, name: str | None = None, failed: bool = False) -> None:
        self._span.set_attributes(attributes)
        if name is not None:
            self._span.update_name(name)
        if failed:
            self._span.set_status(Status(StatusCode.ERROR))
        self._span.end()


class OtelTracer:
    """Creates the spans of one process. Its thread starts with the first span, and therefore after
    the fork.
    """

    def __init__(self, environment: Mapping[str, str], process: str) -> None:
        self._named = {} if environment.get("OTEL_SERVICE_NAME") else {SERVICE_NAME: process}
        # By default, the client's flag decides on sampling, so any client could fill the store.
        self._sampler = None if environment.get("OTEL_TRACES_SAMPLER") else ALWAYS_ON
        self._making = threading.Lock()

    def begin(self, name: str, kind: str, parent: str | None, attributes: Attributes) -> OtelSpan:
        with self._making:
            tracer = self._tracer
        span = tracer.start_span(
            name,
            _context_of(parent),
            _KINDS[kind],
            attributes,
            record_exception=False,
            set_status_on_exception=False,
        )
        return OtelSpan(span)

    def close(self) -> None:
        ending = threading.Thread(target=self._provider.shutdown, daemon=True)
        ending.start()
        ending.join(_CLOSED_WITHIN_S)

    @cached_property
    def _provider(self) -> TracerProvider:
        provider = TracerProvider(
            resource=Resource.create(self._named),
            sampler=self._sampler,
            shutdown_on_exit=False,  # it may take longer than the process has to stop
        )
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        return provider

    @cached_property
    def _tracer(self) -> Tracer:
        tracer: Tracer = self._provider.get_tracer("specd")
        return tracer


def _context_of(traceparent: str | None) -> Context:
    if traceparent is None:
        return Context()
    _, trace_id, span_id, flags = traceparent.split("-")
    parent = SpanContext(
        int(trace_id, 16), int(span_id, 16), is_remote=True, trace_flags=TraceFlags(int(flags, 16))
    )
    return set_span_in_context(NonRecordingSpan(parent), Context())
