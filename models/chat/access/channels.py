"""Channels of a realm as one user meets them, whoever may see them; permissions.py says who may."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, Select, bindparam, select
from sqlalchemy.orm import aliased

from models.chat.ground.id_lists import id_in
from models.chat.identity.actors import Actor
from models.chat.tables import Channel, Subscription
from models.reader import Db


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelView:
    """A channel as its reader met it. Fields are `Channel`'s columns, then the reader's tie."""

    id: int
    realm_id: int
    name: str
    description: str
    rendered_description: str
    invite_only: bool
    is_web_public: bool
    history_public_to_subscribers: bool
    is_archived: bool
    creator_id: int | None
    date_created: datetime
    folder_id: int | None
    message_retention_days: int | None
    topics_policy: str
    first_message_id: int | None
    can_add_subscribers_group: int
    can_administer_channel_group: int
    can_create_topic_group: int
    can_delete_any_message_group: int
    can_delete_own_message_group: int
    can_move_messages_out_of_channel_group: int
    can_move_messages_within_channel_group: int
    can_remove_subscribers_group: int
    can_resolve_topics_group: int
    can_send_message_group: int
    can_subscribe_group: int
    is_subscribed: bool

    @property
    def has_protected_history(self) -> bool:
        """Readable only from one's own copies of messages."""
        return self.invite_only and not self.history_public_to_subscribers


_NAMES = [f.name for f in fields(ChannelView)]
CHANNEL_COLUMNS = [getattr(Channel, name) for name in _NAMES[:-1]]
_MINE = aliased(Subscription)


def channels_seen_by(user_id: int | BindParameter[int]) -> Select[Any]:
    """Select of channels for `channel_of`; add `where`s. Give a bindparam to prebuild it."""
    return (
        select(*CHANNEL_COLUMNS, _MINE.is_active.is_not(None).label("is_subscribed"))
        .select_from(Channel)
        .outerjoin(
            _MINE,
            (_MINE.channel_id == Channel.id) & (_MINE.user_id == user_id) & _MINE.is_active,
        )
    )


def channel_of(row: Iterable[object]) -> ChannelView:
    """The channel of a row of `channels_seen_by`: `CHANNEL_COLUMNS`, then `is_subscribed`."""
    values: dict[str, Any] = dict(zip(_NAMES, row, strict=True))
    return ChannelView(**values)


_SEEN = channels_seen_by(bindparam("viewer_id")).where(Channel.realm_id == bindparam("realm_id"))
_BY_ID = _SEEN.where(Channel.id == bindparam("channel_id"))
_BY_NAME = _SEEN.where(Channel.name_key == bindparam("name_key"))


def find_channel(
    db: Db, actor: Actor, *, channel_id: int | None = None, name: str | None = None
) -> ChannelView | None:
    """A channel of the actor's realm by id or by name (in any case), whoever may see it."""
    key = {"viewer_id": actor.id, "realm_id": actor.realm.id}
    if channel_id is not None:
        row = db.execute(_BY_ID, {**key, "channel_id": channel_id}).first()
    else:
        assert name is not None
        row = db.execute(_BY_NAME, {**key, "name_key": name.strip().casefold()}).first()
    return None if row is None else channel_of(row)


def find_channels(
    db: Db, actor: Actor, *, channel_ids: Iterable[int] = (), names: Iterable[str] = ()
) -> list[ChannelView]:
    """The channels of the actor's realm with those ids or names (in any case), in one statement."""
    keys = [name.strip().casefold() for name in names]
    named = id_in(db, Channel.id, channel_ids) | Channel.name_key.in_(keys)
    found = db.execute(_SEEN.where(named), {"viewer_id": actor.id, "realm_id": actor.realm.id})
    return [channel_of(row) for row in found]
