"""Reactions to messages.

Users who may read a message may add reactions and remove their own.
"""

from dataclasses import asdict
from datetime import datetime

from sqlalchemy import bindparam, delete, select
from sqlalchemy.orm import Session

from models.chat.access.audiences import find_readers
from models.chat.access.people import email_for_all
from models.chat.errors import ChatError
from models.chat.events import log
from models.chat.events.messages import ReactingUser, ReactionAddEvent, ReactionRemoveEvent
from models.chat.identity.actors import Actor
from models.chat.messages.access import MessageView, access_open_message
from models.chat.messages.flags import WITHOUT_COPY
from models.chat.people.emoji import (
    UNICODE,
    Emoji,
    access_emoji,
    clients_kind,
    complete_emoji,
    require_usable,
)
from models.chat.tables import Reaction, UserMessage
from models.chat.topics.automatic_policies import follow_as_participant
from specd.db import table_of, upsert


class ReactionAlreadyExists(ChatError):
    """The caller has already added this emoji to the message."""

    code = "REACTION_ALREADY_EXISTS"
    sentence = "Reaction already exists."
    advice = "Treat the reaction as added."


class ReactionDoesNotExist(ChatError):
    """The caller has no reaction with this emoji to the message."""

    code = "REACTION_DOES_NOT_EXIST"
    sentence = "Reaction doesn't exist."
    advice = "Treat the reaction as removed."


class NoEmojiNamed(ChatError):
    """The request contains neither the name nor the code of an emoji."""

    sentence = "At least one of the following arguments must be present: emoji_name, emoji_code"
    advice = "Send `emoji_code` and `reaction_type` of the existing reaction, or `emoji_name`."


_REACTION = table_of(Reaction)
_COPY = table_of(UserMessage)

_FIRST_NAME = (
    select(Reaction.emoji_name)
    .where(
        Reaction.message_id == bindparam("message_id"),
        Reaction.reaction_type == bindparam("kind"),
        Reaction.emoji_code == bindparam("code"),
    )
    .order_by(Reaction.id)
    .limit(1)
)
_OWN = select(Reaction.id, Reaction.emoji_name, Reaction.emoji_code, Reaction.reaction_type).where(
    Reaction.message_id == bindparam("message_id"), Reaction.user_id == bindparam("user_id")
)


def add_reaction(
    session: Session,
    actor: Actor,
    message_id: int,
    *,
    name: str,
    code: str | None,
    kind: str | None,
    now: datetime,
) -> None:
    """Add a reaction with the emoji that `complete_emoji` finds for `name`, `code` and `kind`. An
    emoji that the message already has keeps the name of its first reaction, and may be deactivated.

    Raise `InvalidMessage`, `ReactionAlreadyExists`, or an error of `complete_emoji` or
    `require_usable`.
    """
    message = access_open_message(session, actor, message_id)
    emoji = complete_emoji(session, actor, name, code, kind)
    known_as = session.execute(
        _FIRST_NAME,
        {"message_id": message.id, "kind": emoji.reaction_type, "code": emoji.emoji_code},
    ).scalar()
    if known_as is None:
        require_usable(session, actor, emoji)
    else:
        emoji = Emoji(known_as, emoji.emoji_code, emoji.reaction_type)
    made = session.connection().execute(
        upsert(_REACTION)
        .values(message_id=message.id, user_id=actor.id, **asdict(emoji))
        .on_conflict_do_nothing()
        .returning(_REACTION.c.id)
    )
    if made.first() is None:
        raise ReactionAlreadyExists()
    if message.flags is None:
        # The actor gets a copy of a message that they never received, and with it later events.
        copy = upsert(_COPY).values(user_id=actor.id, message_id=message.id, flags=WITHOUT_COPY)
        session.connection().execute(copy.on_conflict_do_nothing())
    if message.channel is not None:
        follow_as_participant(session, actor, message.channel.id, message.topic, now=now)
    _append_event(session, ReactionAddEvent, actor, message, emoji, now)


def remove_reaction(
    session: Session,
    actor: Actor,
    message_id: int,
    *,
    name: str | None,
    code: str | None,
    kind: str | None,
    now: datetime,
) -> None:
    """Remove one of the actor's reactions: the reaction with `code`, or if it is None, with `name`.

    Raise `InvalidMessage`, `NoEmojiNamed`, `ReactionDoesNotExist`, and `EmojiDoesNotExist` if
    neither a reaction nor an emoji has the name.
    """
    message = access_open_message(session, actor, message_id)
    if name is None and code is None:
        raise NoEmojiNamed()
    key = {"message_id": message.id, "user_id": actor.id}
    own = [row for row in session.execute(_OWN, key) if kind in (None, row.reaction_type)]
    if code is not None:
        matching = [row for row in own if row.emoji_code == code]
    else:
        assert name is not None
        matching = [row for row in own if row.emoji_name == name]
        if not matching:  # the message may have the emoji under another name
            emoji = access_emoji(session, actor, name)
            matching = [
                row
                for row in own
                if (row.emoji_code, row.reaction_type) == (emoji.emoji_code, emoji.reaction_type)
            ]
    if not matching:
        raise ReactionDoesNotExist()
    removed = min(matching, key=lambda row: row.reaction_type != UNICODE)
    session.connection().execute(delete(_REACTION).where(_REACTION.c.id == removed.id))
    emoji = Emoji(removed.emoji_name, removed.emoji_code, removed.reaction_type)
    _append_event(session, ReactionRemoveEvent, actor, message, emoji, now)


def _append_event(
    session: Session,
    kind: type[ReactionAddEvent] | type[ReactionRemoveEvent],
    actor: Actor,
    message: MessageView,
    emoji: Emoji,
    now: datetime,
) -> None:
    user: ReactingUser = {
        "user_id": actor.id,
        "email": email_for_all(actor, actor.realm.host),
        "full_name": actor.full_name,
    }
    event = kind(
        user_id=actor.id,
        user=user,
        message_id=message.id,
        emoji_name=emoji.emoji_name,
        emoji_code=emoji.emoji_code,
        reaction_type=clients_kind(emoji.reaction_type),
        place=message.channel_id,
    )
    readers = find_readers(session, message.channel, [message.id])
    log.append(session, actor.realm_id, event, user_ids=[*readers, actor.id], now=now)
