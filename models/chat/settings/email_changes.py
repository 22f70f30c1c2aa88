"""Changes of a user's email: the user requests the change, and confirms it with a link that is
mailed to the new address.

The link has a random token, which is stored as a hash. It works once, for a day, and until the next
request.
"""

import secrets
from datetime import datetime, timedelta
from hashlib import sha256
from typing import NamedTuple

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from models.chat.access.naming import find_named
from models.chat.accounts.changes import change_email
from models.chat.common.outbox import NewMail, enqueue_mails
from models.chat.common.vault import Vault
from models.chat.identity.actors import Actor, RealmView, find_actor
from models.chat.people.emails import check_email, check_email_allowed
from models.chat.people.errors import DisposableEmail, EmailInUse
from models.chat.rendering.quotes import one_line
from models.chat.settings.errors import ConfirmationNotFound, EmailChangesDisabled, RealEmailWanted
from models.chat.tables import EmailChange, User
from models.rows import read_row
from specd.db import Db

LIFETIME = timedelta(days=1)
ASKED = """Hi {name},

We received a request to change the email address of your account at {realm}
from {old} to {new}.

To confirm it, open

{link}

within a day. If you did not ask for this, do nothing.
"""
CHANGED = """Hi {name},

the email address of your account at {realm} was changed from this one to {new}.

If you did not do this, please tell an administrator of {realm} at once.
"""
TAKEN = """Hi {name},

Somebody asked to use this address, {email}, for another account at {realm}.

It belongs to your account, so nothing has changed. If it was you, sign in with
it, or ask with another address. If it was not, do nothing.
"""


class PendingChange(NamedTuple):
    """An unconfirmed change of an address."""

    user_id: int
    new_email: str


def check_new_email(db: Db, actor: Actor, email: str) -> str | None:
    """Return the new address as it is stored, or None if it is the current address.

    Raise `EmailChangesDisabled`, `InvalidEmail`, `RealEmailWanted` for a disposable address, or
    another error of `check_email_allowed`. No error reveals the owner of the address.
    """
    if email.strip() == actor.delivery_email:
        return None
    if actor.realm.email_changes_disabled and not actor.is_administrator:
        raise EmailChangesDisabled()
    email = check_email(email)
    try:
        check_email_allowed(db, actor.realm, email)
    except DisposableEmail:
        raise RealEmailWanted() from None
    return email


def require_free_or_hidden(db: Db, actor: Actor, email: str) -> None:
    """Raise `EmailInUse` if another user has the address and the actor may see it. The owner of a
    hidden address gets a mail from `ask_to_confirm`.
    """
    if email.casefold() != actor.email_key and find_named(db, actor, [email], system_bots=True):
        raise EmailInUse(email=email)


def ask_to_confirm(
    session: Session, vault: Vault, actor: Actor, email: str, *, base_url: str, now: datetime
) -> None:
    """Mail a link to the checked address. Earlier links stop working. If another user has the
    address, that user gets a mail without a link.

    `base_url` is the address of the realm's service and ends with `/api/v1`.
    """
    token = secrets.token_urlsafe(32)
    _forget(session, actor.id)
    session.add(
        EmailChange(
            user_id=actor.id,
            new_email=email,
            token_sha256=_digest(token),
            created_at=now,
            expires_at=now + LIFETIME,
        )
    )
    realm = one_line(actor.realm.name)
    link = f"{base_url}/accounts/confirm_new_email/{token}"
    subject = f"Verify your new email address for {realm}"
    name = one_line(actor.full_name)
    text = ASKED.format(name=name, realm=realm, old=actor.delivery_email, new=email, link=link)
    owner = session.execute(
        select(User.id, User.full_name, User.delivery_email).where(
            User.realm_id == actor.realm_id, User.email_key == email.casefold()
        )
    ).first()
    if owner is not None and owner.id != actor.id:
        email = owner.delivery_email
        subject = f"Somebody asked for your email address at {realm}"
        text = TAKEN.format(name=one_line(owner.full_name), realm=realm, email=email)
    mail = NewMail(to=email, subject=subject, text=text)
    enqueue_mails(session, [mail], realm_id=actor.realm_id, now=now, vault=vault)


def access_change(db: Db, realm: RealmView, token: str, *, now: datetime) -> PendingChange:
    """Return the change that a token confirms. Raise `ConfirmationNotFound`."""
    change = select(EmailChange.user_id, EmailChange.new_email)
    rows = db.execute(
        change.join(User, User.id == EmailChange.user_id).where(
            EmailChange.token_sha256 == _digest(token),
            EmailChange.expires_at > now,
            User.realm_id == realm.id,
            User.is_active,
        )
    )
    pending = read_row(PendingChange, rows)
    if pending is None or realm.is_deactivated:
        raise ConfirmationNotFound()
    return pending


def confirm_change(session: Session, realm: RealmView, token: str, *, now: datetime) -> str:
    """Change the address, and mail the old address. Return the new address.

    Everything is checked again. Raise `ConfirmationNotFound`, `EmailChangesDisabled`, or an error
    of `change_email`.
    """
    change = access_change(session, realm, token, now=now)
    user = session.scalars(
        select(User)
        .where(User.id == change.user_id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    ).one()
    # Another request may have confirmed the change before the lock.
    access_change(session, realm, token, now=now)
    actor = find_actor(session, user.id)
    assert actor is not None
    actor.realm.require_running()
    if realm.email_changes_disabled and not actor.is_administrator:
        raise EmailChangesDisabled()
    _forget(session, user.id)
    text = CHANGED.format(
        name=one_line(user.full_name), realm=one_line(realm.name), new=change.new_email
    )
    subject = f"Your email address at {realm.name} was changed"
    mail = NewMail(to=user.delivery_email, subject=subject, text=text)
    enqueue_mails(session, [mail], realm_id=realm.id, now=now)
    change_email(session, actor, user, change.new_email, now=now)
    return change.new_email


def _forget(session: Session, user_id: int) -> None:
    session.execute(
        delete(EmailChange)
        .where(EmailChange.user_id == user_id)
        .execution_options(synchronize_session=False)
    )


def _digest(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
