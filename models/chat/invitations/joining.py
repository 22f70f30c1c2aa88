"""Accepting an invitation, which makes an account; asking by a link for one of one's own."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import orjson
from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from models.base import table_of
from models.chat.accounts.errors import PasswordTooWeak
from models.chat.accounts.newcomers import join_default_channels, welcome
from models.chat.channels.creation import NewChannel
from models.chat.channels.subscribing import WantedChannel, subscribe
from models.chat.common import audit
from models.chat.events.people import UserGroupAddMembersEvent
from models.chat.identity import attempts
from models.chat.identity.actors import Actor, RealmView, find_actor
from models.chat.identity.api_keys import KeyMaker
from models.chat.identity.attempts import Allowance
from models.chat.identity.roles import DIRECT_GROUPS, Role
from models.chat.invitations.errors import InvitationNotFound
from models.chat.invitations.notices import notify_inviter
from models.chat.invitations.permissions import filter_channels, filter_groups, may_give
from models.chat.invitations.records import (
    Terms,
    digest_of,
    forget,
    lock_invitation,
    make_token,
    new_invitation,
    notify_changed,
)
from models.chat.invitations.sending import DAY, Post, mail
from models.chat.people.emails import check_email, check_email_allowed, require_email_is_free
from models.chat.people.events import notify_of_membership
from models.chat.people.full_names import check_full_name, require_unique_name
from models.chat.people.users import create_user
from models.chat.tables import Invitation, User, UserGroupMember
from models.reader import Db

PER_LINK, PER_ADDRESS = 200, 3
"""Mails that a link sends, and that it sends to one address, a day."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What a token offers. `email` None: whoever has it says which address is theirs."""

    email: str | None
    inviter: Actor


def access_offer(db: Db, realm: RealmView, token: str, *, now: datetime) -> Offer:
    """What the token of an invitation or a link offers. Raises `InvitationNotFound`."""
    row = db.execute(
        select(
            Invitation.email, Invitation.inviter_id, Invitation.role, Invitation.expires_at
        ).where(Invitation.realm_id == realm.id, Invitation.token_sha256 == digest_of(token))
    ).first()
    if row is None or realm.is_deactivated:
        raise InvitationNotFound()
    if row.expires_at is not None and row.expires_at <= now:
        raise InvitationNotFound()
    inviter = find_actor(db, row.inviter_id)
    if inviter is None or not may_give(inviter, row.role):
        raise InvitationNotFound()
    return Offer(row.email, inviter)


def _lock(
    session: Session, realm: RealmView, token: str, now: datetime
) -> tuple[Invitation, Actor]:
    """The same to accept it: locked against whoever else would."""
    which = (Invitation.realm_id == realm.id) & (Invitation.token_sha256 == digest_of(token))
    row = lock_invitation(session, which, now)
    if row is None:
        raise InvitationNotFound()
    return row, access_offer(session, realm, token, now=now).inviter


def ask_to_join(
    session: Session, realm: RealmView, token: str, post: Post, *, email: str, now: datetime
) -> str:
    """Mail an invitation to an address, as somebody with a link wants. Returns the address.

    Raises `InvitationNotFound`, `InvalidEmail`, what `check_email_allowed` raises, and
    `AttemptsUsedUp`.
    """
    link, inviter = _lock(session, realm, token, now)
    email = check_email(email)
    check_email_allowed(session, realm, email)
    if post.seal is not None:
        named = f"invitations by link {link.id}"
        allowances = [
            Allowance(post.seal(named), PER_LINK, DAY),
            Allowance(post.seal(f"{named} to {email.casefold()}"), PER_ADDRESS, DAY),
        ]
        attempts.take(session, allowances, now=now)
    same = (Invitation.link_id == link.id) & (Invitation.email_key == email.casefold())
    forget(session, same)
    lifetime = DAY if link.expires_at is None else min(DAY, link.expires_at - now)
    own = make_token()
    row = new_invitation(inviter, _terms_of(link, lifetime), own, email=email, now=now)
    row.link_id = link.id
    session.add(row)
    session.flush()
    mail(session, inviter, post, [row], {email: own}, now=now)
    facts = {"invitation_id": link.id}
    audit.record(session, realm.id, "invitation_asked_for", facts=facts, now=now)
    return email


def _terms_of(row: Invitation, lifetime: timedelta) -> Terms:
    return Terms(
        role=row.role,
        channel_ids=orjson.loads(row.channel_ids),
        group_ids=orjson.loads(row.group_ids),
        joins_default_channels=row.joins_default_channels,
        tells_inviter=row.tells_inviter,
        lifetime=lifetime,
    )


def accept(
    session: Session,
    keys: KeyMaker,
    realm: RealmView,
    token: str,
    *,
    full_name: str,
    password_hash: str | None,
    now: datetime,
) -> str:
    """Make the account that an invitation promises. Returns its address. `password_hash` is None
    for a password that is too weak.

    Raises, in this order: `InvitationNotFound`, what `check_full_name` and `require_unique_name`
    raise, what `check_email_allowed` raises, `EmailInUse`, `PasswordTooWeak`.
    """
    row, inviter = _lock(session, realm, token, now)
    email = row.email
    if email is None:
        raise InvitationNotFound()
    full_name = check_full_name(full_name)
    require_unique_name(session, realm, full_name)
    check_email_allowed(session, realm, email)
    require_email_is_free(session, realm.id, email)
    if password_hash is None:
        raise PasswordTooWeak()
    user, _ = create_user(
        session,
        keys,
        realm=realm,
        email=email,
        full_name=full_name,
        role=row.role,
        password_hash=password_hash,
        now=now,
    )
    _join(session, inviter, user, row, now)
    facts = {"invitation_id": row.id, "inviter_id": inviter.id}
    audit.record(
        session, realm.id, "invitation_accepted", actor_id=user.id, user_id=user.id, facts=facts,
        now=now,
    )  # fmt: skip
    if row.tells_inviter:
        notify_inviter(session, inviter, user, now=now)
    forget(session, (Invitation.realm_id == realm.id) & (Invitation.email_key == row.email_key))
    notify_changed(session, realm.id, inviter.id, now=now)
    return email


def _join(session: Session, inviter: Actor, user: User, row: Invitation, now: datetime) -> None:
    """The groups of the role; the groups and channels that the inviter could add the user to now;
    and what every newcomer gets.
    """
    realm_id = inviter.realm_id
    of_role = [inviter.realm.group_id_of(name) for name in DIRECT_GROUPS[Role(user.role)]]
    chosen = filter_groups(session, inviter, orjson.loads(row.group_ids))
    _add_to_groups(session, user, chosen)
    joined = UserGroupAddMembersEvent
    notify_of_membership(session, realm_id, joined, [*of_role, *chosen], [user.id], now=now)
    if row.joins_default_channels:
        join_default_channels(session, user, now=now)
    names = filter_channels(session, inviter, orjson.loads(row.channel_ids))
    if names:
        subscribe(
            session,
            inviter,
            [WantedChannel(name) for name in names],
            NewChannel(),
            principals=[user.id],
            refuse_unauthorized=False,
            web_public_enabled=False,
            now=now,
        )
    welcome(session, user, now=now)


def _add_to_groups(session: Session, user: User, group_ids: Sequence[int]) -> None:
    rows = [{"group_id": group_id, "user_id": user.id} for group_id in group_ids]
    if rows:
        session.connection().execute(insert(table_of(UserGroupMember)), rows)
