"""Real email addresses: which are addresses at all, and which an organization lets people have."""

from typing import Any

from disposable_email_domains import blocklist
from email_validator import EmailNotValidError, validate_email
from sqlalchemy import bindparam, select

from models.chat.actors import Reader, RealmView
from models.chat.errors.identity import InvalidEmail
from models.chat.errors.people import (
    DisposableEmail,
    EmailContainsPlus,
    EmailInUse,
    EmailNotAllowed,
)
from models.chat.hosts import is_host
from models.chat.tables import RealmDomain, User

EMAIL_MAX = 254
_DOMAINS: Any = select(RealmDomain.domain, RealmDomain.allow_subdomains).where(
    RealmDomain.realm_id == bindparam("realm_id")
)
_HOLDER: Any = select(User.id).where(
    User.realm_id == bindparam("realm_id"), User.email_key == bindparam("email_key")
)


def check_email(email: str) -> str:
    """The address as it is stored: trimmed. Raises `InvalidEmail`."""
    email = email.strip()
    local, _, domain = email.rpartition("@")
    if is_host(domain.lower()):
        # The validator refuses names such as `localhost` and `acme.test`: an organization's own
        # business here.
        domain = "example.com"
    try:
        validate_email(f"{local}@{domain}", check_deliverability=False)
    except EmailNotValidError:
        raise InvalidEmail() from None
    if len(email) > EMAIL_MAX:
        raise InvalidEmail()
    return email


def check_email_allowed(reader: Reader, realm: RealmView, email: str) -> None:
    """May somebody with that (valid) address have an account in the realm?

    Where domains are restricted, only theirs, and no `+`, which would make many addresses of one;
    else none of a provider of throw-away addresses, unless the realm takes those. Raises
    `EmailContainsPlus`, `EmailNotAllowed`, `DisposableEmail`.
    """
    local, _, domain = email.lower().rpartition("@")
    if not realm.emails_restricted_to_domains:
        if realm.disallow_disposable_email_addresses and is_disposable(domain):
            raise DisposableEmail()
        return
    if "+" in local:
        raise EmailContainsPlus()
    for allowed, allow_subdomains in reader.execute(_DOMAINS, {"realm_id": realm.id}):
        if domain == allowed or (allow_subdomains and domain.endswith(f".{allowed}")):
            return
    raise EmailNotAllowed(email=email)


def is_disposable(domain: str) -> bool:
    """Is it, or a domain above it, known to give addresses away for minutes?"""
    labels = domain.split(".")
    return any(".".join(labels[start:]) in blocklist for start in range(len(labels) - 1))


def require_email_is_free(reader: Reader, realm_id: int, email: str) -> None:
    """Raises `EmailInUse` when any account of the realm has the address, in any case."""
    key = {"realm_id": realm_id, "email_key": email.casefold()}
    if reader.execute(_HOLDER, key).first() is not None:
        raise EmailInUse(email=email)
