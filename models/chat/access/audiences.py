"""The recipients of events about a channel and its messages: the users who may see it."""

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property

from sqlalchemy import bindparam, select

from models.chat.access.channels import ChannelView
from models.chat.access.membership import find_members_of_each
from models.chat.identity.actors import RealmView
from models.chat.identity.roles import Role
from models.chat.tables import Subscription, User, UserMessage
from models.dialects import id_in, ids_as_array
from specd.db import Db, Query

_BY_ROLE: Query[int, list[int]] = Query(
    select(User.role, ids_as_array(User.id))
    .where(User.realm_id == bindparam("realm_id"), User.is_active, ~User.is_system_bot)
    .group_by(User.role)
)


class Audiences:
    """The audiences of several channels of a realm. Users and groups are read once for all of them.

    The rule is the same as in `channels.has_metadata_access`, for all users instead of one.
    """

    def __init__(self, db: Db, realm: RealmView, channels: Iterable[ChannelView]) -> None:
        self._db = db
        self._realm = realm
        self._channels = list(channels)

    def of(self, channel: ChannelView, subscriber_ids: Collection[int]) -> set[int] | None:
        """Return the ids of the active users who may see the channel, or None for all users."""
        if channel.is_web_public:
            return None
        subscribers = self.everybody.intersection(subscriber_ids)
        if not channel.invite_only:
            return subscribers.union(self._members)
        groups = [self._group_members.get(group_id, set()) for group_id in _groups_of(channel)]
        return subscribers.union(
            self._administrators, *(self._members.intersection(group) for group in groups)
        )

    @cached_property
    def everybody(self) -> set[int]:
        """The ids of all active users of the realm."""
        return self._up_to(Role.GUEST)

    @cached_property
    def _members(self) -> set[int]:
        return self._up_to(Role.MEMBER)

    @cached_property
    def _administrators(self) -> set[int]:
        return self._up_to(Role.ADMINISTRATOR)

    def _up_to(self, least: Role) -> set[int]:
        return {user_id for role, ids in self._by_role if role <= least for user_id in ids}

    @cached_property
    def _by_role(self) -> Sequence[tuple[int, list[int]]]:
        return _BY_ROLE.all(self._db, {"realm_id": self._realm.id})

    @cached_property
    def _group_members(self) -> dict[int, set[int]]:
        """Group id -> its members, for the groups with permissions in private channels."""
        groups = {
            group_id
            for channel in self._channels
            if channel.invite_only
            for group_id in _groups_of(channel)
        } - {self._realm.nobody_group_id}
        return find_members_of_each(self._db, groups)


def _groups_of(channel: ChannelView) -> tuple[int, ...]:
    """Return the groups whose members may see a private channel."""
    return (
        channel.can_administer_channel_group,
        channel.can_add_subscribers_group,
        channel.can_subscribe_group,
    )


def find_audience(db: Db, realm: RealmView, channel: ChannelView) -> set[int] | None:
    """Return the ids of the active users who may see one channel, or None for all users."""
    return Audiences(db, realm, [channel]).of(channel, _find_subscribers(db, channel))


def find_readers(db: Db, channel: ChannelView | None, message_ids: list[int]) -> set[int]:
    """Return the ids of the active users whose clients may show any of these messages. All messages
    are in one channel, or all are direct messages (`channel` is None).

    Readers of direct messages are the users with a copy. Readers of a channel are its subscribers.
    In a protected history, only subscribers with a copy are readers. In a public channel, former
    subscribers with a copy are also readers.
    """
    with_copy = (
        select(UserMessage.user_id, User.role)
        .join(User, User.id == UserMessage.user_id)
        .where(id_in(UserMessage.message_id, message_ids), User.is_active)
        .distinct()
    )
    if channel is None:
        return {user_id for user_id, _ in db.execute(with_copy)}
    subscribers = _find_subscribers(db, channel)
    if channel.has_protected_history:
        return subscribers & {user_id for user_id, _ in db.execute(with_copy)}
    if channel.invite_only:
        return subscribers
    return subscribers | {
        user_id
        for user_id, role in db.execute(with_copy)
        if role != Role.GUEST or channel.is_web_public
    }


def _find_subscribers(db: Db, channel: ChannelView) -> set[int]:
    subscribers = (
        select(Subscription.user_id)
        .join(User, User.id == Subscription.user_id)
        .where(Subscription.channel_id == channel.id, Subscription.is_active, User.is_active)
    )
    return set(db.execute(subscribers).scalars())
