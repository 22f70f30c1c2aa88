"""Narrows: the filter of a client as conditions on messages and on the reader's own copies.

Nothing here reads messages; ranges.py does, with what `build_narrow` returns.
"""

from collections.abc import Sequence

from models.chat.access.channels import has_content_access
from models.chat.identity.actors import Actor
from models.chat.messages.access import access_message
from models.chat.messages.errors import BadNarrow, InvalidMessage
from models.chat.reading.conditions import Builder, Narrow, message_id_of
from models.chat.reading.terms import Term, parse_terms
from models.json import Json
from models.reader import Db


def build_narrow(db: Db, actor: Actor, narrow: Sequence[Json]) -> Narrow:
    """The conditions of a narrow in wire form. Raises `BadNarrow`, `InvalidNarrow`.

    However many terms there are: one statement each for the users, channels and conversations that
    they name, two for what they search for, and few subqueries.
    """
    terms = _resolve_with(db, actor, parse_terms(list(narrow)))
    builder = Builder(db, actor, terms)
    for term in terms:
        builder.add(term)
    builder.narrow.messages += builder.together.parts(db, builder.narrow.value)
    builder.narrow.searched = builder.together.searched
    builder.narrow.with_history = _includes_history(builder, actor, terms)
    return builder.narrow


def _includes_history(builder: Builder, actor: Actor, terms: Sequence[Term]) -> bool:
    """Only a channel whose past the reader may read opens it, and no term about own copies."""
    if any(
        term.operator == "is" and term.operand not in ("resolved", "followed", "muted")
        for term in terms
    ):
        return False
    if any(
        term.operator == "channels"
        and not term.negated
        and term.operand in ("public", "web-public")
        for term in terms
    ):
        return not actor.is_guest
    return bool(builder.channels) and all(
        not channel.has_protected_history and has_content_access(builder.db, actor, channel)
        for channel in builder.channels
    )


def _resolve_with(db: Db, actor: Actor, terms: list[Term]) -> list[Term]:
    """`with` names a message: its conversation takes the place of the terms that named one."""
    named = [term for term in terms if term.operator == "with"]
    if not named:
        return terms
    if len(named) > 1 or named[0].negated:
        raise BadNarrow(desc="Duplicate 'with' operators.")
    rest = [term for term in terms if term.operator != "with"]
    message_id = message_id_of(named[0].operand, "with")
    try:
        message = access_message(db, actor, message_id)
    except InvalidMessage:
        if any(term.is_channel or term.is_direct for term in rest):
            return rest
        raise BadNarrow(desc="Invalid 'with' operator") from None
    rest = [
        term
        for term in rest
        if term.negated or not (term.operator in ("channel", "topic") or term.is_direct)
    ]
    if message.channel_id is not None:
        return [*rest, Term("channel", message.channel_id), Term("topic", message.topic)]
    assert message.conversation_id is not None
    return [*rest, Term("_conversation", message.conversation_id)]
