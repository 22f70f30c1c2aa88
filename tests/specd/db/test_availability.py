"""What a process knows of its database: one line per outage, and word of its end."""

from typing import Any

import pytest
from structlog.testing import capture_logs

from specd._db import availability
from specd._db.availability import FAILED_S, QUIET_S, Availability

CAUSE = ConnectionError("away")


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The last one is now."""
    told = [1000.0]
    monkeypatch.setattr(availability.time, "monotonic", lambda: told[-1])
    return told


def events(lines: Any) -> list[str]:
    return [line["event"] for line in lines]


def test_an_outage_has_one_line_when_it_begins_and_one_when_it_ends(seconds: list[float]) -> None:
    known = Availability()
    with capture_logs() as lines:
        for _ in range(3):
            known.note_failure(CAUSE, known.ended)
        seconds.append(seconds[-1] + QUIET_S)
        for _ in range(3):
            known.note_success()
    assert events(lines) == ["database_unavailable", "database_available"]
    assert lines[1]["after_s"] == QUIET_S


def test_a_success_amid_failures_does_not_end_it(seconds: list[float]) -> None:
    known = Availability()
    known.note_failure(CAUSE, known.ended)
    known.note_success()
    assert known.is_failing


def test_what_began_before_the_end_and_fails_after_it_says_nothing(seconds: list[float]) -> None:
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


def test_silence_ends_by_an_answer_alone(seconds: list[float]) -> None:
    known = Availability()
    known.note_silence(CAUSE)
    seconds.append(seconds[-1] + FAILED_S + QUIET_S)
    known.note_success()
    assert known.has_just_failed
    known.note_answer()
    assert not known.has_just_failed


def test_a_failure_counts_for_seconds(seconds: list[float]) -> None:
    known = Availability()
    known.note_failure(CAUSE, known.ended)
    assert known.has_just_failed
    seconds.append(seconds[-1] + FAILED_S)
    assert not known.has_just_failed


def test_the_end_calls_whoever_asked_for_it_once(seconds: list[float]) -> None:
    known, calls = Availability(), []
    known.on_return(lambda: calls.append(1))
    known.note_answer()
    assert not calls
    known.note_silence(CAUSE)
    known.note_answer()
    known.note_answer()
    assert calls == [1]
