"""The organization's own emoji. Deactivated ones are listed too: old messages have them."""

from collections.abc import Container
from typing import Any

from sqlalchemy import bindparam, select

from models.chat.access.people import visible_user_id
from models.chat.tables import RealmEmoji
from models.reader import Db

_EMOJI = (
    select(
        RealmEmoji.id,
        RealmEmoji.name,
        RealmEmoji.source_url,
        RealmEmoji.author_id,
        RealmEmoji.is_deactivated,
    )
    .where(RealmEmoji.realm_id == bindparam("realm_id"))
    .order_by(RealmEmoji.id)
)


def find_custom_emoji(
    db: Db, realm_id: int, *, known_ids: Container[int] | None
) -> dict[str, dict[str, Any]]:
    """Id, as text -> the emoji. `known_ids`: users whom the reader may know; None: everybody."""
    return {
        str(row.id): {
            "id": str(row.id),
            "name": row.name,
            "source_url": row.source_url,
            "still_url": None,
            "deactivated": row.is_deactivated,
            "author_id": visible_user_id(row.author_id, known_ids),
        }
        for row in db.execute(_EMOJI, {"realm_id": realm_id})
    }
