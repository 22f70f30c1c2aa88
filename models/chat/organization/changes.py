"""What all changes of an organization's lists share: the lock, the audit entry and the event."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from models.chat.common import audit
from models.chat.events import log
from models.chat.events.log import ClientEvent
from models.chat.identity.actors import Actor
from models.chat.tables import Realm


def lock_realm(session: Session, realm_id: int) -> None:
    """Make concurrent changes of a realm's lists run one after the other."""
    session.execute(select(Realm.id).where(Realm.id == realm_id).with_for_update(key_share=True))


def append_change(
    session: Session,
    actor: Actor,
    kind: str,
    facts: Mapping[str, Any],
    event: ClientEvent,
    *,
    now: datetime,
) -> None:
    """Append a change to the audit log, and its event for everybody in the realm."""
    audit.record(session, actor.realm_id, kind, actor_id=actor.id, facts=facts, now=now)
    log.append(session, actor.realm_id, event, now=now)
