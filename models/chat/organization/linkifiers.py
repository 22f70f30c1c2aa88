"""The linkifiers of an organization: patterns whose matches in messages become links."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import bindparam, func, select, update
from sqlalchemy.orm import Session

from models.chat.common import audit
from models.chat.events import log
from models.chat.events.organization import RealmLinkifiersEvent
from models.chat.identity.actors import Actor
from models.chat.organization.errors import (
    InvalidLinkifierOrder,
    LinkifierNotFound,
    ValidationFailure,
)
from models.chat.organization.linkifier_rules import CheckedLinkifier, LinkifierFacts
from models.chat.tables import Linkifier, Realm
from models.reader import Db

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
    """The realm's linkifiers in the order in which they apply."""
    return [
        {
            "id": row.id,
            "pattern": row.pattern,
            "url_template": row.url_template,
            "example_input": row.example_input,
            "reverse_template": row.reverse_template,
            "alternative_url_templates": orjson.loads(row.alternative_url_templates),
        }
        for row in db.execute(_ALL, {"realm_id": realm_id})
    ]


def create_linkifier(
    session: Session, actor: Actor, checked: CheckedLinkifier, *, now: datetime
) -> int:
    """The id of a new linkifier, the last to apply. Raises `ValidationFailure`."""
    wanted = checked.require_sound()
    _take_turns(session, actor.realm_id)
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
    _tell(session, actor, "linkifier_created", {"linkifier_id": linkifier.id}, now)
    return linkifier.id


def update_linkifier(
    session: Session, actor: Actor, linkifier_id: int, checked: CheckedLinkifier, *, now: datetime
) -> None:
    """Put another in its place. Raises `LinkifierNotFound`, `ValidationFailure`."""
    _take_turns(session, actor.realm_id)
    linkifier = _access(session, actor.realm_id, linkifier_id)
    wanted = checked.require_sound()
    _require_free(session, actor.realm_id, wanted.pattern, besides=linkifier_id)
    for name, value in _columns(wanted).items():
        setattr(linkifier, name, value)
    session.flush()
    _tell(session, actor, "linkifier_changed", {"linkifier_id": linkifier_id}, now)


def delete_linkifier(session: Session, actor: Actor, linkifier_id: int, *, now: datetime) -> None:
    """Raises `LinkifierNotFound`."""
    _take_turns(session, actor.realm_id)
    session.delete(_access(session, actor.realm_id, linkifier_id))
    session.flush()
    _tell(session, actor, "linkifier_deleted", {"linkifier_id": linkifier_id}, now)


def reorder_linkifiers(
    session: Session, actor: Actor, order: Sequence[int], *, now: datetime
) -> None:
    """Apply them in this order. Raises `InvalidLinkifierOrder` unless each is named once."""
    _take_turns(session, actor.realm_id)
    known = [each["id"] for each in list_linkifiers(session.connection(), actor.realm_id)]
    if sorted(order) != sorted(known):
        raise InvalidLinkifierOrder()
    if order:
        places = [{"id": each, "position": place} for place, each in enumerate(order)]
        session.execute(update(Linkifier), places)
    _tell(session, actor, "linkifiers_reordered", {"order": list(order)}, now)


def _columns(wanted: LinkifierFacts) -> dict[str, Any]:
    return {
        "pattern": wanted.pattern,
        "url_template": wanted.url_template,
        "example_input": wanted.example_input or None,
        "reverse_template": wanted.reverse_template or None,
        "alternative_url_templates": orjson.dumps(list(wanted.alternative_url_templates)).decode(),
    }


def _take_turns(session: Session, realm_id: int) -> None:
    """Those who change a realm's linkifiers at once do it one after the other."""
    session.execute(select(Realm.id).where(Realm.id == realm_id).with_for_update(key_share=True))


def _access(session: Session, realm_id: int, linkifier_id: int) -> Linkifier:
    found = session.scalars(
        select(Linkifier).where(Linkifier.id == linkifier_id, Linkifier.realm_id == realm_id)
    ).first()
    if found is None:
        raise LinkifierNotFound()
    return found


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


def _tell(session: Session, actor: Actor, kind: str, facts: dict[str, Any], now: datetime) -> None:
    audit.record(session, actor.realm_id, kind, actor_id=actor.id, facts=facts, now=now)
    log.append(session, actor.realm_id, RealmLinkifiersEvent(), now=now)
