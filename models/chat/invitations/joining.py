"""Accept an invitation, which creates an account, and request an invitation through a link."""

from dataclasses import dataclass
from datetime import datetime

import orjson
from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from models.chat.accounts.errors import PasswordTooWeak
from models.chat.accounts.new_users import join_default_channels, notify_of_groups, welcome
from models.chat.channels.subscribing import subscribe_to_existing
from models.chat.common import audit
from models.chat.identity import attempts
from models.chat.identity.actors import Actor, RealmView, find_actor, find_writer
from models.chat.identity.api_keys import KeyMaker
from models.chat.identity.attempts import Allowance
from models.chat.invitations.errors import InvitationNotFound
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
from models.chat.people.full_names import check_full_name, require_unique_name
from models.chat.people.users import create_user
from models.chat.rendering.quotes import Quotes
from models.chat.sending.notices import send_direct_notices
from models.chat.tables import Invitation, User, UserGroupMember
from specd.db import Db, table_of

PER_LINK, PER_ADDRESS = 200, 3
"""Maximum number of mails that a link sends in a day: in total, and to one address."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The offer of a token. If `email` is None, the user of the token enters an address."""

    id: int
    email: str | None
    inviter: Actor


def access_offer(db: Db, realm: RealmView, token: str, *, now: datetime) -> Offer:
    """Return the offer of an invitation's or a link's token. Raise `InvitationNotFound`."""
    row = db.execute(
        select(
            Invitation.id,
            Invitation.email,
            Invitation.inviter_id,
            Invitation.role,
            Invitation.expires_at,
        ).where(Invitation.realm_id == realm.id, Invitation.token_sha256 == digest_of(token))
    ).first()
    if row is None or realm.is_deactivated:
        raise InvitationNotFound()
    if row.expires_at is not None and row.expires_at <= now:
        raise InvitationNotFound()
    inviter = find_actor(db, row.inviter_id)
    if inviter is None or not may_give(inviter, row.role):
        raise InvitationNotFound()
    return Offer(row.id, row.email, inviter)


def _lock(
    session: Session, realm: RealmView, token: str, now: datetime
) -> tuple[Invitation, Actor]:
    """Return the invitation of a token and its inviter. Both rows are locked, so that the
    invitation is not accepted twice and the organization does not move. Raise `InvitationNotFound`,
    `RealmMoving`.
    """
    which = (Invitation.realm_id == realm.id) & (Invitation.token_sha256 == digest_of(token))
    row = lock_invitation(session, which, now)
    inviter = None if row is None else find_writer(session, row.inviter_id)
    if row is None or inviter is None:
        raise InvitationNotFound()
    inviter.realm.require_running()
    return row, access_offer(session, inviter.realm, token, now=now).inviter


def request_invitation(
    session: Session, realm: RealmView, token: str, post: Post, *, email: str, now: datetime
) -> str:
    """Mail an invitation to an address that was entered at a link. Return the address.

    Raise `InvitationNotFound`, `InvalidEmail`, an error of `check_email_allowed`, or
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
    own = make_token()
    terms = Terms(
        role=link.role,
        channel_ids=orjson.loads(link.channel_ids),
        group_ids=orjson.loads(link.group_ids),
        joins_default_channels=link.joins_default_channels,
        tells_inviter=link.tells_inviter,
        lifetime=DAY if link.expires_at is None else min(DAY, link.expires_at - now),
    )
    row = new_invitation(inviter, terms, own, email=email, now=now)
    row.link_id = link.id
    session.add(row)
    session.flush()
    mail(session, inviter, post, [row], {email: own}, now=now)
    facts = {"invitation_id": link.id}
    audit.record(session, realm.id, "invitation_asked_for", facts=facts, now=now)
    return email


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
    """Create the account that an invitation offers and return its address. `password_hash` is None
    for a password that is too weak.

    Raise, in this order: `InvitationNotFound`, errors of `check_full_name` and
    `require_unique_name`, errors of `check_email_allowed`, `EmailInUse`, `PasswordTooWeak`.
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
        _notify_inviter(session, inviter, user, now)
    forget(session, (Invitation.realm_id == realm.id) & (Invitation.email_key == row.email_key))
    notify_changed(session, realm.id, inviter.id, now=now)
    return email


def _join(session: Session, inviter: Actor, user: User, row: Invitation, now: datetime) -> None:
    """Add the user to the groups of the role, and to the groups and channels of the invitation to
    which the inviter may still add others. Send the welcome message.
    """
    chosen = filter_groups(session, inviter, orjson.loads(row.group_ids))
    members = [{"group_id": group_id, "user_id": user.id} for group_id in chosen]
    if members:
        session.connection().execute(insert(table_of(UserGroupMember)), members)
    notify_of_groups(session, inviter.realm, user, chosen=chosen, now=now)
    if row.joins_default_channels:
        join_default_channels(session, user, now=now)
    names = filter_channels(session, inviter, orjson.loads(row.channel_ids))
    subscribe_to_existing(session, inviter, names, principals=[user.id], now=now)
    welcome(session, user, now=now)


def _notify_inviter(session: Session, inviter: Actor, user: User, now: datetime) -> None:
    quotes = Quotes()
    who = quotes.user(user.id, user.full_name)
    content = f"{who} has accepted your invitation to join the organization."
    send_direct_notices(
        session, inviter.realm_id, [inviter.id], content=content, quotes=quotes, now=now
    )
