"""The header `traceparent` is logged if it is well-formed, and ignored otherwise."""

from collections.abc import Callable
from typing import Any

import pytest

from specd import _tracing as tracing
from specd._engine.serving.app import build_app
from tests.specd.engine.client import Client
from tests.specd.engine.services import shop_service

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SAMPLED = f"00-{TRACE}-{SPAN}-01"
WELL_FORMED = {
    SAMPLED: SAMPLED,
    f"00-{TRACE}-{SPAN}-00": f"00-{TRACE}-{SPAN}-00",
    f"00-{TRACE}-{SPAN}-ff": SAMPLED,  # flags that are unknown in this version are removed
    f"cc-{TRACE}-{SPAN}-01": SAMPLED,
    f"cc-{TRACE}-{SPAN}-01-what-the-future-will-be-like": SAMPLED,
}
MALFORMED = (
    "",
    "00",
    SAMPLED.upper(),
    f"{SAMPLED} ",
    f"{SAMPLED}-more",  # version 00 has no further fields
    f"cc-{TRACE}-{SPAN}-01.more",
    f"cc-{TRACE}-{SPAN}-01-{'x' * tracing.MAX_BYTES}",
    f"ff-{TRACE}-{SPAN}-01",
    f"00-{'0' * 32}-{SPAN}-01",
    f"00-{TRACE}-{'0' * 16}-01",
    f"00-{TRACE[1:]}-{SPAN}-01",
    f"00-{TRACE}-{SPAN}-1",
    f"00-{TRACE}-{SPAN}-0g",
    f"00-{TRACE}-{SPAN}-01, {SAMPLED}",
    "\xff" * 55,
)


@pytest.mark.parametrize("header", WELL_FORMED)
def test_well_formed_header_is_parsed(header: str) -> None:
    assert tracing.read(header.encode()) == WELL_FORMED[header]


@pytest.mark.parametrize("header", MALFORMED)
def test_malformed_header_is_ignored(header: str) -> None:
    assert tracing.read(header.encode("latin-1")) is None


@pytest.fixture(scope="module")
def client() -> Client:
    return Client(build_app([shop_service()]), "/shop")


def test_log_line_of_a_request_names_its_trace(
    client: Client, logs: Callable[[], list[dict[str, Any]]]
) -> None:
    statuses = [
        client.get("/items", headers=headers).status
        for headers in (
            [("traceparent", SAMPLED)],
            [],
            *([("traceparent", malformed)] for malformed in MALFORMED),
            [("traceparent", SAMPLED), ("traceparent", SAMPLED)],
        )
    ]
    assert set(statuses) == {200}
    lines = [line for line in logs() if line["event"] == "request"]
    assert len(lines) == len(MALFORMED) + 3
    assert [line.get("trace") for line in lines] == [TRACE] + [None] * (len(MALFORMED) + 2)
    assert "trace" not in lines[1], "there must be no trace without the header"


def test_log_line_of_a_rejected_request_names_its_trace(
    client: Client, logs: Callable[[], list[dict[str, Any]]]
) -> None:
    assert client.get("/nothing", headers=[("traceparent", SAMPLED)]).status == 404
    [line] = [line for line in logs() if line["event"] == "request"]
    assert line["trace"] == TRACE
