"""Which of some messages a narrow finds: for clients that learn of messages by events."""

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any

from models.chat.identity.actors import Actor
from models.chat.messages.view import ViewOptions
from models.chat.reading.marks import mark_matches
from models.chat.reading.narrow import build_narrow
from models.chat.reading.ranges import Ids
from models.chat.topics.names import display_topic
from models.json import Json
from models.reader import Db


def find_matches(
    db: Db,
    actor: Actor,
    message_ids: Sequence[int],
    narrow: Sequence[Json],
    options: ViewOptions,
) -> dict[int, dict[str, str]]:
    """Message id -> its `match_content` and `match_subject`, of those that the actor has received
    and the narrow finds; ascending. Raises `BadNarrow`, `InvalidNarrow`.
    """
    # An event told of them: what only the history of a channel holds is none of them.
    built = replace(build_narrow(db, actor, narrow), with_history=False)
    rows = Ids(db, actor, built).among(message_ids)
    empty_name = actor.realm.empty_topic_display_name
    messages: list[dict[str, Any]] = [
        {
            "id": row.id,
            "content": row.rendered_content,
            "content_type": "text/html",
            "subject": ""
            if row.channel_id is None
            else display_topic(
                row.topic, empty_name=empty_name, allow_empty=options.allow_empty_topic_name
            ),
        }
        for row in rows
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
