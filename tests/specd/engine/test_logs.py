"""The log has one JSON object per line without losses, or text for people."""

import asyncio
import logging
import os
import pty
import re
import sys
from collections.abc import Iterator
from io import BytesIO

import orjson
import pytest
import structlog

from specd._engine.serving.request_log import RequestLog
from specd._logs import Readers, configure


def lines(stream: BytesIO) -> list[dict[str, object]]:
    return [orjson.loads(line) for line in stream.getvalue().splitlines()]


def test_all_lines_of_one_iteration_of_the_loop_are_written(log_stream: BytesIO) -> None:
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
def test_level_applies_to_request_lines(level: str, written: int) -> None:
    stream = BytesIO()
    configure(level, stream=stream)
    log = RequestLog()

    async def play() -> None:
        log.line({"event": "request"})

    asyncio.run(play())
    assert len(lines(stream)) == written


def test_traceback_is_one_field_of_one_line() -> None:
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


def test_values_that_are_not_json_are_written_as_text() -> None:
    stream = BytesIO()
    configure("info", stream=stream)
    structlog.get_logger().info("odd", value={1, 2}, kind=int)
    (line,) = lines(stream)
    assert line["value"] == [1, 2]


@pytest.fixture
def people() -> Iterator[BytesIO]:
    before = structlog.get_config()
    stream = BytesIO()
    configure("info", secrets=[re.compile("hunter[0-9]")], stream=stream, for_people=True)
    yield stream
    structlog.configure(**before)


def log_request(**facts: object) -> None:
    log = RequestLog()

    async def play() -> None:
        log.line({"event": "request", "level": "info", **facts})

    asyncio.run(play())


class TestPeople:
    def test_traceback_has_the_format_of_python(self, people: BytesIO) -> None:
        try:
            raise ValueError("the password is hunter2")
        except ValueError:
            structlog.get_logger().exception("failed", id="x", operation="read a")
        first, *lines = people.getvalue().decode().splitlines()
        assert re.fullmatch(r"\d\d:\d\d:\d\d error    failed  id=x operation='read a'", first)
        assert lines[0] == "Traceback (most recent call last):"
        assert lines[-1] == "ValueError: the password is [secret]"
        assert f'  File "{__file__}"' in lines[1]

    def test_each_request_has_a_line(self, people: BytesIO) -> None:
        log_request(method="GET", status=200, actor=None, ms=1.5)
        line = people.getvalue().decode()
        assert re.fullmatch(r"[\d:]{8} info     request  method=GET status=200 ms=1.5\n", line)

    def test_text_contains_no_terminal_sequences(self, people: BytesIO) -> None:
        try:
            raise ValueError("\x1b[2J\x9b")
        except ValueError:
            structlog.get_logger().exception("a\x1b", key="\x1b]0;x\x07", more={"a": "\n\x1b"})
        written = people.getvalue().decode()
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", written)
        assert written.splitlines()[-1] == r"ValueError: \x1b[2J\x9b"

    def test_terminal_gets_text(self, monkeypatch: pytest.MonkeyPatch) -> None:
        before, handlers = structlog.get_config(), logging.getLogger().handlers
        leader, follower = pty.openpty()
        try:
            with os.fdopen(follower, "w") as terminal:
                monkeypatch.setattr(sys, "stderr", terminal)
                configure("info")
                structlog.get_logger().info("begun", value=1)
                logging.getLogger("library").warning("odd")
                terminal.flush()
                written = b""
                while written.count(b"\n") < 2:
                    written += os.read(leader, 1000)
        finally:
            structlog.configure(**before)
            logging.getLogger().handlers = handlers
            os.close(leader)
        lines = [line[9:] for line in written.decode().splitlines()]
        assert lines == ["info     begun  value=1", "warning  odd"]

    def test_text_can_be_enabled(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Readers, "are_people", True)
        stream = BytesIO()
        configure("info", stream=stream)
        log_request(status=200)
        assert stream.getvalue().endswith(b"request  status=200\n")


class TestEmbedded:
    """In a program that configures structlog itself, or not at all."""

    @pytest.mark.parametrize("is_configured", [True, False])
    def test_lines_are_text(self, is_configured: bool, capsys: pytest.CaptureFixture[str]) -> None:
        before = structlog.get_config()
        structlog.reset_defaults()
        if is_configured:
            structlog.configure(processors=[structlog.processors.KeyValueRenderer()])
        try:
            log_request(status=200, method="GET")
        finally:
            structlog.configure(**before)
        written = capsys.readouterr().out
        assert "b'" not in written
        assert "request" in written
        assert "200" in written
        if is_configured:
            assert written == "status=200 method='GET' event='request'\n"
