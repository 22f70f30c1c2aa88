"""Whom somebody may administer; and the owners, one of whom must always remain."""

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
    """A user whom the actor may administer, locked until the unit ends, with all active owners who
    are people.
    """

    actor: Actor
    user: User
    owner_ids: frozenset[int]

    @property
    def is_only_owner(self) -> bool:
        return self.owner_ids == {self.user.id}

    def require_owner_if(self, concerns_owners: bool) -> None:
        """Only owners may make, change or deactivate owners. Raises `MustBeOwner`, also for an
        actor who has just ceased to be one.
        """
        is_owner = self.actor.is_owner and (self.actor.is_bot or self.actor.id in self.owner_ids)
        if concerns_owners and not is_owner:
            raise MustBeOwner()

    def check_new_role(self, role: int) -> None:
        """May the actor give the user that role? Owners of a bot may not. Raises
        `MustBeAdministrator`, `MustBeOwner`, `OnlyOwnerRole`, `GuestCannotAdminister`.
        """
        if not self.actor.is_administrator:
            raise MustBeAdministrator()
        self.require_owner_if(Role.OWNER in (role, self.user.role))
        if self.is_only_owner:
            raise OnlyOwnerRole()
        if self.user.role == Role.GUEST and role <= Role.ADMINISTRATOR:
            raise GuestCannotAdminister()


def lock_user(session: Session, actor: Actor, user_id: int) -> Administered:
    """A user of the actor's realm and its owners, locked together and in order of their ids: two
    who demote each other take turns. Raises `NoSuchUser`.
    """
    rows = session.scalars(
        select(User)
        .where(
            User.realm_id == actor.realm_id,
            ~User.is_system_bot,
            (User.id == user_id) | _IS_OWNER,
        )
        .order_by(User.id)
        # Messages of these users only share their keys, and go on.
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
    """Let what these users are writing end first, and lock them against writing more.

    Whoever writes shares the key of their own row (`actors.authenticate`), and looks at who they
    are once they have it: before whatever ends here, or after it, but not around it.
    """
    session.execute(
        select(User.id).where(User.id.in_(user_ids)).order_by(User.id).with_for_update()
    ).all()


def access_administered(
    session: Session, actor: Actor, user_id: int, *, bots: bool, deactivated: bool
) -> Administered:
    """A user whom the actor may administer: administrators everybody, owners of bots those.

    `bots`, `deactivated`: whether such users are to be found. Raises `NoSuchUser`, also for
    somebody the actor may not know, `UserIsDeactivated`, `InsufficientPermission`.
    """
    if actor.is_guest:
        access_user(session, actor, user_id)
    found = lock_user(session, actor, user_id)
    if found.user.bot_type is not None and not bots:
        raise NoSuchUser()
    if not found.user.is_active and not deactivated:
        raise UserIsDeactivated()
    if not actor.is_administrator and found.user.bot_owner_id != actor.id:
        raise InsufficientPermission()
    return found


def access_named(session: Session, realm: RealmView, email: str) -> User:
    """A person or a bot of the realm by their real email. Raises `NoUserWithEmail`."""
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
    """Set rights that only the operator gives: `can_create_users`, `can_change_user_emails`.

    Returns the user's id. Raises `NoUserWithEmail`.
    """
    user = access_named(session, realm, email)
    await_writes_of(session, [user.id])
    user.can_create_users = rights.get("can_create_users", user.can_create_users)
    user.can_change_user_emails = rights.get("can_change_user_emails", user.can_change_user_emails)
    audit.record(session, realm.id, "user_rights_changed", user_id=user.id, facts=rights, now=now)
    return user.id
