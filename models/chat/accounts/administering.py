"""The users that an actor may administer. An organization always has at least one owner."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from models.chat.access.errors import (
    InsufficientPermission,
    MustBeAdministrator,
    MustBeOwner,
    NoSuchUser,
    UserIsDeactivated,
)
from models.chat.access.naming import access_user
from models.chat.accounts.errors import GuestCannotAdminister, NoUserWithEmail, OnlyOwnerRole
from models.chat.common import audit
from models.chat.identity.actors import Actor, RealmView
from models.chat.identity.roles import Role
from models.chat.tables import User

_IS_OWNER = (User.role == Role.OWNER) & User.is_active & User.bot_type.is_(None)


@dataclass(frozen=True, slots=True)
class Administered:
    """A user that the actor may administer, and the ids of all active owners who are not bots.
    Their rows are locked until the transaction ends.
    """

    actor: Actor
    user: User
    owner_ids: frozenset[int]

    @property
    def is_only_owner(self) -> bool:
        return self.owner_ids == {self.user.id}

    def require_owner_if(self, concerns_owners: bool) -> None:
        """Raise `MustBeOwner` if the change concerns owners and the actor is no longer an owner.
        Only owners may appoint, change or deactivate owners.
        """
        is_owner = self.actor.is_owner and (self.actor.is_bot or self.actor.id in self.owner_ids)
        if concerns_owners and not is_owner:
            raise MustBeOwner()

    def check_new_role(self, role: int) -> None:
        """Raise `MustBeAdministrator`, `MustBeOwner`, `OnlyOwnerRole` or `GuestCannotAdminister`
        unless the actor may give the user that role. The owner of a bot may not change its role.
        """
        if not self.actor.is_administrator:
            raise MustBeAdministrator()
        self.require_owner_if(Role.OWNER in (role, self.user.role))
        if self.is_only_owner:
            raise OnlyOwnerRole()
        if self.user.role == Role.GUEST and role <= Role.ADMINISTRATOR:
            raise GuestCannotAdminister()


def lock_user(session: Session, actor: Actor, user_id: int) -> Administered:
    """Return a user of the actor's realm. The user and the realm's owners are locked together,
    ordered by id, so that two owners cannot demote each other concurrently. Raise `NoSuchUser`.
    """
    rows = session.scalars(
        select(User)
        .where(
            User.realm_id == actor.realm_id,
            ~User.is_system_bot,
            (User.id == user_id) | _IS_OWNER,
        )
        .order_by(User.id)
        # A shared lock of the key allows these users to continue sending messages.
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    ).all()
    user = next((row for row in rows if row.id == user_id), None)
    if user is None:
        raise NoSuchUser()
    owners = (
        row.id for row in rows if row.role == Role.OWNER and row.is_active and row.bot_type is None
    )
    return Administered(actor, user, frozenset(owners))


def await_writes_of(session: Session, user_ids: Iterable[int]) -> None:
    """Wait until the writes of these users have ended, and lock their rows against new writes.

    A request that writes first takes a shared lock on the row of its user (`actors.authenticate`),
    so each write comes either before this change or after it.
    """
    session.execute(
        select(User.id).where(User.id.in_(user_ids)).order_by(User.id).with_for_update()
    ).all()


def access_administered(
    session: Session, actor: Actor, user_id: int, *, bots: bool, deactivated: bool
) -> Administered:
    """Return a user that the actor may administer. Administrators may administer all users, and the
    owner of a bot may administer the bot.

    `bots` and `deactivated` also accept such users. Raise `NoSuchUser` (also for users that the
    actor may not see), `UserIsDeactivated`, `InsufficientPermission`.
    """
    if actor.is_guest:
        access_user(session, actor, user_id)
    target = lock_user(session, actor, user_id)
    if target.user.bot_type is not None and not bots:
        raise NoSuchUser()
    if not target.user.is_active and not deactivated:
        raise UserIsDeactivated()
    if not actor.is_administrator and target.user.bot_owner_id != actor.id:
        raise InsufficientPermission()
    return target


def access_named(session: Session, realm: RealmView, email: str) -> User:
    """Return a user or bot of the realm by real email. Raise `NoUserWithEmail`."""
    user = session.scalar(
        select(User).where(
            User.realm_id == realm.id,
            User.email_key == email.strip().casefold(),
            ~User.is_system_bot,
        )
    )
    if user is None:
        raise NoUserWithEmail(email=email)
    return user


def grant(
    session: Session, realm: RealmView, email: str, rights: Mapping[str, bool], *, now: datetime
) -> int:
    """Set rights that only the operator can give: `can_create_users`, `can_change_user_emails`.

    Return the user's id. Raise `NoUserWithEmail`.
    """
    user = access_named(session, realm, email)
    await_writes_of(session, [user.id])
    user.can_create_users = rights.get("can_create_users", user.can_create_users)
    user.can_change_user_emails = rights.get("can_change_user_emails", user.can_change_user_emails)
    audit.record(session, realm.id, "user_rights_changed", user_id=user.id, facts=rights, now=now)
    return user.id
