"""The email domains of an organization. models/chat/people/emails.py restricts accounts to them."""

import re
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from models.chat.events.log import ClientEvent
from models.chat.events.organization import (
    EmailDomain,
    RealmDomainsAddEvent,
    RealmDomainsChangeEvent,
    RealmDomainsRemoveEvent,
)
from models.chat.identity.actors import Actor
from models.chat.organization.changes import append_change, lock_realm
from models.chat.organization.errors import DomainExists, InvalidDomain, NoSuchDomain
from models.chat.organization.settings import change_realm
from models.chat.tables import RealmDomain
from specd.db import Db

DOMAIN_MAX = 255

_ALL = (
    select(RealmDomain.domain, RealmDomain.allow_subdomains)
    .where(RealmDomain.realm_id == bindparam("realm_id"))
    .order_by(RealmDomain.id)
)


def check_domain(domain: str) -> str:
    """Return the domain trimmed and in lower case, as it is stored. Raise `InvalidDomain`."""
    domain = domain.strip().lower()
    problem = _problem(domain)
    if problem is not None:
        raise InvalidDomain(problem=problem)
    return domain


def _problem(domain: str) -> str | None:
    if not domain:
        return "Domain can't be empty."
    if "." not in domain:
        return "Domain must have at least one dot (.)"
    if len(domain) > DOMAIN_MAX:
        return "Domain is too long"
    if domain[0] == "." or domain[-1] == ".":
        return "Domain cannot start or end with a dot (.)"
    for label in domain.split("."):
        if not label:
            return "Consecutive '.' are not allowed."
        if label[0] == "-" or label[-1] == "-":
            return "Subdomains cannot start or end with a '-'."
        if re.fullmatch(r"[a-z0-9-]*", label) is None:
            return "Domain can only have letters, numbers, '.' and '-'s."
    return None


def find_domains(db: Db, realm_id: int) -> list[dict[str, Any]]:
    """Return the realm's domains, oldest first."""
    return [{**row} for row in db.execute(_ALL, {"realm_id": realm_id}).mappings()]


def add_domain(
    session: Session, actor: Actor, *, domain: str, allow_subdomains: bool, now: datetime
) -> RealmDomain:
    """Add a domain. Raise `InvalidDomain`, `DomainExists`."""
    domain = check_domain(domain)
    lock_realm(session, actor.realm_id)
    if _find(session, actor.realm_id, domain) is not None:
        raise DomainExists(domain=domain)
    added = RealmDomain(realm_id=actor.realm_id, domain=domain, allow_subdomains=allow_subdomains)
    session.add(added)
    session.flush()
    described: EmailDomain = {"domain": domain, "allow_subdomains": allow_subdomains}
    _append(session, actor, RealmDomainsAddEvent(realm_domain=described), now)
    return added


def change_domain(
    session: Session, actor: Actor, domain: str, *, allow_subdomains: bool, now: datetime
) -> None:
    """Change a domain. If nothing changes, there is no event. Raise `NoSuchDomain`."""
    lock_realm(session, actor.realm_id)
    row = _access(session, actor.realm_id, domain)
    if row.allow_subdomains == allow_subdomains:
        return
    row.allow_subdomains = allow_subdomains
    session.flush()
    described: EmailDomain = {"domain": domain, "allow_subdomains": allow_subdomains}
    _append(session, actor, RealmDomainsChangeEvent(realm_domain=described), now)


def remove_domain(session: Session, actor: Actor, domain: str, *, now: datetime) -> None:
    """Remove a domain. After the last domain, emails are no longer restricted. Raise
    `NoSuchDomain`.
    """
    lock_realm(session, actor.realm_id)
    session.delete(_access(session, actor.realm_id, domain))
    session.flush()
    _append(session, actor, RealmDomainsRemoveEvent(domain=domain), now)
    left = select(func.count()).where(RealmDomain.realm_id == actor.realm_id)
    if actor.realm.emails_restricted_to_domains and not session.execute(left).scalar_one():
        unrestricted = {"emails_restricted_to_domains": False}
        change_realm(session, actor.realm_id, unrestricted, actor=actor, now=now)


def _find(session: Session, realm_id: int, domain: str) -> RealmDomain | None:
    return session.scalars(
        select(RealmDomain).where(RealmDomain.realm_id == realm_id, RealmDomain.domain == domain)
    ).first()


def _access(session: Session, realm_id: int, domain: str) -> RealmDomain:
    row = _find(session, realm_id, domain)
    if row is None:
        raise NoSuchDomain(domain=domain)
    return row


def _append(session: Session, actor: Actor, event: ClientEvent, now: datetime) -> None:
    facts = event.payload()
    append_change(session, actor, f"realm_domain_{facts.pop('op')}", facts, event, now=now)
