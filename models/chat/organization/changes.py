"""Shared parts of changes of an organization, its lists and its groups: lock, audit entry and
event.
"""

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
    """Serialize changes of a realm's lists, and of the settings and subgroups of its groups.
    Concurrent changes could create a cycle of groups, or use a group that is being deactivated.
    """
    session.execute(select(Realm.id).where(Realm.id == realm_id).with_for_update(key_share=True))


def append_change(
    session: Session,
    actor: Actor,
    kind: str,
    facts: Mapping[str, Any],
    event: ClientEvent,
    *,
    group_id: int | None = None,
    now: datetime,
) -> None:
    """Append a change to the audit log, and its event for all users of the realm. `group_id` is the
    changed user group, or None.
    """
    audit.record(
        session, actor.realm_id, kind, actor_id=actor.id, group_id=group_id, facts=facts, now=now
    )
    log.append(session, actor.realm_id, event, now=now)
