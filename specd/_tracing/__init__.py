"""Trace contexts, which are read from requests and sent on with outgoing requests, and spans.

A context is the value of the header `traceparent` (https://www.w3.org/TR/trace-context/), in the
form of version 00. The values that clients send are only labels for logs and other services. No
decision depends on them, and malformed values are ignored.

Spans exist if `start` finds a configured OpenTelemetry exporter. Only then is `specd._tracing.otel`
imported, the one module that uses OpenTelemetry. Without spans, contexts are passed on unchanged.
"""

import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Protocol

from specd._release import install_extra
from specd._security_events import current_caller

HEADER = b"traceparent"
MAX_BYTES = 256
"""A longer header is malformed. Version 00 has 55 bytes. Later versions may have more."""
_FORM = re.compile(
    rb"(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(-.*)?"
)
_SAMPLED = 1

Attributes = Mapping[str, str | int]
"""The attributes of a span, by their names in OpenTelemetry."""
SERVER, STEP, CLIENT = "server", "internal", "client"
"""The kinds of spans: an incoming request, a step of a worker, an outgoing request."""


class CannotTrace(Exception):
    """Traces are configured but cannot be exported. The message is the reason."""


class Span(Protocol):
    """A part of a trace that has begun. A span that is never ended is not exported."""

    traceparent: str

    def end(self, attributes: Attributes, *, name: str | None = None, failed: bool = False) -> None:
        """End the span and add these attributes. `name` replaces its name."""
        ...


class Tracer(Protocol):
    """Creates spans. Thread-safe."""

    def begin(self, name: str, kind: str, parent: str | None, attributes: Attributes) -> Span:
        """Return a span that begins now. `parent` is the context that it is a part of."""
        ...

    def close(self) -> None:
        """Export the spans that have ended. This takes a few seconds at most."""
        ...


tracer: Tracer | None = None
"""None if there are no spans."""
_step: ContextVar[str | None] = ContextVar("step", default=None)


def start(environment: Mapping[str, str], process: str) -> None:
    """Create spans in this process from now on, if the `OTEL_*` environment variables name an
    exporter. `process` is the name of the service, unless the variables set it. Raise
    `CannotTrace`.
    """
    global tracer
    if not _is_configured(environment):
        return
    try:
        from specd._tracing import otel
    except ModuleNotFoundError as error:
        raise CannotTrace(
            "OTEL_* variables ask for traces, which need the extra `otel`"
            f" ({install_extra('otel')}): {error}."
        ) from None
    tracer = otel.OtelTracer(environment, process)


def close() -> None:
    """Export the remaining spans, and create no more."""
    global tracer
    ending, tracer = tracer, None
    if ending is not None:
        ending.close()


def _is_configured(environment: Mapping[str, str]) -> bool:
    """Return whether an exporter is configured. Raise `CannotTrace` for an unsupported one."""

    def value(*names: str) -> str:
        return next((found for name in names if (found := environment.get(name, "").strip())), "")

    exporter = value("OTEL_TRACES_EXPORTER").lower()
    if value("OTEL_SDK_DISABLED").lower() == "true" or exporter == "none":
        return False
    prefix = "OTEL_EXPORTER_OTLP"
    if not exporter and not value(f"{prefix}_TRACES_ENDPOINT", f"{prefix}_ENDPOINT"):
        return False
    if exporter not in ("", "otlp"):
        raise CannotTrace(f"OTEL_TRACES_EXPORTER must be otlp or none, not {exporter}.")
    protocol = value(f"{prefix}_TRACES_PROTOCOL", f"{prefix}_PROTOCOL")
    if protocol not in ("", "http/protobuf"):
        raise CannotTrace(f"{prefix}_PROTOCOL must be http/protobuf, not {protocol}.")
    return True


def read(header: bytes) -> str | None:
    """Return the context in a header, or None if the header is malformed."""
    if len(header) > MAX_BYTES:
        return None
    match = _FORM.fullmatch(header)
    if match is None:
        return None
    version, ids, flags, more = match.groups()
    if version == b"00" and more is not None:
        return None
    return f"00-{ids.decode()}-{int(flags, 16) & _SAMPLED:02x}"


def trace_id(traceparent: str) -> str:
    """Return the id of the trace: 32 hexadecimal digits."""
    return traceparent[3:35]


def current_traceparent() -> str | None:
    """Return the context of the request in progress, or of the worker's step if it has a span."""
    caller = current_caller()
    return _step.get() if caller is None else caller.traceparent


def traced(worker: str, try_one: Callable[[], bool]) -> Callable[[], bool]:
    """Return the step of a worker with tracing: a step that finds something to do or fails gets a
    span.
    """
    if tracer is None:
        return try_one
    begin = tracer.begin

    def step() -> bool:
        span = begin(f"step {worker}", STEP, None, {"specd.worker": worker})
        token = _step.set(span.traceparent)
        try:
            more = try_one()
        except BaseException as error:
            span.end({"error.type": type(error).__name__}, failed=True)
            raise
        finally:
            _step.reset(token)
        if more:
            span.end({})
        return more

    return step


class Outgoing:
    """A request to another service, as part of a trace: its span, if there are spans, and the
    `headers` to send.
    """

    def __init__(self, name: str, traceparent: str | None, attributes: Attributes) -> None:
        self._span = None
        if tracer is not None:
            self._span = tracer.begin(name, CLIENT, traceparent, attributes)
            traceparent = self._span.traceparent
        self.headers: Mapping[str, str] = {}
        if traceparent is not None:
            self.headers = {"traceparent": traceparent}

    def end(self, status: int | None, failure: str | None = None) -> None:
        """End the span with the status of the response, or with None if the request failed and
        `failure` names the reason.
        """
        if self._span is None:
            return
        if status is None:
            self._span.end({"error.type": failure or "unknown"}, failed=True)
        else:
            self._span.end({"http.response.status_code": status}, failed=not 200 <= status < 300)
