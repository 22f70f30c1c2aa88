"""Changes of users and bots: role, name, profile and email."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy.orm import Session

from models.chat.access.errors import InsufficientPermission, MustBeOwner
from models.chat.access.membership import sync_system_groups
from models.chat.access.people import avatar_source, avatar_url
from models.chat.accounts.administering import Administered, access_administered, await_writes_of
from models.chat.accounts.channel_visibility import find_visible_channels, notify_of_access
from models.chat.accounts.errors import EmailChangeNotAllowed
from models.chat.channels.defaults import notify_of_default_channels
from models.chat.common import audit
from models.chat.common.name_keys import composed
from models.chat.events.people import (
    PersonChange,
    UserGroupAddMembersEvent,
    UserGroupRemoveMembersEvent,
)
from models.chat.identity.actors import Actor, RealmView
from models.chat.identity.roles import DIRECT_GROUPS, EmailVisibility, Role
from models.chat.people.bots import notify_of_bot, notify_of_management
from models.chat.people.emails import check_email, check_email_allowed, require_email_is_free
from models.chat.people.events import find_email_readers, notify_of_membership, notify_of_user
from models.chat.people.full_names import check_full_name, require_unique_name
from models.chat.profiles.values import Value, set_profile_values
from models.chat.tables import User


@dataclass(frozen=True, slots=True)
class UserChanges:
    """New values; None means no change. `profile_data` are pairs of field id and value, and `html`
    maps their texts to rendered texts.
    """

    full_name: str | None = None
    role: int | None = None
    profile_data: Sequence[tuple[int, Value]] | None = None
    new_email: str | None = None
    html: Mapping[str, str] = field(default_factory=dict)


def change_user(
    session: Session, actor: Actor, user_id: int, changes: UserChanges, *, now: datetime
) -> None:
    """Change a user, active or not, as an administrator, or change the actor's bot. If one change
    fails, none is made.

    Raise the errors of `access_administered`, `check_new_role`, `check_full_name`,
    `require_unique_name`, `set_profile_values` and `change_email`, in that order. Changes of the
    email raise `MustBeOwner` and `EmailChangeNotAllowed` after `access_administered`.
    """
    target = access_administered(session, actor, user_id, bots=True, deactivated=True)
    user = target.user
    if changes.new_email is not None:
        if not actor.is_owner:
            raise MustBeOwner()
        if not actor.can_change_user_emails:
            raise EmailChangeNotAllowed()
    if changes.role is not None and changes.role != user.role:
        change_role(session, target, changes.role, now=now)
    full_name = composed((changes.full_name or "").strip())
    if full_name not in ("", user.full_name):
        change_full_name(session, actor, user, full_name, now=now)
    if changes.profile_data:
        if user.bot_type is not None:
            raise InsufficientPermission()
        set_profile_values(
            session, actor, user.id, changes.profile_data, html=changes.html, now=now
        )
    if changes.new_email is not None and changes.new_email.strip() != user.delivery_email:
        change_email(session, actor, user, changes.new_email, now=now)


def change_role(session: Session, target: Administered, role: int, *, now: datetime) -> None:
    """Change the user's role, and with it the system groups and the visible channels. Raise an
    error of `Administered.check_new_role`.
    """
    target.check_new_role(role)
    await_writes_of(session, [target.user.id])
    actor, user, before = target.actor, target.user, Role(target.user.role)
    visible_before = find_visible_channels(session, user.id)
    user.role = role
    session.flush()
    sync_system_groups(session, user)
    audit.record(
        session, actor.realm_id, "user_role_changed", actor_id=actor.id, user_id=user.id, now=now,
        facts={"old": int(before), "new": role},
    )  # fmt: skip
    notify_of_user(session, actor.realm, user.id, {"role": role}, now=now)
    notify_of_management(session, actor.realm, user, before, now=now)
    if not user.is_active:
        return
    for kind, groups in (
        (UserGroupRemoveMembersEvent, DIRECT_GROUPS[before]),
        (UserGroupAddMembersEvent, DIRECT_GROUPS[Role(role)]),
    ):
        group_ids = [actor.realm.group_id_of(name) for name in groups]
        notify_of_membership(session, actor.realm_id, kind, group_ids, [user.id], now=now)
    visible = find_visible_channels(session, user.id)
    notify_of_access(session, actor.realm, user.id, visible_before, visible, now=now)
    if Role.GUEST in (before, role):
        notify_of_default_channels(session, actor.realm_id, user_ids=[user.id], now=now)


def change_own_name(session: Session, actor: Actor, full_name: str, *, now: datetime) -> None:
    """Rename the actor, unless the name is the same or only administrators may change names. Raise
    an error of `change_full_name`.
    """
    is_fixed = actor.realm.name_changes_disabled and not actor.is_administrator
    if not is_fixed and composed(full_name.strip()) != actor.full_name:
        change_full_name(session, actor, session.get_one(User, actor.id), full_name, now=now)


def change_full_name(
    session: Session, actor: Actor, user: User, full_name: str, *, now: datetime
) -> None:
    """Rename the user. Raise an error of `check_full_name` or `require_unique_name`."""
    name = check_full_name(full_name)
    require_unique_name(session, actor.realm, name, user_id=user.id)
    audit.record(
        session, actor.realm_id, "user_full_name_changed", actor_id=actor.id, user_id=user.id,
        now=now, facts={"old": user.full_name, "new": name},
    )  # fmt: skip
    user.full_name = name
    notify_of_user(session, actor.realm, user.id, {"full_name": name}, now=now)
    notify_of_bot(session, user, {"full_name": name}, now=now)


def change_email(session: Session, actor: Actor, user: User, email: str, *, now: datetime) -> None:
    """Change the user's real email, and with it an avatar at the external provider. Raise
    `InvalidEmail`, an error of `check_email_allowed`, or `EmailInUse`.
    """
    email = check_email(email)
    check_email_allowed(session, actor.realm, email)
    if email.casefold() != user.email_key:
        require_email_is_free(session, actor.realm_id, email)
    user.delivery_email, user.email_key = email, email.casefold()
    has_new_picture = user.avatar_handle is None
    if has_new_picture:
        user.avatar_version += 1
    session.flush()
    audit.record(
        session, actor.realm_id, "user_email_changed", actor_id=actor.id, user_id=user.id, now=now
    )
    readers = find_email_readers(session, user)
    notify_of_user(
        session, actor.realm, user.id, {"delivery_email": email}, user_ids=readers, now=now
    )
    if user.bot_type is not None or user.email_address_visibility == EmailVisibility.EVERYONE:
        notify_of_user(session, actor.realm, user.id, {"new_email": email}, now=now)
        notify_of_bot(session, user, {"email": email}, now=now)
        if has_new_picture:
            notify_of_picture(session, actor.realm, user, email, now=now)


def notify_of_picture(
    session: Session,
    realm: RealmView,
    user: User,
    email: str,
    *,
    now: datetime,
    user_ids: Iterable[int] | None = None,
) -> None:
    """Append the events with the user's new avatar for `user_ids`, or for all users if it is None.
    `email` is the address that they see, from which an avatar at the external provider follows.
    """
    url = avatar_url(user, realm.id, email)
    picture: PersonChange = {
        "avatar_source": avatar_source(user),
        "avatar_url": url,
        "avatar_url_medium": avatar_url(user, realm.id, email, is_medium=True),
        "avatar_version": user.avatar_version,
    }
    notify_of_user(session, realm, user.id, picture, now=now, user_ids=user_ids)
    notify_of_bot(session, user, {"avatar_url": url}, now=now)
