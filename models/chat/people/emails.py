"""Real email addresses: their validity, and the addresses that an organization permits."""

from collections.abc import Mapping

from disposable_email_domains import blocklist
from email_validator import EmailNotValidError, validate_email
from sqlalchemy import bindparam, select

from models.chat.common.hosts import is_host
from models.chat.identity.actors import RealmView
from models.chat.people.errors import (
    DisposableEmail,
    EmailContainsPlus,
    EmailInUse,
    EmailNotAllowed,
    InvalidEmail,
)
from models.chat.tables import RealmDomain, User
from specd.db import Db

EMAIL_MAX = 254
_DOMAINS = select(RealmDomain.domain, RealmDomain.allow_subdomains).where(
    RealmDomain.realm_id == bindparam("realm_id")
)
_HOLDER = select(User.id).where(
    User.realm_id == bindparam("realm_id"), User.email_key == bindparam("email_key")
)


def check_email(email: str) -> str:
    """Return the address trimmed and with its domain in ASCII, as it is stored. Checks and mail
    servers compare this form. Raise `InvalidEmail`.
    """
    local, _, domain = email.strip().rpartition("@")
    # The validator rejects hosts such as `localhost` and `acme.test`, which organizations may use.
    is_plain = domain.isascii() and is_host(domain.lower())
    try:
        valid = validate_email(
            f"{local}@{'example.com' if is_plain else domain}", check_deliverability=False
        )
    except EmailNotValidError:
        raise InvalidEmail() from None
    email = f"{valid.local_part}@{domain if is_plain else valid.ascii_domain}"
    if len(email) > EMAIL_MAX:
        raise InvalidEmail()
    return email


def as_stored(email: str) -> str:
    """Return the entered address as it would be stored, or only trimmed if it is invalid."""
    try:
        return check_email(email)
    except InvalidEmail:
        return email.strip()


def check_email_allowed(db: Db, realm: RealmView, email: str) -> None:
    """Raise an error of `check_email_allowed_by`."""
    check_email_allowed_by(find_domains(db, realm), realm, email)


def find_domains(db: Db, realm: RealmView) -> dict[str, bool]:
    """Return the domains to which the realm restricts addresses, each with whether its subdomains
    are permitted. Return an empty mapping if addresses are not restricted.
    """
    if not realm.emails_restricted_to_domains:
        return {}
    return {domain: below for domain, below in db.execute(_DOMAINS, {"realm_id": realm.id})}


def check_email_allowed_by(domains: Mapping[str, bool], realm: RealmView, email: str) -> None:
    """Require that the realm, which has these domains, permits an account with the valid address.

    If domains are restricted, only their addresses are permitted, and without a `+`, which would
    allow many addresses for one user. Otherwise addresses of disposable providers are rejected
    unless the realm permits them. Raise `EmailContainsPlus`, `EmailNotAllowed`, `DisposableEmail`.
    """
    local, _, domain = email.lower().rpartition("@")
    if not realm.emails_restricted_to_domains:
        if realm.disallow_disposable_email_addresses and is_disposable(domain):
            raise DisposableEmail()
        return
    if "+" in local:
        raise EmailContainsPlus()
    labels = domain.split(".")
    above = (".".join(labels[start:]) for start in range(1, len(labels)))
    if domain not in domains and not any(domains.get(each) for each in above):
        raise EmailNotAllowed(email=email)


def is_disposable(domain: str) -> bool:
    """Return whether the domain or a parent domain is a known provider of disposable addresses."""
    labels = domain.split(".")
    return any(".".join(labels[start:]) in blocklist for start in range(len(labels) - 1))


def require_email_is_free(db: Db, realm_id: int, email: str) -> None:
    """Raise `EmailInUse` if an account of the realm has the address in any case."""
    key = {"realm_id": realm_id, "email_key": email.casefold()}
    if db.execute(_HOLDER, key).first() is not None:
        raise EmailInUse(email=email)
