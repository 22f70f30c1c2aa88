"""Send invitations by mail, create links, and revoke both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import orjson
from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from models.chat.access.membership import require
from models.chat.accounts.resealing import invitation_purpose
from models.chat.common import audit
from models.chat.common.outbox import NewMail, enqueue_mails
from models.chat.common.vault import Vault
from models.chat.identity import attempts
from models.chat.identity.actors import Actor, find_actor
from models.chat.identity.attempts import Allowance, AttemptsUsedUp, Seal
from models.chat.invitations.errors import NoSuchInvitation, TooManyInvitations
from models.chat.invitations.invitees import Invitees, failure_of
from models.chat.invitations.permissions import may_give, require_may_give
from models.chat.invitations.records import (
    NewTerms,
    Terms,
    address_of,
    digest_of,
    forget,
    lock_invitation,
    make_token,
    new_invitation,
    notify_changed,
)
from models.chat.rendering.quotes import one_line
from models.chat.tables import Invitation, User

DAY = timedelta(days=1)
PER_USER, PER_REALM = 100, 500
"""Maximum number of invitations by mail in a day."""

INVITED = """Hi there,

{name} has invited you to join {realm}.

To create your account, open

{link}

{term}If you do not know {name}, do nothing.
"""
MEMBER = """Hi there,

{name} has invited you to join {realm}, where an account with
this address exists already. Sign in with it.
"""
TERM = "The link works until {at:%Y-%m-%d %H:%M} UTC. "


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """Options for sending mails: the vault for their texts, the base URL of their links (ending
    with `/api/v1`), and the seal for the keys of their counts. If `seal` is None, mails are not
    counted.
    """

    vault: Vault
    base_url: str
    seal: Seal | None = None


def send_invitations(
    session: Session, actor: Actor, post: Post, invitees: Invitees, terms: Terms, *, now: datetime
) -> None:
    """Invite every address. Earlier invitations of these addresses by the actor end.

    Raise `TooManyInvitations`.
    """
    _take_allowance(session, actor, post, len(invitees.emails), now=now)
    keys = [email.casefold() for email in invitees.emails]
    theirs = (Invitation.inviter_id == actor.id) & Invitation.email_key.in_(keys)
    forget(session, theirs)
    tokens = {email: make_token() for email in invitees.emails}
    rows = [
        new_invitation(actor, terms, token, email=email, now=now) for email, token in tokens.items()
    ]
    session.bulk_save_objects(rows)  # with one statement, which returns no ids
    mail(session, actor, post, rows, tokens, now=now)
    ids = session.scalars(select(Invitation.id).where(theirs).order_by(Invitation.id)).all()
    facts = {"role": int(terms.role), "invitation_ids": ids}
    _record(session, actor, "invitations_sent", facts, now)
    notify_changed(session, actor.realm_id, actor.id, now=now)


def _take_allowance(
    session: Session, actor: Actor, post: Post, count: int, *, now: datetime
) -> None:
    """Count the mails of the actor and of the organization. Raise `TooManyInvitations`."""
    if post.seal is None:
        return
    allowances = [
        Allowance(post.seal(f"invitations of user {actor.id}"), PER_USER, DAY),
        Allowance(post.seal(f"invitations of realm {actor.realm_id}"), PER_REALM, DAY),
    ]
    try:
        attempts.take(session, allowances, now=now, count=count)
    except AttemptsUsedUp:
        raise TooManyInvitations(**failure_of([], daily_limit=True)) from None


def make_link(session: Session, actor: Actor, post: Post, terms: Terms, *, now: datetime) -> str:
    """Create a link that everyone may use, and return its URL."""
    token = make_token()
    row = new_invitation(actor, terms, token, email=None, now=now)
    row.sealed_token = post.vault.seal(token, purpose=invitation_purpose(digest_of(token)))
    session.add(row)
    session.flush()
    facts = {"role": int(terms.role), "invitation_id": row.id}
    _record(session, actor, "invitation_link_created", facts, now)
    notify_changed(session, actor.realm_id, actor.id, now=now)
    return address_of(post.base_url, token)


def edit_link(
    session: Session, actor: Actor, invitation_id: int, terms: NewTerms, *, now: datetime
) -> None:
    """Change the terms of a link. Raise an error of `_access`, and `InsufficientPermission` for a
    role that the link's creator cannot give, because the link would be invalid.
    """
    row = _access(session, actor, invitation_id, is_link=True, now=now)
    if terms.role is not None:
        inviter = actor if row.inviter_id == actor.id else find_actor(session, row.inviter_id)
        require(inviter is not None and may_give(inviter, terms.role))
        row.role = int(terms.role)
    if terms.channel_ids is not None:
        row.channel_ids = orjson.dumps(list(terms.channel_ids)).decode()
    if terms.group_ids is not None:
        row.group_ids = orjson.dumps(list(terms.group_ids)).decode()
    if terms.joins_default_channels is not None:
        row.joins_default_channels = terms.joins_default_channels
    session.flush()
    facts = {"role": row.role, "invitation_id": row.id, "inviter_id": row.inviter_id}
    _record(session, actor, "invitation_link_edited", facts, now)
    notify_changed(session, actor.realm_id, row.inviter_id, now=now)


def revoke(
    session: Session, actor: Actor, invitation_id: int, *, is_link: bool, now: datetime
) -> None:
    """Delete an invitation or a link. Raise an error of `_access`."""
    row = _access(session, actor, invitation_id, is_link=is_link, now=now)
    forget(session, Invitation.id == row.id)
    facts = {"invitation_id": row.id, "inviter_id": row.inviter_id}
    _record(session, actor, "invitation_revoked", facts, now)
    notify_changed(session, actor.realm_id, row.inviter_id, now=now)


def resend(
    session: Session, actor: Actor, post: Post, invitation_id: int, *, now: datetime
) -> None:
    """Mail an invitation again with a new link. The previous link stops working.

    Raise `TooManyInvitations`, or an error of `_access`.
    """
    row = _access(session, actor, invitation_id, is_link=False, now=now)
    _take_allowance(session, actor, post, 1, now=now)
    assert row.email is not None
    token = make_token()
    row.token_sha256 = digest_of(token)
    session.flush()
    mail(session, actor, post, [row], {row.email: token}, now=now)
    _record(session, actor, "invitation_resent", {"invitation_id": row.id}, now)


def _access(
    session: Session, actor: Actor, invitation_id: int, *, is_link: bool, now: datetime
) -> Invitation:
    """Return an invitation of the actor, or for administrators any invitation, locked. Raise
    `NoSuchInvitation`, or an error of `require_may_give` for an invitation by another user.
    """
    email = Invitation.email
    kind: ColumnElement[bool] = email.is_(None) if is_link else email.is_not(None)
    which = (Invitation.id == invitation_id) & (Invitation.realm_id == actor.realm_id) & kind
    row = lock_invitation(session, which & Invitation.link_id.is_(None), now)
    if row is None or not (row.inviter_id == actor.id or actor.is_administrator):
        raise NoSuchInvitation()
    if row.inviter_id != actor.id:
        require_may_give(actor, row.role)
    return row


def mail(
    session: Session,
    inviter: Actor,
    post: Post,
    rows: Sequence[Invitation],
    tokens: Mapping[str, str],
    *,
    now: datetime,
) -> None:
    """Mail each invitation to its address, with the token for that address. If an account with the
    address exists, the mail has no link.
    """
    realm, name = one_line(inviter.realm.name), one_line(inviter.full_name)
    keys = [row.email_key for row in rows]
    registered = set(
        session.scalars(
            select(User.email_key).where(
                User.realm_id == inviter.realm_id, User.email_key.in_(keys)
            )
        )
    )
    mails = []
    for row in rows:
        assert row.email is not None
        text = MEMBER if row.email_key in registered else INVITED
        text = text.format(
            name=name,
            realm=realm,
            link=address_of(post.base_url, tokens[row.email]),
            term="" if row.expires_at is None else TERM.format(at=row.expires_at),
        )
        subject = f"{name} has invited you to join {realm}"
        mails.append(NewMail(to=row.email, subject=subject, text=text))
    enqueue_mails(session, mails, realm_id=inviter.realm_id, now=now, vault=post.vault)


def _record(
    session: Session, actor: Actor, kind: str, facts: Mapping[str, object], now: datetime
) -> None:
    audit.record(session, actor.realm_id, kind, actor_id=actor.id, facts=facts, now=now)
