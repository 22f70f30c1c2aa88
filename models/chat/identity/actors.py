"""Actors: a user with all facts that permissions depend on, and the realm, read with one select."""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, bindparam, select
from sqlalchemy.orm import Session

from models.chat.identity.errors import (
    AccountDeactivated,
    InvalidApiKey,
    MalformedApiKey,
    NonexistentSubdomain,
    NotForWebhookBots,
    RealmDeactivated,
    RealmMoving,
    WrongSubdomain,
)
from models.chat.identity.key_digests import API_KEY, digest_of
from models.chat.identity.roles import BotType, Role
from models.chat.tables import Realm, User
from models.dialects import IdColumn, id_in
from models.rows import RowQuery, columns_of
from specd.db import Db, Query


class RealmView(NamedTuple):
    """An organization at the beginning of the request. The fields are `Realm`'s columns."""

    id: int
    host: str
    name: str
    description: str
    date_created: datetime
    is_deactivated: bool
    stopped_at: datetime | None
    internet_group_id: int
    everyone_group_id: int
    members_group_id: int
    fullmembers_group_id: int
    moderators_group_id: int
    administrators_group_id: int
    owners_group_id: int
    nobody_group_id: int
    default_language: str
    email_address_visibility: int
    emails_restricted_to_domains: bool
    disallow_disposable_email_addresses: bool
    require_unique_names: bool
    name_changes_disabled: bool
    email_changes_disabled: bool
    avatar_changes_disabled: bool
    enable_read_receipts: bool
    enable_spectator_access: bool
    topics_policy: str
    empty_topic_display_name: str
    message_retention_days: int
    allow_message_editing: bool
    message_edit_history_visibility_policy: str
    message_content_edit_limit_seconds: int | None
    message_content_delete_limit_seconds: int | None
    move_messages_within_stream_limit_seconds: int | None
    move_messages_between_streams_limit_seconds: int | None
    moderation_request_channel_id: int | None
    new_stream_announcements_stream_id: int | None
    can_access_all_users_group: int
    can_add_custom_emoji_group: int
    can_add_subscribers_group: int
    can_create_bots_group: int
    can_create_groups: int
    can_create_private_channel_group: int
    can_create_public_channel_group: int
    can_create_web_public_channel_group: int
    can_create_write_only_bots_group: int
    can_delete_any_message_group: int
    can_delete_own_message_group: int
    can_invite_users_group: int
    can_manage_all_groups: int
    can_mention_many_users_group: int
    can_move_messages_between_channels_group: int
    can_move_messages_between_topics_group: int
    can_resolve_topics_group: int
    can_set_delete_message_policy_group: int
    can_set_topics_policy_group: int
    create_multiuse_invite_group: int
    direct_message_initiator_group: int
    direct_message_permission_group: int

    def require_running(self) -> None:
        """Raise `RealmMoving` if the organization is stopped."""
        if self.stopped_at is not None:
            raise RealmMoving()

    def system_groups_of(self, role: int) -> frozenset[int]:
        """Return the ids of the system groups of a role, including groups through subgroups."""
        groups = [self.internet_group_id, self.everyone_group_id]
        if role <= Role.MEMBER:
            groups += (self.members_group_id, self.fullmembers_group_id)
        if role <= Role.MODERATOR:
            groups.append(self.moderators_group_id)
        if role <= Role.ADMINISTRATOR:
            groups.append(self.administrators_group_id)
        if role <= Role.OWNER:
            groups.append(self.owners_group_id)
        return frozenset(groups)

    def group_id_of(self, name: str) -> int:
        """Return the id of a system group by its name, such as `role:members`."""
        return int(getattr(self, f"{name.removeprefix('role:')}_group_id"))

    @property
    def system_groups(self) -> frozenset[int]:
        """Return the ids of all system groups."""
        return self.system_groups_of(Role.OWNER) | {self.nobody_group_id}


@dataclass(slots=True)
class AccessCache:
    """Facts about an actor that access checks have read in one unit of work. None means not read
    yet.
    """

    group_ids: frozenset[int] | None = None
    owner: "Actor | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """A user at the beginning of the request. All fields except the last two are `User`'s
    columns.
    """

    id: int
    delivery_email: str
    email_key: str
    full_name: str
    role: int
    bot_type: int | None
    bot_owner_id: int | None
    is_active: bool
    is_imported_stub: bool
    is_system_bot: bool
    date_joined: datetime
    timezone: str
    default_language: str
    avatar_version: int
    avatar_handle: str | None
    email_address_visibility: int
    presence_enabled: bool
    automatically_follow_topics_policy: int
    automatically_unmute_topics_in_muted_streams_policy: int
    automatically_follow_topics_where_mentioned: bool
    translate_emoticons: bool
    can_create_users: bool
    can_change_user_emails: bool
    api_key_sha256: str = field(repr=False)
    realm: RealmView
    cached: AccessCache = field(default_factory=AccessCache, compare=False, repr=False)

    @property
    def realm_id(self) -> int:
        return self.realm.id

    @property
    def is_bot(self) -> bool:
        return self.bot_type is not None

    @property
    def is_guest(self) -> bool:
        return self.role == Role.GUEST

    @property
    def is_owner(self) -> bool:
        return self.role == Role.OWNER

    @property
    def is_administrator(self) -> bool:
        """Return whether the user is an administrator or an owner."""
        return self.role <= Role.ADMINISTRATOR

    @property
    def is_moderator(self) -> bool:
        """Return whether the user is a moderator, an administrator or an owner."""
        return self.role <= Role.MODERATOR

    @property
    def dummy_email(self) -> str:
        """Return an address that identifies the user in the API for every caller."""
        return f"user{self.id}@{self.realm.host}"


_USER_NAMES = [f.name for f in fields(Actor)[:-2]]
_USER = [getattr(User, name) for name in _USER_NAMES]
_REALM = columns_of(RealmView, Realm)

_Row = tuple[Any, ...]
_AT_HOST = Realm.host == bindparam("host")
_BY_KEY: Query[*_Row] = Query(
    select(*_USER, *_REALM)
    .select_from(Realm)
    .outerjoin(
        User, (User.realm_id == Realm.id) & (User.api_key_sha256 == bindparam("api_key_sha256"))
    )
    .where(_AT_HOST)
)
_USERS = select(*_USER, *_REALM).join_from(User, Realm, User.realm_id == Realm.id)
_ANYWHERE = _USERS.where(User.api_key_sha256 == bindparam("api_key_sha256"))
_HERE = _ANYWHERE.where(_AT_HOST)
_OF_ID = _USERS.where(User.id == bindparam("user_id"))
# Outer joins cannot be locked.
_LOCKED_BY_KEY: Query[*_Row] = Query(_HERE.with_for_update(read=True, key_share=True, of=User))
_BY_KEY_ANYWHERE: Query[*_Row] = Query(_ANYWHERE)
_BY_ID: Query[*_Row] = Query(_OF_ID)
_LOCKED_BY_ID: Query[*_Row] = Query(_OF_ID.with_for_update(read=True, key_share=True, of=User))
_REALM_BY_HOST = RowQuery(RealmView, select(*_REALM).where(_AT_HOST))
_REALM_BY_ID = RowQuery(RealmView, select(*_REALM).where(Realm.id == bindparam("realm_id")))


def authenticate(
    db: Db, *, host: str, email: str, api_key: str, for_webhooks: bool = False
) -> Actor:
    """Return the active user with this key in the host's realm.

    `email` is the real or the dummy address, in any case. In a write unit, the user's row stays
    locked against changes that end the user's rights (`administering.await_writes_of`) until the
    unit ends. `for_webhooks` also accepts incoming webhook bots.

    Raise `NonexistentSubdomain`, `RealmMoving` or a subclass of `Unauthorized`. Errors of the
    realm's state come before errors of the user's state, and both before a wrong host.
    """
    actor = _find_by_key(db, host, api_key.strip(), email.strip())
    if actor.bot_type == BotType.INCOMING_WEBHOOK and not for_webhooks:
        raise NotForWebhookBots()
    return actor


def authenticate_webhook(db: Db, *, host: str, api_key: str) -> Actor:
    """Return the user with the key, for URLs that contain a key. Otherwise like `authenticate`."""
    return _find_by_key(db, host, api_key.strip(), None)


def _find_by_key(db: Db, host: str, api_key: str, email: str | None) -> Actor:
    if API_KEY.fullmatch(api_key) is None:
        access_realm(db, host)
        raise MalformedApiKey()
    values = {"host": host, "api_key_sha256": digest_of(api_key)}
    row = _LOCKED_BY_KEY.first(db, values) if isinstance(db, Session) else None
    row = row or _BY_KEY.first(db, values)
    if row is None:
        raise NonexistentSubdomain()
    actor = _actor(row)
    if actor is None:
        actor = _actor(_BY_KEY_ANYWHERE.first(db, values))
        if actor is None:
            raise InvalidApiKey()
        _require_usable(actor, email)
        raise WrongSubdomain()
    _require_usable(actor, email)
    return actor


def _require_usable(actor: Actor, email: str | None) -> None:
    key = actor.email_key if email is None else email.casefold()
    if not (
        hmac.compare_digest(key.encode(), actor.email_key.encode())
        or key == actor.dummy_email.casefold()
    ):
        raise InvalidApiKey()
    actor.realm.require_running()
    if actor.realm.is_deactivated:
        raise RealmDeactivated()
    if not actor.is_active:
        raise AccountDeactivated()


def find_actor(db: Db, user_id: int) -> Actor | None:
    """Return a user of any realm in any state. For workers and owners of bots."""
    return _actor(_BY_ID.first(db, {"user_id": user_id}))


def find_writer(session: Session, user_id: int) -> Actor | None:
    """Return the user like `find_actor`, locked as in `authenticate`, for writes on the user's
    behalf.
    """
    return _actor(_LOCKED_BY_ID.first(session, {"user_id": user_id}))


def access_realm(db: Db, host: str) -> RealmView:
    """Return the realm at a host. Raise `NonexistentSubdomain`, `RealmMoving`."""
    if (realm := find_realm_at(db, host)) is None:
        raise NonexistentSubdomain()
    realm.require_running()
    return realm


def find_realm_at(db: Db, host: str) -> RealmView | None:
    return _REALM_BY_HOST.first(db, {"host": host})


def find_realm(db: Db, realm_id: int) -> RealmView | None:
    return _REALM_BY_ID.first(db, {"realm_id": realm_id})


def is_running(realm_id: IdColumn) -> ColumnElement[bool]:
    """Return the condition that the realm of a row is not stopped."""
    return realm_id.not_in(select(Realm.id).where(Realm.stopped_at.is_not(None)))


def _actor(row: _Row | None) -> Actor | None:
    """Return the actor of a row of `_USER` and `_REALM`, or None if the row has no user."""
    if row is None or row[0] is None:
        return None
    user = dict(zip(_USER_NAMES, row, strict=False))
    return Actor(**user, realm=RealmView._make(row[len(_USER) :]))


# --- checks whether a waiting user may still get the response -------------------------------------


@dataclass(frozen=True, slots=True)
class AccountState:
    """The columns of a user that must not change while the user waits."""

    role: int
    is_active: bool
    api_key_sha256: str = field(repr=False)

    def is_of(self, actor: Actor) -> bool:
        """Return whether the actor is active and still has the same role and API key."""
        return (
            self.is_active
            and self.role == actor.role
            and self.api_key_sha256 == actor.api_key_sha256
        )


def find_account_states(db: Db, user_ids: Sequence[int]) -> dict[int, AccountState]:
    """Return user id -> account state, with one statement."""
    if not user_ids:
        return {}
    columns = select(User.id, User.role, User.is_active, User.api_key_sha256)
    rows = db.execute(columns.where(id_in(User.id, user_ids)))
    return {row.id: AccountState(row.role, row.is_active, row.api_key_sha256) for row in rows}
