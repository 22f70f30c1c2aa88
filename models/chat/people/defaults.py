"""The initial settings of new users in an organization."""

from collections.abc import Mapping

import orjson
from sqlalchemy import bindparam, select

from models.chat.tables import Realm
from models.chat.tables.setting_table import SETTINGS, Value
from specd.db import Db

CHANGEABLE = frozenset(SETTINGS) - {
    "allow_private_data_export",
    "default_language",
    "email_address_visibility",
    "timezone",
}
"""Language and visibility of the email are columns of the organization. Consent and time zone have
no organization-wide default.
"""
_STORED = select(Realm.user_defaults).where(Realm.id == bindparam("realm_id"))


def find_user_defaults(db: Db, realm_id: int) -> Mapping[str, Value]:
    """Return the changed defaults, by the names of the settings."""
    stored: dict[str, Value] = orjson.loads(
        db.execute(_STORED, {"realm_id": realm_id}).scalar_one()
    )
    return stored
