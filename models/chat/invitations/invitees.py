"""The addresses in a request for invitations: parse them, check them, and separate existing
accounts.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select

from models.chat.access.people import USER_COLUMNS, visible_email
from models.chat.errors import ChatError
from models.chat.identity.actors import Actor
from models.chat.invitations.errors import InvalidInvitees, NobodyInvited, NoInvitees
from models.chat.people.emails import check_email, check_email_allowed_by, find_domains
from models.chat.people.errors import (
    DisposableEmail,
    EmailContainsPlus,
    EmailNotAllowed,
    InvalidEmail,
)
from models.chat.tables import User
from specd.db import Db

Problem = tuple[str, str, bool]
"""An address, the reason why it is not invited, and whether its account is deactivated."""

Address = tuple[str, str]
"""An address as entered, and as stored. The second is empty if the address is invalid."""

PROBLEMS: dict[type[ChatError], str] = {
    InvalidEmail: "Invalid address.",
    EmailNotAllowed: "Outside your domain.",
    DisposableEmail: "Please use your real email address.",
    EmailContainsPlus: "Email addresses containing + are not allowed in this organization.",
}
HAS_ACCOUNT = "Already has an account."
DEACTIVATED = "Account has been deactivated."
_SEPARATORS = re.compile(r"[,\n]")
_USERS = select(*USER_COLUMNS)


@dataclass(frozen=True, slots=True)
class Invitees:
    """Addresses to invite, as stored, and skipped addresses, which have accounts. An account whose
    address the actor may not see is invited like an unknown address.
    """

    emails: list[str]
    skipped: list[Problem]


def failure_of(
    problems: list[Problem], *, sent: bool = False, daily_limit: bool = False
) -> dict[str, object]:
    """Return the facts of an `InvitationFailed`."""
    return {
        "errors": problems,
        "sent_invitations": sent,
        "license_limit_reached": False,
        "daily_limit_reached": daily_limit,
    }


def read_addresses(text: str) -> list[Address]:
    """Return the addresses in a text. They are separated by commas or line breaks, and each may
    have the form `Name <address>`.
    """
    addresses: list[Address] = []
    for word in _SEPARATORS.split(text):
        start, end = word.find("<"), word.rfind(">")
        written = (word[start + 1 : end] if 0 <= start < end else word).strip()
        if written:
            try:
                addresses.append((written, check_email(written)))
            except InvalidEmail:
                addresses.append((written, ""))
    return addresses


def check_invitees(db: Db, actor: Actor, addresses: Sequence[Address]) -> Invitees:
    """Return the addresses to invite. Raise `NoInvitees`, `InvalidInvitees`, `NobodyInvited`."""
    if not addresses:
        raise NoInvitees()
    domains = find_domains(db, actor.realm)
    emails: dict[str, str] = {}
    problems: list[Problem] = []
    for written, email in addresses:
        try:
            if not email:
                raise InvalidEmail()
            check_email_allowed_by(domains, actor.realm, email)
        except tuple(PROBLEMS) as error:
            problems.append((written, PROBLEMS[type(error)], False))
        else:
            emails.setdefault(email.casefold(), email)
    if problems:
        raise InvalidInvitees(**failure_of(problems))
    return _sort(db, actor, emails)


def _sort(db: Db, actor: Actor, emails: dict[str, str]) -> Invitees:
    users = {
        row.email_key: row
        for row in db.execute(
            _USERS.where(User.realm_id == actor.realm_id, User.email_key.in_(emails))
        )
    }
    visible = {key: row for key, row in users.items() if visible_email(actor, row) is not None}
    skipped = [
        (emails[key], HAS_ACCOUNT if row.is_active else DEACTIVATED, not row.is_active)
        for key, row in sorted(visible.items())
    ]
    if len(visible) == len(emails):
        raise NobodyInvited(**failure_of(skipped))
    return Invitees([email for key, email in emails.items() if key not in visible], skipped)
