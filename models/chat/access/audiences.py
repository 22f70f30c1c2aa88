"""Who may know of a channel, and who of its messages: the recipients of events about them."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

from sqlalchemy import bindparam, select

from models.chat.access.channels import ChannelView
from models.chat.access.membership import find_members_of_each
from models.chat.identity.actors import RealmView
from models.chat.identity.roles import Role
from models.chat.tables import Subscription, User, UserMessage
from models.dialects import gathered_ids, id_in
from models.prepared import Query
from models.reader import Db


@dataclass(frozen=True, slots=True)
class _People:
    """Ids of a realm's active users: all of them, those who are no guests, administrators."""

    everybody: frozenset[int]
    members: frozenset[int]
    administrators: frozenset[int]


_BY_ROLE: Query[int, list[int]] = Query(
    select(User.role, gathered_ids(User.id))
    .where(User.realm_id == bindparam("realm_id"), User.is_active, ~User.is_system_bot)
    .group_by(User.role)
)


class Audiences:
    """Finds the audiences of these channels of a realm, each fact of all of them read once.

    The same rule as `channels.has_metadata_access`, turned around.
    """

    def __init__(self, db: Db, realm: RealmView, channels: Iterable[ChannelView]) -> None:
        self._reader = db
        self._realm = realm
        self._channels = list(channels)

    def of(self, channel: ChannelView, subscriber_ids: Collection[int]) -> set[int] | None:
        """Ids of the active users who may know that the channel exists; None: everybody."""
        if channel.is_web_public:
            return None
        people = self._people
        subscribers = people.everybody.intersection(subscriber_ids)
        if not channel.invite_only:
            return set(people.members).union(subscribers)
        insiders = [self._members.get(group_id, set()) for group_id in _insiders(channel)]
        return set(people.administrators).union(
            subscribers, *(people.members.intersection(group) for group in insiders)
        )

    @property
    def everybody(self) -> frozenset[int]:
        """Ids of all active users of the realm."""
        return self._people.everybody

    @cached_property
    def _people(self) -> _People:
        rows = _BY_ROLE.all(self._reader, {"realm_id": self._realm.id})
        of_role = {role: ids for role, ids in rows}
        return _People(
            frozenset().union(*of_role.values()),
            frozenset().union(*(ids for role, ids in of_role.items() if role != Role.GUEST)),
            frozenset().union(
                *(ids for role, ids in of_role.items() if role <= Role.ADMINISTRATOR)
            ),
        )

    @cached_property
    def _members(self) -> dict[int, set[int]]:
        """Group id -> its members, for the groups that private channels name."""
        groups = {
            group_id
            for channel in self._channels
            if channel.invite_only
            for group_id in _insiders(channel)
        } - {self._realm.nobody_group_id}
        return find_members_of_each(self._reader, groups)


def _insiders(channel: ChannelView) -> tuple[int, ...]:
    """The groups whose members may know of a private channel."""
    return (
        channel.can_administer_channel_group,
        channel.can_add_subscribers_group,
        channel.can_subscribe_group,
    )


def find_audience(db: Db, realm: RealmView, channel: ChannelView) -> set[int] | None:
    """Return the ids of the active users who may know of one channel; None: everybody."""
    return Audiences(db, realm, [channel]).of(channel, _find_subscribers(db, channel))


def find_readers(db: Db, channel: ChannelView | None, message_ids: list[int]) -> set[int]:
    """Ids of the active users whose clients may show any of these messages of one place: who holds
    a copy of a direct one; every subscriber of a channel whose history is open to them, and of any
    other those with a copy; of a public channel also whoever once got a copy.
    """
    holders = (
        select(UserMessage.user_id, User.role)
        .join(User, User.id == UserMessage.user_id)
        .where(id_in(UserMessage.message_id, message_ids), User.is_active)
        .distinct()
    )
    if channel is None:
        return {user_id for user_id, _ in db.execute(holders)}
    subscribers = _find_subscribers(db, channel)
    if channel.has_protected_history:
        return subscribers & {user_id for user_id, _ in db.execute(holders)}
    if channel.invite_only:
        return subscribers
    return subscribers | {
        user_id
        for user_id, role in db.execute(holders)
        if role != Role.GUEST or channel.is_web_public
    }


def _find_subscribers(db: Db, channel: ChannelView) -> set[int]:
    """Ids of its active subscribers."""
    found = db.execute(
        select(Subscription.user_id)
        .join(User, User.id == Subscription.user_id)
        .where(Subscription.channel_id == channel.id, Subscription.is_active, User.is_active)
    )
    return set(found.scalars())
