"""The measured operations, and the goal of each."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from time import time
from urllib.parse import urlencode

from benchmarks.chat.realm import Stage

API = "/api/v1"


@dataclass(frozen=True, slots=True)
class Operation:
    """`p50_below_ms` is the goal or None: a fifth of Zulip's published average, or a time that
    people do not notice. `is_read` means that it changes nothing.
    """

    title: str
    script: str
    path: Callable[[Stage], str]
    arguments: Callable[[Stage], list[str]]
    p50_below_ms: float | None = None
    is_read: bool = False


def _get(path: Callable[[Stage], str], title: str, goal: float | None = 5.0) -> Operation:
    return Operation(title, "fixed.lua", path, lambda stage: ["GET", ""], goal, True)


def _form(**fields: object) -> str:
    return urlencode({n: v if isinstance(v, str) else json.dumps(v) for n, v in fields.items()})


def _post(path: str, title: str, body: Callable[[Stage], str], goal: float | None) -> Operation:
    return Operation(
        title, "fixed.lua", lambda stage: path, lambda stage: ["POST", body(stage)], goal
    )


def _flags(stage: Stage, op: str) -> str:
    narrow = [["channel", "stage"], ["topic", "act"]]
    return _form(
        anchor="oldest", num_before=0, num_after=1000, narrow=narrow, op=op, flag="starred"
    )


def _crowd(stage: Stage, subscriptions: list[object]) -> str:
    return _form(subscriptions=subscriptions, principals=list(stage.crowd))


OPERATIONS = {
    "own user": _get(lambda stage: "/users/me", "GET own user"),
    "user by email": _get(lambda stage: f"/users/{stage.other_email}", "GET a user by email"),
    "topics": _get(
        lambda stage: f"/users/me/{stage.hall_id}/topics", "GET 10,000 topics of a channel", None
    ),
    "messages": _get(
        lambda stage: (
            "/messages?"
            + _form(anchor="newest", num_before=100, num_after=0, narrow=[["channel", "stage"]])
        ),
        "GET 100 messages of a channel",
        14.0,
    ),
    "all messages": _get(
        lambda stage: "/messages?" + _form(anchor="newest", num_before=100, num_after=0),
        "GET 100 messages of everything",
        14.0,
    ),
    "search": _get(
        lambda stage: (
            "/messages?"
            + _form(anchor="newest", num_before=20, num_after=0, narrow=[["search", "topic 10042"]])
        ),
        "GET messages that hold a rare word",
        14.0,
    ),
    "user groups": _get(lambda stage: "/user_groups", "GET the user groups", None),
    "flags": Operation(
        "POST flags over a narrow of 1,000 messages, starred and unstarred in turn",
        "alternate.lua",
        lambda stage: "/messages/flags/narrow",
        lambda stage: ["POST", _flags(stage, "add"), "POST", _flags(stage, "remove")],
        10.0,
    ),
    "one flag": Operation(
        "POST flags of one message, in turn",
        "alternate.lua",
        lambda stage: "/messages/flags",
        lambda stage: [
            part
            for op in ("add", "remove")
            for part in ("POST", _form(messages=[10_500], op=op, flag="starred"))
        ],
        5.0,
    ),
    "subscribe": Operation(
        "POST and DELETE 100 users' subscription to a channel, in turn",
        "alternate.lua",
        lambda stage: "/users/me/subscriptions",
        lambda stage: [
            "POST",
            _crowd(stage, [{"name": "annex"}]),
            "DELETE",
            _crowd(stage, ["annex"]),
        ],
    ),
    "schedule": _post(
        "/scheduled_messages",
        "POST a scheduled message",
        lambda stage: _form(
            type="channel",
            to=stage.stage_id,
            topic="later",
            content="Later",
            scheduled_delivery_timestamp=round(time()) + 864_000,
        ),
        8.0,
    ),
    "send": _post(
        "/messages",
        "POST a message to a channel of 100 subscribers",
        lambda stage: _form(type="channel", to=stage.stage_id, topic="chat", content="Hello"),
        8.0,
    ),
}
FLAT = ("topics", "flags")
"""Measured at 10,000, 100,000 and 1,000,000 messages. They must not grow by more than 1.5 x."""
SIZES = (11_000, 100_000, 1_000_000)


def headers(stage: Stage) -> list[str]:
    """Return wrk's arguments for the headers of the measured user."""
    credentials = base64.b64encode(f"{stage.email}:{stage.api_key}".encode()).decode()
    form = "application/x-www-form-urlencoded"
    return ["Authorization", f"Basic {credentials}", "Content-Type", form]
