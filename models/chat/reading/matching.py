"""Find the messages among a list that match a narrow, for clients that get messages by events."""

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any

from sqlalchemy import case, func, null, select

from models.chat.identity.actors import Actor
from models.chat.messages.view import ViewOptions
from models.chat.reading import weights
from models.chat.reading.marks import mark_matches
from models.chat.reading.narrow import build_narrow
from models.chat.reading.ranges import Ids
from models.chat.rendering.blocks import as_text
from models.chat.rendering.texts import TRUNCATED
from models.chat.tables import Message
from models.chat.topics.names import display_topic
from models.dialects import in_parameter
from models.json import Json
from specd.db import Db, Query

BEGINNING = 500
"""Maximum number of characters of a message that is too large for the response."""
_SHOWN: Query[int, int | None, str, str | None, str] = Query(
    select(
        Message.id,
        Message.channel_id,
        Message.topic,
        case(
            (in_parameter(Message.id, "whole_ids"), Message.rendered_content),
            else_=null(),
        ),
        func.substr(Message.content, 1, BEGINNING),
    )
    .where(in_parameter(Message.id, "ids"))
    .order_by(Message.id)
)


def find_matches(
    db: Db,
    actor: Actor,
    message_ids: Sequence[int],
    narrow: Sequence[Json],
    options: ViewOptions,
) -> dict[int, dict[str, str]]:
    """Return message id -> `match_content` and `match_subject`, ordered by id, for messages that
    the actor has received and that match the narrow. If messages are too large for one response,
    only the beginning of their source is returned. Raise `BadNarrow`, `InvalidNarrow`.
    """
    # Messages of events have copies, so a channel's history is not needed.
    built = replace(build_narrow(db, actor, narrow), with_history=False)
    ids = Ids(db, actor, built).among(message_ids)
    whole_ids = ids[: weights.count_within(db, ids)]
    values = {"ids": ids, "whole_ids": whole_ids}
    empty_name = actor.realm.empty_topic_display_name
    messages: list[dict[str, Any]] = [
        {
            "id": message_id,
            "content": as_text(beginning + TRUNCATED) if html is None else html,
            "content_type": "text/html",
            "subject": ""
            if channel_id is None
            else display_topic(
                topic, empty_name=empty_name, allow_empty=options.allow_empty_topic_name
            ),
        }
        for message_id, channel_id, topic, html, beginning in _SHOWN.all(db, values)
    ]
    if built.searched:
        mark_matches(messages, built.searched)
    return {
        message["id"]: {
            "match_content": message.get("match_content", message["content"]),
            "match_subject": message.get("match_subject", escape(message["subject"], quote=False)),
        }
        for message in messages
    }
