"""Deactivate accounts, delete their data, and reactivate them.

The key of a deactivated user is rejected, and the user's scheduled messages fail when they are due.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from models.chat.access.people import dummy_email
from models.chat.accounts.administering import access_administered, await_writes_of, lock_user
from models.chat.accounts.changes import notify_of_picture
from models.chat.accounts.channel_visibility import notify_peers
from models.chat.accounts.errors import LastUser, OnlyOwner
from models.chat.accounts.key_renewal import delete_invitations, renew_key
from models.chat.common import audit
from models.chat.common.outbox import NewMail, enqueue_mails
from models.chat.deletion.removals import DeletionScope, remove_sent
from models.chat.events.channels import SubscriptionPeerAddEvent, SubscriptionPeerRemoveEvent
from models.chat.events.people import (
    PersonChange,
    UserGroupAddMembersEvent,
    UserGroupRemoveMembersEvent,
)
from models.chat.identity.actors import Actor
from models.chat.identity.api_keys import KeyMaker
from models.chat.identity.roles import Role
from models.chat.people import statuses
from models.chat.people.bots import notify_of_bot, notify_of_owner
from models.chat.people.events import (
    find_email_readers,
    find_named_group_ids,
    notify_of_membership,
    notify_of_user,
)
from models.chat.rendering.quotes import one_line
from models.chat.tables import (
    AlertWord,
    BotStorage,
    BrowserSession,
    ClientDevice,
    EmailChange,
    MutedUser,
    NavigationView,
    Presence,
    ProfileValue,
    SavedSnippet,
    ScheduledMessage,
    StoredDraft,
    User,
    UserStatus,
    VendorToken,
)

DELETED_NAME = "Deleted user"
_PERSONAL = (
    AlertWord,
    BotStorage,
    MutedUser,
    NavigationView,
    Presence,
    SavedSnippet,
    StoredDraft,
    UserStatus,
)
"""The tables of users' private data."""
GOODBYE = (
    "Your account on {realm} has been deactivated, and you will no longer be able to log in.\n"
)


@dataclass(frozen=True, slots=True)
class Removal:
    """The data that is deleted with an account."""

    profile: bool = False
    messages: DeletionScope = field(default_factory=DeletionScope)


NOTHING = Removal()


def deactivate_user(
    session: Session,
    actor: Actor,
    user_id: int,
    removal: Removal,
    *,
    comment: str | None = None,
    now: datetime,
) -> None:
    """Deactivate a user and the bots that they own. `removal` applies to all of these bots, active
    or not, and then to the user. The user gets a mail unless `comment` is None.

    Raise `NoSuchUser` (for bots too), `UserIsDeactivated`, `InsufficientPermission`, `MustBeOwner`,
    `OnlyOwner`.
    """
    target = access_administered(session, actor, user_id, bots=False, deactivated=False)
    target.require_owner_if(target.user.role == Role.OWNER)
    if target.is_only_owner:
        raise OnlyOwner()
    if comment is not None:
        _notify_by_mail(session, actor, target.user, comment.strip(), now)
    _deactivate(session, actor, target.user, removal, now)


def deactivate_self(session: Session, actor: Actor, *, now: datetime) -> None:
    """Deactivate the actor and their bots, unless the actor has been deactivated meanwhile. Raise
    `LastUser`.
    """
    target = lock_user(session, actor, actor.id)
    if not target.user.is_active:
        return
    people = select(func.count()).where(
        User.realm_id == actor.realm_id, User.is_active, User.bot_type.is_(None)
    )
    if session.execute(people).scalar_one() == 1:
        raise LastUser(is_last_owner=False)
    if target.is_only_owner:
        raise LastUser(is_last_owner=True)
    _deactivate(session, actor, target.user, NOTHING, now)


def _notify_by_mail(
    session: Session, actor: Actor, user: User, comment: str, now: datetime
) -> None:
    text = f"Hi {one_line(user.full_name)},\n\n{GOODBYE.format(realm=one_line(actor.realm.name))}"
    if comment:
        text += f"\nThe administrators provided the following comment:\n\n{comment}\n"
    subject = f"Notification of account deactivation on {actor.realm.name}"
    mail = NewMail(to=user.delivery_email, subject=subject, text=text)
    enqueue_mails(session, [mail], realm_id=actor.realm_id, now=now)


def _deactivate(
    session: Session, actor: Actor, user: User, removal: Removal, now: datetime
) -> None:
    bots = session.scalars(
        select(User)
        .where(User.bot_owner_id == user.id, User.realm_id == actor.realm_id)
        .order_by(User.id)
        .with_for_update(key_share=True)
    ).all()
    accounts = [*(bot for bot in bots if bot.is_active), user]
    user_ids = [account.id for account in accounts]
    await_writes_of(session, user_ids)
    _set_active(session, actor, accounts, False, now)
    # Delete unneeded rows: data of bots, secrets to act for the users, and unconfirmed emails.
    for table in (BotStorage, BrowserSession, ClientDevice, VendorToken, EmailChange):
        session.execute(delete(table).where(table.user_id.in_(user_ids)))
    delete_invitations(session, actor.realm_id, user_ids, now=now)
    _remove(session, actor, (*bots, user), removal, now)


def _set_active(
    session: Session, actor: Actor, users: Sequence[User], active: bool, now: datetime
) -> None:
    realm_id = actor.realm_id
    was_deleted = {user.id for user in users if user.is_deleted}
    for user in users:
        user.is_active = active
        if active:
            user.is_deleted = False
    session.flush()
    for user in users:
        audit.record(
            session, realm_id, "user_reactivated" if active else "user_deactivated",
            actor_id=actor.id, user_id=user.id, now=now,
        )  # fmt: skip
        changes: list[PersonChange] = [{"is_active": active}]
        if active and user.id in was_deleted:
            changes.append({"is_deleted": False})
        notify_of_user(session, actor.realm, user.id, *changes, now=now)
        notify_of_bot(session, user, {"is_active": active}, now=now)
        if active and user.id in was_deleted:  # users who see the email see its avatar again
            readers, email = find_email_readers(session, user), user.delivery_email
            notify_of_picture(session, actor.realm, user, email, now=now, user_ids=readers)
        statuses.notify_of_standing(session, realm_id, user.id, is_active=active, now=now)
        groups = find_named_group_ids(session, user.id)
        kind = UserGroupAddMembersEvent if active else UserGroupRemoveMembersEvent
        notify_of_membership(session, realm_id, kind, groups, [user.id], now=now)
    peers = SubscriptionPeerAddEvent if active else SubscriptionPeerRemoveEvent
    notify_peers(session, actor, peers, [user.id for user in users], now=now)


def _remove(
    session: Session, actor: Actor, users: Sequence[User], removal: Removal, now: datetime
) -> None:
    removed = remove_sent(
        session,
        actor.realm_id,
        [user.id for user in users],
        removal.messages,
        actor_id=actor.id,
        now=now,
    )
    for user in users:
        if removal.profile:
            _remove_profile(session, actor, user, now)
        if removal.profile or removed[user.id]:
            audit.record(
                session, actor.realm_id, "user_data_deleted", actor_id=actor.id, user_id=user.id,
                now=now, facts={"profile": removal.profile, "messages": removed[user.id]},
            )  # fmt: skip


def _remove_profile(session: Session, actor: Actor, user: User, now: datetime) -> None:
    """Remove name, avatar, custom profile, status and personal data. The email is kept, because
    administrators need it to distinguish accounts.
    """
    user.full_name = DELETED_NAME
    user.is_deleted = True
    user.avatar_version += 1
    user.avatar_handle = None
    session.flush()
    connection = session.connection()
    for table in _PERSONAL:
        connection.execute(delete(table).where(table.user_id == user.id))
    reminders = ScheduledMessage.target_message_id.is_not(None)
    connection.execute(
        delete(ScheduledMessage).where(ScheduledMessage.sender_id == user.id, reminders)
    )
    values = delete(ProfileValue).where(ProfileValue.user_id == user.id)
    field_ids = connection.execute(values.returning(ProfileValue.field_id)).scalars()
    changes: list[PersonChange] = [
        {"custom_profile_field": {"id": field_id, "value": None}} for field_id in sorted(field_ids)
    ]
    changes += [{"full_name": DELETED_NAME}, {"is_deleted": True}]
    notify_of_user(session, actor.realm, user.id, *changes, now=now)
    notify_of_bot(session, user, {"full_name": DELETED_NAME}, now=now)
    notify_of_picture(session, actor.realm, user, dummy_email(user.id, actor.realm.host), now=now)


def reactivate_user(
    session: Session, keys: KeyMaker, actor: Actor, user_id: int, *, now: datetime
) -> tuple[int | None, str | None]:
    """Reactivate an account with its role, subscriptions and groups. An active account is not
    changed.

    The account gets a new API key, in case the old one is known to others. A bot without an active
    owner is given to the actor. Return the owner of a bot that was deactivated, and the bot's key
    if the actor is the owner; otherwise None. Raise an error of `access_administered`, or
    `MustBeOwner`.
    """
    target = access_administered(session, actor, user_id, bots=True, deactivated=True)
    user = target.user
    if user.is_active:
        return None, None
    target.require_owner_if(user.role == Role.OWNER)
    api_key = renew_key(session, keys, actor.realm, user.id, actor_id=actor.id, now=now)
    _set_active(session, actor, [user], True, now)
    if user.bot_type is None:
        return None, None
    owner = None if user.bot_owner_id is None else session.get(User, user.bot_owner_id)
    if owner is None or not owner.is_active:
        set_owner(session, actor, user, actor.id, now=now)
    return user.bot_owner_id, api_key if user.bot_owner_id == actor.id else None


def set_owner(session: Session, actor: Actor, bot: User, owner_id: int, *, now: datetime) -> None:
    """Change the owner of a bot. The caller has checked that the user may own bots."""
    previous_id, bot.bot_owner_id = bot.bot_owner_id, owner_id
    session.flush()
    audit.record(
        session, actor.realm_id, "bot_owner_changed", actor_id=actor.id, user_id=bot.id, now=now,
        facts={"old": previous_id, "new": owner_id},
    )  # fmt: skip
    notify_of_user(session, actor.realm, bot.id, {"bot_owner_id": owner_id}, now=now)
    notify_of_owner(session, actor.realm, bot, previous_id, now=now)


def deactivate_bot(session: Session, actor: Actor, bot: User, *, now: datetime) -> None:
    """Deactivate a bot that the actor manages. An inactive bot is not changed."""
    if bot.is_active:
        _deactivate(session, actor, bot, NOTHING, now)
