"""The narrow of a queue: a filter of message events that needs only the event."""

from collections.abc import Mapping, Sequence
from typing import Any

from models.chat.common.name_keys import key_of
from models.chat.identity.actors import Actor
from models.chat.messages.errors import BadNarrow
from models.chat.queues.errors import NarrowNotForEvents
from models.chat.reading.narrow import build_narrow
from models.chat.reading.terms import Term, parse_terms
from models.chat.topics.names import RESOLVED
from models.json import Json
from specd.db import Db

OPERATORS = frozenset(("channel", "topic", "sender", "is"))
_FLAGGED = {
    "mentioned": ("mentioned", "stream_wildcard_mentioned", "topic_wildcard_mentioned"),
    "alerted": ("has_alert_word",),
    "starred": ("starred",),
}
PROPERTIES = frozenset((*_FLAGGED, "dm", "private", "resolved", "unread"))

Narrow = tuple[Term, ...]


def check_narrow(db: Db, actor: Actor, narrow: Sequence[Json]) -> Narrow:
    """Return the terms of a narrow in wire form. A sender must be a user, as in a narrow for
    messages. Raise `InvalidNarrow`, `BadNarrow`, `NarrowNotForEvents`.
    """
    terms = tuple(parse_terms(list(narrow)))
    for term in terms:
        if term.operator == "sender":
            build_narrow(db, actor, [{"operator": term.operator, "operand": term.operand}])
        if term.operator not in OPERATORS:
            raise NarrowNotForEvents(operator=term.operator)
        if term.operator == "is" and term.operand not in PROPERTIES:
            raise BadNarrow(desc=f"unknown 'is' operand {term.operand}")
    return terms


def is_within(narrow: Narrow, message: Mapping[str, Any], flags: Sequence[str]) -> bool:
    """Return whether the message of an event, with its reader's flags, matches all terms."""
    return all(_fulfils(term, message, flags) is not term.negated for term in narrow)


def _fulfils(term: Term, message: Mapping[str, Any], flags: Sequence[str]) -> bool:
    operand = term.operand
    if term.operator == "channel":
        if message["type"] != "stream":
            return False
        name = message["display_recipient"]
        return str(operand) == str(message["stream_id"]) or _same(operand, name)
    if term.operator == "topic":
        return message["type"] == "stream" and _same(operand, message["subject"])
    if term.operator == "sender":
        return operand == message["sender_id"] or _same(operand, message["sender_email"])
    if operand in ("dm", "private"):
        return bool(message["type"] == "private")
    if operand == "resolved":
        return message["type"] == "stream" and str(message["subject"]).startswith(RESOLVED)
    if operand == "unread":
        return "read" not in flags
    return any(flag in flags for flag in _FLAGGED[str(operand)])


def _same(operand: object, text: str) -> bool:
    return isinstance(operand, str) and key_of(operand) == key_of(text)
