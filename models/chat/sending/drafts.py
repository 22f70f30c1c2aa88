"""A message before it is sent: it is checked and its text is rendered, but nothing is stored.

The same checks apply to messages that are sent immediately, scheduled for later, and delivered by
the worker.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Select, func, select

from models.chat.access.channels import ChannelView
from models.chat.access.membership import belongs
from models.chat.common.name_keys import key_of
from models.chat.identity.actors import Actor
from models.chat.rendering import Rendered, topic_links
from models.chat.rendering.texts import PreparedText
from models.chat.sending.errors import (
    EmptyTopicNotAllowed,
    GroupMentionNotAllowed,
    MessageHasNullBytes,
    MessageIsEmpty,
    MissingTopic,
    NewTopicsNotAllowed,
    StreamWildcardMentionNotAllowed,
    TopicsNotAllowed,
    TopicWildcardMentionNotAllowed,
)
from models.chat.sending.recipients import (
    Destination,
    ToChannel,
    access_channel_to_send,
    access_recipients,
)
from models.chat.tables import Message, Subscription, UserGroup
from models.chat.topics.names import normalise_topic
from models.chat.topics.summary import has_topic
from specd.db import Db

WILDCARD_THRESHOLD = 15
"""Up to this number of readers, all users may use wildcard mentions."""
NAME_MAX = 30
_CLIENTS_OF_PEOPLE = frozenset(
    (
        *("zulipandroid", "zulipios", "zulipdesktop", "zulipmobile", "zulipelectron"),
        *("zulipterminal", "zulipflutter", "snipe", "website", "ios", "android"),
    )
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A message that may be sent. It has either a `channel` or `user_ids` (all users of the
    conversation).
    """

    sender: Actor
    channel: ChannelView | None
    user_ids: tuple[int, ...]
    topic: str
    content: str
    rendered: Rendered
    client: str
    read_by_sender: bool
    topic_links: Sequence[dict[str, str]] = ()

    @property
    def topic_key(self) -> str:
        return key_of(self.topic)


def check_stored(stored: str) -> str:
    """Return the content from `shorten`. Raise `MessageIsEmpty`, `MessageHasNullBytes`."""
    if not stored.strip():
        raise MessageIsEmpty()
    if "\0" in stored:
        raise MessageHasNullBytes()
    return stored


def check_message(
    db: Db,
    sender: Actor,
    destination: Destination,
    *,
    topic: str | None,
    text: PreparedText,
    client: str = "",
    read_by_sender: bool | None = None,
) -> Draft:
    """Return the draft of a message from `sender` after all checks.

    `topic` is ignored for direct messages. If `read_by_sender` is None, it depends on the client,
    and is false for a message to oneself. Raise `MessageIsEmpty`, `MessageHasNullBytes`,
    `MissingTopic`, `InvalidCharacterInTopic`, an error of `access_channel_to_send` or
    `access_recipients`, `EmptyTopicNotAllowed`, `TopicsNotAllowed`, `NewTopicsNotAllowed`, or an
    error of `check_mentions`.
    """
    content = check_stored(text.stored)
    channel: ChannelView | None = None
    user_ids: tuple[int, ...] = ()
    stored_topic = ""
    if isinstance(destination, ToChannel):
        if topic is None:
            raise MissingTopic()
        empty_name = sender.realm.empty_topic_display_name
        stored_topic = normalise_topic(topic, empty_name=empty_name)
        channel = access_channel_to_send(db, sender, destination.channel)
        check_topic(db, sender, channel, stored_topic)
    else:
        user_ids = tuple(access_recipients(db, sender, destination.users))
    check_mentions(db, sender, channel, stored_topic, text.rendered)
    if read_by_sender is None:
        read_by_sender = reads_own_messages(client) and user_ids != (sender.id,)
    return Draft(
        sender,
        channel,
        user_ids,
        stored_topic,
        content,
        text.rendered,
        client[:30],
        read_by_sender,
        topic_links(stored_topic, text.linkifiers),
    )


def effective_topics_policy(actor: Actor, channel: ChannelView) -> str:
    """Return the channel's policy, or the organization's if the channel inherits it."""
    own = channel.topics_policy
    return actor.realm.topics_policy if own == "inherit" else own


def check_topic(db: Db, sender: Actor, channel: ChannelView, topic: str) -> None:
    """Raise an error unless the sender may use the topic in the channel. System bots may use all
    topics.
    """
    if sender.is_system_bot:
        return
    policy = effective_topics_policy(sender, channel)
    empty_name = sender.realm.empty_topic_display_name
    if not topic and policy == "disable_empty_topic":
        raise EmptyTopicNotAllowed(empty_topic_name=empty_name)
    if topic and policy == "empty_topic_only":
        raise TopicsNotAllowed(empty_topic_name=empty_name)
    if belongs(db, sender, channel.can_create_topic_group):
        return
    if not has_topic(db, sender, channel, topic, as_owner=True):
        raise NewTopicsNotAllowed()


def check_mentions(
    db: Db, sender: Actor, channel: ChannelView | None, topic: str, rendered: Rendered
) -> None:
    """Raise an error if the text contains a mention that its author may not use."""
    if rendered.refused_group is not None:
        raise GroupMentionNotAllowed(name=rendered.refused_group)
    if rendered.group_ids:
        _check_groups(db, sender, rendered.group_ids)
    if channel is None or not (rendered.mentions_channel or rendered.mentions_topic):
        return
    if belongs(db, sender, sender.realm.can_mention_many_users_group):
        return
    if rendered.mentions_channel:
        some = select(Subscription.user_id).where(
            Subscription.channel_id == channel.id, Subscription.is_active
        )
        if _exceeds_threshold(db, some):
            raise StreamWildcardMentionNotAllowed()
    if rendered.mentions_topic:
        some = (
            select(Message.sender_id)
            .distinct()
            .where(Message.channel_id == channel.id, Message.topic_key == key_of(topic))
        )
        if _exceeds_threshold(db, some):
            raise TopicWildcardMentionNotAllowed()


def _check_groups(db: Db, sender: Actor, group_ids: Iterable[int]) -> None:
    """Check mentions of groups again, because the text was rendered before the transaction."""
    mentioned = select(UserGroup.name, UserGroup.can_mention_group, UserGroup.is_deactivated).where(
        UserGroup.id.in_(group_ids)
    )
    for name, can_mention_group, is_deactivated in db.execute(mentioned):
        if is_deactivated or not belongs(db, sender, can_mention_group):
            raise GroupMentionNotAllowed(name=name)


def _exceeds_threshold(db: Db, user_ids: Select[int]) -> bool:
    few = user_ids.limit(WILDCARD_THRESHOLD + 1).subquery()
    count: int = db.execute(select(func.count()).select_from(few)).scalar_one()
    return count > WILDCARD_THRESHOLD


def client_name(client: str | None, user_agent: str | None) -> str:
    """Return `client`, or the User-Agent up to its slash, limited to 30 characters."""
    name = client or (user_agent or "").partition("/")[0]
    return "".join(sign for sign in name if sign.isprintable()).strip()[:NAME_MAX]


def reads_own_messages(client: str) -> bool:
    """Return whether the client shows sent messages to a person, unlike bots and scripts."""
    name = client.lower()
    return name in _CLIENTS_OF_PEOPLE or "desktop app" in name
