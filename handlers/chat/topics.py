"""Operations of the tag topics."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

import orjson
from sqlalchemy.orm import Session

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from handlers.chat.wire.steps import wait_for_worker
from models.chat.common.quotas import TOPIC_POLICIES, require_within
from models.chat.deletion import removals
from models.chat.topics import listing as topics
from models.chat.topics import visibility as user_topics
from models.chat.topics.visibility import VisibilityPolicy

if TYPE_CHECKING:
    from handlers.chat import types


def set_user_topic(
    ctx: Context, *, stream_id: int, topic: str, visibility_policy: int
) -> envelope.Answer[types.Success]:
    """Set your visibility policy for a topic."""
    return _set_policy(ctx, stream_id, topic, VisibilityPolicy(visibility_policy))


def update_muted_topic(
    ctx: Context, *, op: str, topic: str, stream: str | None = None, stream_id: int | None = None
) -> envelope.Answer[types.Success]:
    """Mute or unmute a topic."""
    channel_id = user_topics.find_channel_to_mute(
        ctx.session, ctx.actor, name=stream, channel_id=stream_id
    )
    policy = VisibilityPolicy.MUTED if op == "add" else VisibilityPolicy.NONE
    return _set_policy(ctx, channel_id, topic, policy)


def _set_policy(
    ctx: Context, channel_id: int, topic: str, policy: VisibilityPolicy
) -> envelope.Answer[types.Success]:
    user_topics.set_user_topic(
        ctx.session, ctx.actor, channel_id=channel_id, topic=topic, policy=policy, now=ctx.now
    )
    if policy != VisibilityPolicy.NONE:
        require_within(ctx.session, ctx.settings, TOPIC_POLICIES, ctx.actor.id)
    return envelope.success(ctx)


def list_user_topics(
    ctx: Context, *, allow_empty_topic_name: bool = False
) -> envelope.Answer[types.UserTopicList]:
    """List your visibility policies for topics."""
    rows = user_topics.find_visible_policies(ctx.connection, ctx.actor)
    empty = "" if allow_empty_topic_name else ctx.actor.realm.empty_topic_display_name
    policies = [user_topics.describe_policy(row, row.topic or empty) for row in rows]
    return envelope.success(
        ctx, {**envelope.OK, "user_topics": cast("list[types.UserTopic]", policies)}
    )


def list_topics(
    ctx: Context, *, stream_id: int, allow_empty_topic_name: bool = False
) -> envelope.Answer[types.TopicList]:
    """List the topics of a channel."""
    empty = "" if allow_empty_topic_name else ctx.actor.realm.empty_topic_display_name
    array = topics.encode_topics(ctx.connection, ctx.actor, stream_id, empty_name=empty)
    return envelope.success(
        ctx, {**envelope.OK, "topics": cast("list[types.Topic]", orjson.Fragment(array))}
    )


async def delete_topic(
    ctx: Context, *, stream_id: int, topic_name: str
) -> envelope.Answer[types.TopicDeleted]:
    """Delete a topic."""

    def begin(session: Session) -> int | None:
        return removals.remove_topic(session, ctx.actor, stream_id, topic_name, now=ctx.now)

    removal_id = await ctx.write(begin)
    is_complete = removal_id is None or await wait_for_worker(
        ctx,
        partial(removals.find_left, removal_id=removal_id),
        partial(removals.remove_some, now=ctx.now, removal_id=removal_id),
    )
    return envelope.success(ctx, {**envelope.OK, "complete": is_complete})
