"""Change the initial settings of new users in an organization."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import update
from sqlalchemy.orm import Session

from models.chat.common import audit
from models.chat.events import log
from models.chat.events.organization import RealmUserSettingsDefaultsUpdateEvent
from models.chat.identity.actors import Actor
from models.chat.organization.changes import lock_realm
from models.chat.organization.settings import change_realm
from models.chat.people.defaults import CHANGEABLE, find_user_defaults
from models.chat.settings.user_settings import check_settings
from models.chat.tables import Realm
from models.chat.tables.setting_table import EMOJISETS, SETTINGS

OF_THE_REALM = "email_address_visibility"


def change_user_defaults(
    session: Session, actor: Actor, changes: Mapping[str, Any], *, now: datetime
) -> None:
    """Change defaults. If one change fails, none is made. Raise the error class of an invalid
    value.
    """
    checked = check_settings(changes)
    own = {name: value for name, value in checked.items() if name in CHANGEABLE}
    if OF_THE_REALM in checked:
        shared = {OF_THE_REALM: checked[OF_THE_REALM]}
        change_realm(session, actor.realm_id, shared, actor=actor, now=now)
    lock_realm(session, actor.realm_id)
    before = {name: SETTINGS[name].default for name in CHANGEABLE}
    before |= find_user_defaults(session, actor.realm_id)
    changed = {name: value for name, value in own.items() if value != before[name]}
    if not changed:
        return
    after = before | changed
    stored = {name: after[name] for name in sorted(after) if after[name] != SETTINGS[name].default}
    session.execute(
        update(Realm)
        .where(Realm.id == actor.realm_id)
        .values(user_defaults=orjson.dumps(stored).decode())
    )
    for name, value in changed.items():
        facts = {"property": name, "old": before[name], "new": value}
        audit.record(
            session, actor.realm_id, "user_default_changed", actor_id=actor.id, facts=facts, now=now
        )
        shown = EMOJISETS.get(str(value), value) if name == "emojiset" else value
        event = RealmUserSettingsDefaultsUpdateEvent(property=name, value=shown)
        log.append(session, actor.realm_id, event, now=now)
