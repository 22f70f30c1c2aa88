"""Render stored messages again after a change of the renderer.

A message refers only to the users, groups and channels in its stored HTML, so no new users are
mentioned and renamed channels stay linked.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import unescape

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from models.chat.common.name_keys import key_of
from models.chat.messages import search
from models.chat.rendering import Names, Rendered, find_linkifiers, plain_text, render
from models.chat.rendering.links import Linkifiers
from models.chat.rendering.names import find_realm_emoji
from models.chat.rendering.previews import find_previews, handles_in
from models.chat.tables import Message, Realm, User
from specd.db import Db, table_of

_MENTION = re.compile(
    r'<span class="user-mention(?: silent)?" data-user-id="([0-9]+)">@?([^<]*)</span>'
)
_GROUP = re.compile(
    r'<span class="user-group-mention(?: silent)?" data-user-group-id="([0-9]+)">@?([^<]*)</span>'
)
_CHANNEL = re.compile(
    r'<a class="(?:stream|stream-topic|message-link)" data-stream-id="([0-9]+)"[^>]*>#([^<]*)</a>'
)


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message, with the facts of its sender and organization that rendering requires."""

    id: int
    realm_id: int
    topic: str
    content: str
    rendered_content: str
    translate_emoticons: bool
    host: str
    empty_topic_name: str


@dataclass(frozen=True, slots=True)
class RenderedAgain:
    """A message and its new HTML."""

    message: StoredMessage
    rendered: Rendered


def find_stored(
    db: Db, *, after: int, limit: int, realm_id: int | None = None
) -> list[StoredMessage]:
    """Return the next messages after an id, in all running organizations or in one."""
    wanted = (
        select(
            Message.id,
            Message.realm_id,
            Message.topic,
            Message.content,
            Message.rendered_content,
            table_of(User).c.translate_emoticons,
            Realm.host,
            Realm.empty_topic_display_name,
        )
        .join(User, User.id == Message.sender_id)
        .join(Realm, Realm.id == Message.realm_id)
        .where(Message.id > after, Realm.stopped_at.is_(None))
        .order_by(Message.id)
        .limit(limit)
    )
    if realm_id is not None:
        wanted = wanted.where(Message.realm_id == realm_id)
    return [StoredMessage(*row) for row in db.execute(wanted)]


def render_again(db: Db, messages: Sequence[StoredMessage]) -> list[RenderedAgain]:
    """Return the messages whose HTML changes. Call it outside a write transaction."""
    linkifiers: dict[int, Linkifiers] = {}
    emoji: dict[int, dict[str, tuple[int, str]]] = {}
    changed: list[RenderedAgain] = []
    for message in messages:
        realm_id = message.realm_id
        if realm_id not in linkifiers:
            linkifiers[realm_id] = find_linkifiers(db, realm_id)
            emoji[realm_id] = find_realm_emoji(db, realm_id)
        names = replace(
            _names_in(message.rendered_content),
            emoji=emoji[realm_id],
            previews=find_previews(db, realm_id, sorted(handles_in(message.content))),
            linkifiers=Linkifiers(linkifiers[realm_id]),
            translates_emoticons=message.translate_emoticons,
            host=message.host,
        )
        rendered = render(message.content, names, empty_topic_name=message.empty_topic_name)
        if rendered.html != message.rendered_content:
            changed.append(RenderedAgain(message, rendered))
    return changed


def store_again(session: Session, changed: Sequence[RenderedAgain]) -> int:
    """Store new HTML and index it for search. Messages that have been edited meanwhile are skipped.
    Return the number of changed messages.
    """
    stored: list[tuple[int, str, str]] = []
    for each in changed:
        message, rendered = each.message, each.rendered
        done = session.execute(
            update(Message)
            .where(Message.id == message.id, Message.content == message.content)
            .values(
                rendered_content=rendered.html,
                has_link=rendered.has_link,
                has_image=rendered.has_image,
                has_attachment=rendered.has_attachment,
            )
            .returning(Message.topic)
        ).first()
        if done is not None:
            stored.append((message.id, done.topic, plain_text(rendered.html)))
    search.index_messages(session, stored)
    return len(stored)


def _names_in(markup: str) -> Names:
    """Return the users, groups and channels in HTML, with the names that it shows."""
    users = {int(user_id): unescape(name) for user_id, name in _MENTION.findall(markup)}
    by_name: dict[str, list[int]] = defaultdict(list)
    for user_id, name in users.items():
        by_name[key_of(name)].append(user_id)
    groups = {
        key_of(unescape(name)): (int(group_id), unescape(name), False)
        for group_id, name in _GROUP.findall(markup)
    }
    channels = {}
    for channel_id, shown in _CHANNEL.findall(markup):
        name = unescape(shown).partition(" > ")[0]
        channels[key_of(name)] = (int(channel_id), name)
    return Names(users=users, users_by_name=by_name, groups=groups, channels=channels)
