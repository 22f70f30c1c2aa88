"""The settings about typing: who lets others know, and who wants to know."""

from collections.abc import Collection, Iterable
from typing import cast

from sqlalchemy import Table, bindparam, select

from models.chat.identity.actors import Actor
from models.chat.tables import Subscription, User
from models.chat.typing_status.errors import ChannelTypingDisabled, DirectTypingDisabled
from models.reader import Db, id_in

MOST_SUBSCRIBERS = 100
"""Nobody is told who types in a channel that has more active subscribers."""

_USER = cast(Table, User.__table__)
_SENDING = select(
    _USER.c.send_stream_typing_notifications, _USER.c.send_private_typing_notifications
).where(_USER.c.id == bindparam("user_id"))
_SUBSCRIBERS = (
    select(_USER.c.id, _USER.c.receives_typing_notifications)
    .join(Subscription, Subscription.user_id == _USER.c.id)
    .where(
        Subscription.channel_id == bindparam("channel_id"),
        Subscription.is_active,
        _USER.c.is_active,
    )
    .limit(MOST_SUBSCRIBERS + 1)
)


def require_lets_know(db: Db, actor: Actor, *, in_channels: bool) -> None:
    """Raises `ChannelTypingDisabled` or `DirectTypingDisabled` where the actor's own setting hides
    that they type.
    """
    row = db.execute(_SENDING, {"user_id": actor.id}).one()
    if in_channels and not row.send_stream_typing_notifications:
        raise ChannelTypingDisabled()
    if not in_channels and not row.send_private_typing_notifications:
        raise DirectTypingDisabled()


def find_subscribers_who_want(db: Db, channel_id: int) -> list[int]:
    """Ids of the active subscribers who want to know who types; nobody in a large channel."""
    rows = db.execute(_SUBSCRIBERS, {"channel_id": channel_id}).all()
    if len(rows) > MOST_SUBSCRIBERS:
        return []
    return [row.id for row in rows if row.receives_typing_notifications]


def find_users_who_want(db: Db, user_ids: Iterable[int]) -> Collection[int]:
    """Of these users the active ones who want to know who types."""
    wanted = select(_USER.c.id).where(
        id_in(db, _USER.c.id, user_ids), _USER.c.is_active, _USER.c.receives_typing_notifications
    )
    return db.execute(wanted).scalars().all()
