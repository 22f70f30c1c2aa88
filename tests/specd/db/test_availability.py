"""A process logs each outage of its database once, and its end."""

from typing import Any

import pytest
from structlog.testing import capture_logs

from specd._db import availability
from specd._db.availability import FAILED_S, QUIET_S, Availability

CAUSE = ConnectionError("away")


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The times of the clock. The last is the current time."""
    told = [1000.0]
    monkeypatch.setattr(availability.time, "monotonic", lambda: told[-1])
    return told


def events(lines: Any) -> list[str]:
    return [line["event"] for line in lines]


def test_outage_is_logged_at_its_beginning_and_at_its_end(seconds: list[float]) -> None:
    known = Availability()
    with capture_logs() as lines:
        for _ in range(3):
            known.note_failure(CAUSE, known.ended)
        seconds.append(seconds[-1] + QUIET_S)
        for _ in range(3):
            known.note_success()
    assert events(lines) == ["database_unavailable", "database_available"]
    assert lines[1]["after_s"] == QUIET_S


def test_single_success_among_failures_does_not_end_an_outage(seconds: list[float]) -> None:
    known = Availability()
    known.note_failure(CAUSE, known.ended)
    known.note_success()
    assert known.is_failing


def test_late_failure_of_an_earlier_request_is_not_logged(seconds: list[float]) -> None:
    known = Availability()
    began = known.ended
    known.note_silence(CAUSE)
    known.note_answer()
    with capture_logs() as lines:
        known.note_failure(CAUSE, began)
    assert not known.is_failing
    assert not lines
    known.note_failure(CAUSE, known.ended)
    assert known.is_failing


def test_unreachable_database_recovers_only_by_an_answer(seconds: list[float]) -> None:
    known = Availability()
    known.note_silence(CAUSE)
    seconds.append(seconds[-1] + FAILED_S + QUIET_S)
    known.note_success()
    assert known.has_just_failed
    known.note_answer()
    assert not known.has_just_failed


def test_failure_counts_for_some_seconds(seconds: list[float]) -> None:
    known = Availability()
    known.note_failure(CAUSE, known.ended)
    assert known.has_just_failed
    seconds.append(seconds[-1] + FAILED_S)
    assert not known.has_just_failed


def test_end_of_an_outage_calls_each_callback_once(seconds: list[float]) -> None:
    known, calls = Availability(), []
    known.on_return(lambda: calls.append(1))
    known.note_answer()
    assert not calls
    known.note_silence(CAUSE)
    known.note_answer()
    known.note_answer()
    assert calls == [1]
