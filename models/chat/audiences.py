"""Who may know of a channel: the recipients of events about it."""

from collections.abc import Collection

from sqlalchemy import select

from models.chat.actors import Reader, RealmView
from models.chat.membership import find_member_ids
from models.chat.permissions import ChannelView
from models.chat.roles import Role
from models.chat.tables import User


class Audiences:
    """Finds the audiences of many channels of a realm, each fact read once.

    The same rule as `permissions.has_metadata_access`, turned around.
    """

    def __init__(self, reader: Reader, realm: RealmView) -> None:
        self._reader = reader
        self._realm = realm
        self._roles: dict[int, int] | None = None
        self._members: dict[int, set[int]] = {}

    def of(self, channel: ChannelView, subscriber_ids: Collection[int]) -> set[int] | None:
        """Ids of the active users who may know that the channel exists; None: everybody."""
        if channel.is_web_public:
            return None
        roles = self._everybody()
        if not channel.invite_only:
            people = {user_id for user_id, role in roles.items() if role != Role.GUEST}
            return people | (roles.keys() & subscriber_ids)
        people = {user_id for user_id, role in roles.items() if role <= Role.ADMINISTRATOR}
        for group_id in (
            channel.can_administer_channel_group,
            channel.can_add_subscribers_group,
            channel.can_subscribe_group,
        ):
            people |= {
                user_id
                for user_id in self._members_of(group_id)
                if roles.get(user_id, Role.GUEST) != Role.GUEST
            }
        return people | (roles.keys() & subscriber_ids)

    def _everybody(self) -> dict[int, int]:
        if self._roles is None:
            rows = self._reader.execute(
                select(User.id, User.role).where(
                    User.realm_id == self._realm.id, User.is_active, ~User.is_system_bot
                )
            )
            self._roles = {user_id: role for user_id, role in rows}
        return self._roles

    def _members_of(self, group_id: int) -> set[int]:
        if group_id == self._realm.nobody_group_id:
            return set()
        if group_id not in self._members:
            self._members[group_id] = find_member_ids(self._reader, group_id)
        return self._members[group_id]
