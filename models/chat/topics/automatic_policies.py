"""Policies that are set when users participate in topics, depending on their settings.

A policy is only raised: none (0), muted (1), unmuted (2), followed (3). Users with many policies
get no further policies automatically, because mentions by others would use up their quota for
requests.
"""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import bindparam, case, literal, select
from sqlalchemy.orm import Session, aliased

from models.chat.common.name_keys import key_of
from models.chat.events import log
from models.chat.identity.actors import Actor
from models.chat.tables import Subscription, User, UserTopic
from models.chat.topics.visibility import VisibilityPolicy, policy_event
from models.dialects import id_in
from specd.db import Query, UtcMs, table_of, upsert

PARTICIPATE, SEND, START, NEVER = 1, 2, 3, 4
MOST = 2_500
"""Maximum number of policies of a user up to which new ones are set automatically. It is half of
the default of `topic_policies_per_user`, which limits policies set by requests.
"""

_USER_TOPIC = table_of(UserTopic)

_CURRENT = Query(
    select(
        select(Subscription.is_muted)
        .where(
            Subscription.user_id == bindparam("user_id"),
            Subscription.channel_id == bindparam("channel_id"),
            Subscription.is_active,
        )
        .scalar_subquery(),
        select(UserTopic.visibility_policy)
        .where(
            UserTopic.user_id == bindparam("user_id"),
            UserTopic.channel_id == bindparam("channel_id"),
            UserTopic.topic_key == bindparam("topic_key"),
        )
        .scalar_subquery(),
    )
)
"""Whether the channel is muted (null if not subscribed), and the policy for the topic."""


def follow_as_sender(
    session: Session,
    sender: Actor,
    channel_id: int,
    topic: str,
    *,
    starts_topic: bool,
    now: datetime,
) -> int | None:
    """Return the sender's new policy for the topic of their message, or None if it does not
    change.
    """
    if sender.is_bot:
        return None
    follows = _applies(sender.automatically_follow_topics_policy, starts_topic)
    unmutes = _applies(sender.automatically_unmute_topics_in_muted_streams_policy, starts_topic)
    return _follow(session, sender, channel_id, topic, follows=follows, unmutes=unmutes, now=now)


def follow_as_participant(
    session: Session, actor: Actor, channel_id: int, topic: str, *, now: datetime
) -> None:
    """Raise the policy of a subscriber who participated in a topic without writing in it."""
    if actor.is_bot:
        return
    follows = actor.automatically_follow_topics_policy == PARTICIPATE
    unmutes = actor.automatically_unmute_topics_in_muted_streams_policy == PARTICIPATE
    _follow(
        session,
        actor,
        channel_id,
        topic,
        follows=follows,
        unmutes=unmutes,
        now=now,
        subscribers_only=True,
    )


def _follow(
    session: Session,
    actor: Actor,
    channel_id: int,
    topic: str,
    *,
    follows: bool,
    unmutes: bool,
    now: datetime,
    subscribers_only: bool = False,
) -> int | None:
    """Raise the actor's policy. Return the new policy, or None if it does not change."""
    if not follows and not unmutes:
        return None
    key = {"user_id": actor.id, "channel_id": channel_id, "topic_key": key_of(topic)}
    is_muted, current = _CURRENT.one(session, key)
    if subscribers_only and is_muted is None:
        return None
    unmuted = VisibilityPolicy.UNMUTED if is_muted else VisibilityPolicy.NONE
    wanted = VisibilityPolicy.FOLLOWED if follows else unmuted
    if wanted <= (current or 0):
        return None
    changed = _raise_policy(session, actor.realm_id, [actor.id], channel_id, topic, wanted, now)
    return wanted if changed else None


def has_policy_for_new_topics(sender: Actor) -> bool:
    """Return whether a setting of the sender applies to topics that they start."""
    policies = (
        sender.automatically_follow_topics_policy,
        sender.automatically_unmute_topics_in_muted_streams_policy,
    )
    return not sender.is_bot and START in policies


def _applies(policy: int, starts_topic: bool) -> bool:
    return policy in (PARTICIPATE, SEND) or (policy == START and starts_topic)


def follow_as_mentioned(
    session: Session,
    realm_id: int,
    user_ids: Iterable[int],
    channel_id: int,
    topic: str,
    *,
    now: datetime,
) -> None:
    """Set the policy "followed" for mentioned users whose settings permit it."""
    followed = VisibilityPolicy.FOLLOWED
    _raise_policy(session, realm_id, user_ids, channel_id, topic, followed, now, mentioned=True)


def _raise_policy(
    session: Session,
    realm_id: int,
    user_ids: Iterable[int],
    channel_id: int,
    topic: str,
    policy: int,
    now: datetime,
    *,
    mentioned: bool = False,
) -> list[int]:
    """Raise the policy of users. Return the ids of users whose policy has changed."""
    others, own = aliased(UserTopic), aliased(UserTopic)
    last_one = (
        select(others.user_id)
        .where(others.user_id == User.id)
        .offset(MOST - 1)
        .limit(1)
        .scalar_subquery()
    )
    current = (
        select(own.visibility_policy)
        .where(own.user_id == User.id, own.channel_id == channel_id, own.topic_key == key_of(topic))
        .scalar_subquery()
    )
    # In this order, so that only the policies of users without a policy for the topic are counted.
    is_raised = case((current.is_(None), last_one.is_(None)), else_=current < int(policy))
    who = (
        select(
            User.id,
            literal(channel_id),
            literal(key_of(topic)),
            literal(topic),
            literal(int(policy)),
            literal(now, UtcMs),
        )
        .where(id_in(User.id, sorted(user_ids)), is_raised)
        .order_by(User.id)
    )
    if mentioned:
        who = who.where(User.automatically_follow_topics_where_mentioned, User.bot_type.is_(None))
    columns = ["user_id", "channel_id", "topic_key", "topic", "visibility_policy", "last_updated"]
    made = upsert(_USER_TOPIC).from_select(columns, who)
    statement = made.on_conflict_do_update(
        index_elements=["user_id", "channel_id", "topic_key"],
        set_={
            "visibility_policy": made.excluded.visibility_policy,
            "last_updated": made.excluded.last_updated,
        },
        where=_USER_TOPIC.c.visibility_policy < policy,
    ).returning(_USER_TOPIC.c.user_id)
    changed = list(session.connection().execute(statement).scalars())
    event = policy_event(channel_id, topic, policy, now)
    log.append(session, realm_id, event, user_ids=changed, now=now)
    return changed
