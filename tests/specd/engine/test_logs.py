"""One JSON object per line, and no line lost."""

import asyncio
import re
from io import BytesIO

import orjson
import pytest
import structlog

from specd._engine.serving.request_log import RequestLog
from specd._logs import configure


def lines(stream: BytesIO) -> list[dict[str, object]]:
    return [orjson.loads(line) for line in stream.getvalue().splitlines()]


def test_lines_of_one_turn_of_the_loop_all_go_out(log_stream: BytesIO) -> None:
    log = RequestLog()

    async def play() -> None:
        for number in range(50):
            log.line({"number": number})
        await asyncio.sleep(0)
        log.line({"number": 50})

    for _ in range(2):  # and again in another loop
        asyncio.run(play())
    assert [line["number"] for line in lines(log_stream)] == [*range(51), *range(51)]


@pytest.mark.parametrize(("level", "written"), [("debug", 1), ("info", 1), ("warning", 0)])
def test_the_level_holds_for_request_lines_too(level: str, written: int) -> None:
    stream = BytesIO()
    configure(level, stream=stream)
    log = RequestLog()

    async def play() -> None:
        log.line({"event": "request"})

    asyncio.run(play())
    assert len(lines(stream)) == written


def test_a_traceback_is_one_field_of_one_line() -> None:
    stream = BytesIO()
    configure("info", secrets=[re.compile("hunter[0-9]")], stream=stream)
    try:
        raise ValueError("the password is hunter2")
    except ValueError:
        structlog.get_logger().exception("failed", error="hunter3", id="x")
    (line,) = lines(stream)
    assert line["event"] == "failed"
    assert line["level"] == "error"
    assert line["error"] == "[secret]"
    assert "ValueError: the password is [secret]" in str(line["exception"])
    assert b"hunter" not in stream.getvalue()


def test_what_is_not_json_is_written_as_text() -> None:
    stream = BytesIO()
    configure("info", stream=stream)
    structlog.get_logger().info("odd", value={1, 2}, kind=int)
    (line,) = lines(stream)
    assert line["value"] == [1, 2]
