"""Visibility policies of users for topics: none, muted, unmuted, followed. Without a row, the
policy is none.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from enum import IntEnum
from typing import NamedTuple

from sqlalchemy import bindparam, delete, select
from sqlalchemy.orm import Session

from models.chat.access.channels import (
    access_channel_by_name,
    filter_visible,
    find_channels,
    find_visible_channel,
)
from models.chat.access.errors import InvalidChannelId
from models.chat.common.errors import MissingParameter
from models.chat.common.name_keys import key_of
from models.chat.events import log
from models.chat.events.account import MutedTopicsEvent, UserTopicEvent
from models.chat.identity.actors import Actor
from models.chat.tables import UserTopic
from models.chat.topics.errors import IncompatibleParameters
from models.chat.topics.names import normalise_topic
from models.rows import columns_of, read_rows
from specd.db import Db


class VisibilityPolicy(IntEnum):
    """The API's numbers. In a channel that is not muted, "unmuted" has the effect of "none"."""

    NONE = 0
    MUTED = 1
    UNMUTED = 2
    FOLLOWED = 3


class PolicyRow(NamedTuple):
    """A topic with a policy."""

    channel_id: int
    topic_key: str
    topic: str
    last_updated: datetime
    visibility_policy: int


_ALL = (
    select(*columns_of(PolicyRow, UserTopic))
    .where(UserTopic.user_id == bindparam("user_id"))
    .order_by(UserTopic.last_updated, UserTopic.channel_id, UserTopic.topic_key)
)


def set_user_topic(
    session: Session,
    actor: Actor,
    *,
    channel_id: int,
    topic: str,
    policy: VisibilityPolicy,
    now: datetime,
) -> None:
    """Set the actor's policy for a topic. The topic may be without messages.

    Raise `InvalidCharacterInTopic` and `InvalidChannelId`. A policy can also be cleared in a
    channel that the actor can no longer read.
    """
    topic = normalise_topic(topic, empty_name=actor.realm.empty_topic_display_name)
    clears = policy == VisibilityPolicy.NONE
    known = find_visible_channel(session, actor, channel_id=channel_id, content=not clears)
    if known is None and not clears:
        raise InvalidChannelId()
    if _store(session, actor.id, channel_id, topic, policy, now):
        # The older kind of event, which contains only muted topics, comes first.
        for event in (MutedTopicsEvent(), policy_event(channel_id, topic, policy, now)):
            log.append(session, actor.realm_id, event, user_ids=[actor.id], now=now)
    elif known is None:
        raise InvalidChannelId()


def find_channel_to_mute(db: Db, actor: Actor, *, name: str | None, channel_id: int | None) -> int:
    """Return the id of the channel, which an older client may give in one of two ways. Raise
    `MissingParameter`, `IncompatibleParameters`, or an error of `access_channel_by_name`.
    """
    if name is not None and channel_id is not None:
        raise IncompatibleParameters(names="stream_id, stream")
    if channel_id is not None:
        return channel_id
    if name is None:
        raise MissingParameter(var_name="stream_id")
    return access_channel_by_name(db, actor, name).id


def _store(
    session: Session,
    user_id: int,
    channel_id: int,
    topic: str,
    policy: VisibilityPolicy,
    now: datetime,
) -> bool:
    """Store a policy of a user. Return whether it has changed."""
    key = {"user_id": user_id, "channel_id": channel_id, "topic_key": key_of(topic)}
    if policy == VisibilityPolicy.NONE:
        cleared = session.execute(
            delete(UserTopic)
            .filter_by(**key)
            .returning(UserTopic.channel_id)
            .execution_options(synchronize_session=False)
        )
        return cleared.first() is not None
    row = session.get(UserTopic, key, with_for_update=True)
    if row is not None and row.visibility_policy == policy:
        return False
    if row is None:
        row = UserTopic(**key)
        session.add(row)
    row.topic = topic
    row.visibility_policy = policy
    row.last_updated = now
    session.flush()
    return True


def find_policies(db: Db, user_id: int) -> list[PolicyRow]:
    """Return the topics for which the user has a policy, oldest first."""
    return read_rows(PolicyRow, db.execute(_ALL, {"user_id": user_id}))


def find_visible_policies(db: Db, actor: Actor) -> list[PolicyRow]:
    """Return the actor's policies for topics of channels that they may see, oldest first."""
    rows = find_policies(db, actor.id)
    known = _find_visible_names(db, actor, rows)
    return [row for row in rows if row.channel_id in known]


def find_muted_topics(db: Db, actor: Actor, shown: Callable[[str], str]) -> list[list[str | int]]:
    """Return the actor's muted topics, oldest first, in the form of `describe_muted`."""
    rows = find_policies(db, actor.id)
    return describe_muted(rows, _find_visible_names(db, actor, rows), shown)


def _find_visible_names(db: Db, actor: Actor, rows: Iterable[PolicyRow]) -> dict[int, str]:
    """Return id -> name of channels with policies that the actor may see."""
    channels = find_channels(db, actor, channel_ids={row.channel_id for row in rows})
    return {channel.id: channel.name for channel in filter_visible(db, actor, channels)}


def describe_policy(row: PolicyRow, topic: str) -> dict[str, str | int]:
    """Return a policy in the API's form. `topic` is in the form that the client can show."""
    return {
        "stream_id": row.channel_id,
        "topic_name": topic,
        "last_updated": int(row.last_updated.timestamp()),
        "visibility_policy": row.visibility_policy,
    }


def describe_muted(
    rows: Iterable[PolicyRow], names: Mapping[int, str], shown: Callable[[str], str]
) -> list[list[str | int]]:
    """Return [channel name, topic, Unix seconds] of each muted topic whose channel is in `names`.
    `shown` converts a topic to the form that the client can show.
    """
    return [
        [names[row.channel_id], shown(row.topic), int(row.last_updated.timestamp())]
        for row in rows
        if row.visibility_policy == VisibilityPolicy.MUTED and row.channel_id in names
    ]


def policy_event(channel_id: int, topic: str, policy: int, now: datetime) -> UserTopicEvent:
    """Return the event of a policy that was set at `now`."""
    return UserTopicEvent(
        stream_id=channel_id,
        topic_name=topic,
        last_updated=int(now.timestamp()),
        visibility_policy=int(policy),
    )
