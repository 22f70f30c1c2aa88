"""Valid cases, brought nearer to what the fuzzed organization holds.

Which ids, names and addresses exist no schema knows; which of two spellings of a parameter was
meant, and what value goes with which property, OpenAPI 3.0 cannot say of form fields.
"""

from __future__ import annotations

import uuid
from typing import Any

from schemathesis import Case
from schemathesis.generation.meta import TestPhase

HIGHEST = {
    "user_id": 9,
    "stream_id": 5,
    "message_id": 30,
    "scheduled_message_id": 10,
    "principals": 9,
    "user_ids": 9,
    "members": 9,
    "messages": 30,
    "message_ids": 30,
    "direct_members": 9,
    "direct_subgroups": 9,
    "subgroups": 9,
}
"""Parameter or key -> ids up to this one are likely to exist."""

WORDS: dict[str, tuple[str, ...]] = {
    "anchor": ("newest", "oldest", "first_unread", "7"),
    "email": ("second@fuzz.example", "user2@127.0.0.1", "user3@127.0.0.1"),
    "stream": ("general", "Denmark", "Verona"),
    "username": ("first@fuzz.example", "second@fuzz.example"),
}
"""Text parameter -> values that mean something."""

SPELLINGS = (
    ("topic", "subject"),
    ("client_extavatar", "client_gravatar"),
    ("syntax_language", "pygments_language"),
)
"""Two names of one parameter, of which one is sent."""

UNTOUCHED = 2**31 - 100
"""Values from here on are edges that the coverage phase wants to see arrive."""

KEY = "Idempotency-Key"


def factual(case: Case) -> None:
    """Changes a valid case in place; another valid case comes out."""
    if case.meta is None or case.meta.phase.name is not TestPhase.STATEFUL:
        case.path_parameters = _near(case.path_parameters)  # a link's are as they are
    case.query = _spelled_once(_near(case.query))
    if case.headers is not None and KEY in case.headers:
        case.headers[KEY] = f"{case.headers[KEY][:60]}.{uuid.uuid4().hex}"
    if isinstance(case.body, dict):
        case.body = _spelled_once(_near(case.body))


def _spelled_once(sent: Any) -> Any:
    dropped = {other for chosen, other in SPELLINGS if sent and chosen in sent}
    return {k: v for k, v in sent.items() if k not in dropped} if dropped else sent


def _near(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        near = {key: _near(item, key) for key, item in value.items()}
        if "property" in near and "value" in near:
            near["value"] = _fitting(near["property"], near["value"])
        return near
    if isinstance(value, list):
        return [_near(item, name) for item in value]
    if name in HIGHEST and type(value) is int and value < UNTOUCHED:
        return value % HIGHEST[name] + 1
    if name in WORDS and isinstance(value, str) and len(value) % 4:
        return WORDS[name][len(value) % len(WORDS[name])]
    return value


def _fitting(setting: Any, value: Any) -> Any:
    """A value for a subscription's setting."""
    if setting == "color":
        return value if isinstance(value, str) and value.startswith("#") else "#f00f00"
    return value if isinstance(value, bool) else bool(value)
