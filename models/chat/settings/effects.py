"""Effects of changed settings on other users, with their events."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy.orm import Session

from models.chat.access.people import dummy_email
from models.chat.drafts import forget_drafts
from models.chat.events import log
from models.chat.events.organization import RealmExportConsentEvent
from models.chat.events.people import PersonChange, UserStatusEvent
from models.chat.identity.actors import Actor
from models.chat.identity.roles import EmailVisibility
from models.chat.people.events import find_email_readers, notify_of_user
from models.chat.presence.reports import show_or_hide
from models.chat.tables import User
from models.chat.tables.setting_table import Value


def notify_of_effects(
    session: Session,
    actor: Actor,
    name: str,
    value: Value,
    changed: Mapping[int, Value],
    *,
    now: datetime,
) -> None:
    """Apply the effects of a setting. `changed` maps user ids to old values. Except for the setting
    of drafts it contains one user, because administrators cannot change the other settings.
    """
    if name == "enable_drafts_synchronization":
        if not value:
            forget_drafts(session, changed)
        return
    for user_id, old in changed.items():
        match name:
            case "presence_enabled":
                away = UserStatusEvent(user_id=user_id, away=not value)
                log.append(session, actor.realm_id, away, now=now)
                show_or_hide(session, actor, bool(value), now=now)
            case "allow_private_data_export":
                consent = RealmExportConsentEvent(user_id=user_id, consented=bool(value))
                log.append(session, actor.realm_id, consent, to_administrators=True, now=now)
            case "timezone":
                notify_of_user(session, actor.realm, user_id, {"timezone": str(value)}, now=now)
            case "email_address_visibility":
                _notify_of_email(session, actor, user_id, int(old), now)


def _notify_of_email(
    session: Session, actor: Actor, user_id: int, before: int, now: datetime
) -> None:
    """Append events for users who may now see the address, and for users who no longer may."""
    user = session.get_one(User, user_id, populate_existing=True)
    after = user.email_address_visibility
    old_readers = set(find_email_readers(session, user, visibility=EmailVisibility(before)))
    new_readers = set(find_email_readers(session, user, visibility=EmailVisibility(after)))
    for readers, email, api_email in (
        (new_readers - old_readers, user.delivery_email, user.delivery_email),
        (old_readers - new_readers, None, dummy_email(user.id, actor.realm.host)),
    ):
        changes: list[PersonChange] = [{"delivery_email": email}, {"new_email": api_email}]
        for change in changes:
            notify_of_user(session, actor.realm, user_id, change, user_ids=sorted(readers), now=now)
