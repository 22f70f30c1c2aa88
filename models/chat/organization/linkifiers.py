"""The linkifiers of an organization: patterns whose matches in messages become links."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import bindparam, func, select, update
from sqlalchemy.orm import Session

from models.chat.events.organization import RealmLinkifiersEvent
from models.chat.identity.actors import Actor
from models.chat.organization.changes import append_change, lock_realm
from models.chat.organization.errors import (
    InvalidLinkifierOrder,
    LinkifierNotFound,
    ValidationFailure,
)
from models.chat.organization.linkifier_rules import CheckedLinkifier, LinkifierFacts
from models.chat.tables import Linkifier
from specd.db import Db

TAKEN = "Realm filter with this Realm and Pattern already exists."

_ALL = (
    select(
        Linkifier.id,
        Linkifier.pattern,
        Linkifier.url_template,
        Linkifier.example_input,
        Linkifier.reverse_template,
        Linkifier.alternative_url_templates,
    )
    .where(Linkifier.realm_id == bindparam("realm_id"))
    .order_by(Linkifier.position, Linkifier.id)
)


def list_linkifiers(db: Db, realm_id: int) -> list[dict[str, Any]]:
    """Return the realm's linkifiers in the order of their application."""
    rows = db.execute(_ALL, {"realm_id": realm_id}).mappings()
    templates = "alternative_url_templates"
    return [{**row, templates: orjson.loads(row[templates])} for row in rows]


def create_linkifier(
    session: Session, actor: Actor, checked: CheckedLinkifier, *, now: datetime
) -> int:
    """Create a linkifier, which is applied last, and return its id. Raise `ValidationFailure`."""
    wanted = checked.require_sound()
    lock_realm(session, actor.realm_id)
    _require_free(session, actor.realm_id, wanted.pattern)
    last = select(func.max(Linkifier.position)).where(Linkifier.realm_id == actor.realm_id)
    position = session.execute(last).scalar()
    linkifier = Linkifier(
        realm_id=actor.realm_id,
        position=0 if position is None else position + 1,
        **_columns(wanted),
    )
    session.add(linkifier)
    session.flush()
    _append(session, actor, "linkifier_created", {"linkifier_id": linkifier.id}, now)
    return linkifier.id


def update_linkifier(
    session: Session, actor: Actor, linkifier_id: int, checked: CheckedLinkifier, *, now: datetime
) -> None:
    """Replace a linkifier. Raise `LinkifierNotFound`, `ValidationFailure`."""
    lock_realm(session, actor.realm_id)
    linkifier = _access(session, actor.realm_id, linkifier_id)
    wanted = checked.require_sound()
    _require_free(session, actor.realm_id, wanted.pattern, besides=linkifier_id)
    for name, value in _columns(wanted).items():
        setattr(linkifier, name, value)
    session.flush()
    _append(session, actor, "linkifier_changed", {"linkifier_id": linkifier_id}, now)


def delete_linkifier(session: Session, actor: Actor, linkifier_id: int, *, now: datetime) -> None:
    """Delete a linkifier. Raise `LinkifierNotFound`."""
    lock_realm(session, actor.realm_id)
    session.delete(_access(session, actor.realm_id, linkifier_id))
    session.flush()
    _append(session, actor, "linkifier_deleted", {"linkifier_id": linkifier_id}, now)


def reorder_linkifiers(
    session: Session, actor: Actor, order: Sequence[int], *, now: datetime
) -> None:
    """Set the order of linkifiers. Raise `InvalidLinkifierOrder` unless each is in the list
    once.
    """
    lock_realm(session, actor.realm_id)
    known = [each["id"] for each in list_linkifiers(session.connection(), actor.realm_id)]
    if sorted(order) != sorted(known):
        raise InvalidLinkifierOrder()
    if order:
        places = [{"id": each, "position": place} for place, each in enumerate(order)]
        session.execute(update(Linkifier), places)
    _append(session, actor, "linkifiers_reordered", {"order": list(order)}, now)


def _columns(wanted: LinkifierFacts) -> dict[str, Any]:
    return {
        "pattern": wanted.pattern,
        "url_template": wanted.url_template,
        "example_input": wanted.example_input or None,
        "reverse_template": wanted.reverse_template or None,
        "alternative_url_templates": orjson.dumps(list(wanted.alternative_url_templates)).decode(),
    }


def _access(session: Session, realm_id: int, linkifier_id: int) -> Linkifier:
    linkifier = session.scalars(
        select(Linkifier).where(Linkifier.id == linkifier_id, Linkifier.realm_id == realm_id)
    ).first()
    if linkifier is None:
        raise LinkifierNotFound()
    return linkifier


def _require_free(
    session: Session, realm_id: int, pattern: str, *, besides: int | None = None
) -> None:
    taken = select(Linkifier.id).where(
        Linkifier.realm_id == realm_id,
        Linkifier.pattern == pattern,
        Linkifier.id != (besides or 0),
    )
    if session.execute(taken).first() is not None:
        raise ValidationFailure(problem=TAKEN, errors={"__all__": [TAKEN]})


def _append(
    session: Session, actor: Actor, kind: str, facts: dict[str, Any], now: datetime
) -> None:
    append_change(session, actor, kind, facts, RealmLinkifiersEvent(), now=now)
