"""What an organization defines for everybody: linkifiers, playgrounds, domains, its own emoji."""

from typing import Any

from sqlalchemy import bindparam, select

from models.chat.access.people import visible_user_id
from models.chat.organization.domains import find_domains
from models.chat.organization.linkifiers import list_linkifiers
from models.chat.organization.playgrounds import find_playgrounds
from models.chat.snapshot.viewing import Viewing
from models.chat.tables import RealmEmoji

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


def find_realm_emoji(view: Viewing) -> dict[str, Any]:
    """Id, as text -> the emoji. Deactivated ones are still in old messages."""
    return {
        "realm_emoji": {
            str(row.id): {
                "id": str(row.id),
                "name": row.name,
                "source_url": row.source_url,
                "still_url": None,
                "deactivated": row.is_deactivated,
                "author_id": visible_user_id(row.author_id, view.known_ids),
            }
            for row in view.db.execute(_EMOJI, {"realm_id": view.actor.realm_id})
        }
    }


def find_realm_domains(view: Viewing) -> dict[str, Any]:
    return {"realm_domains": find_domains(view.db, view.actor.realm_id)}


def find_realm_linkifiers(view: Viewing) -> dict[str, Any]:
    """None for a client that cannot read templates of links."""
    if not view.can("linkifier_url_template"):
        return {"realm_linkifiers": []}
    return {"realm_linkifiers": list_linkifiers(view.db, view.actor.realm_id)}


def find_realm_playgrounds(view: Viewing) -> dict[str, Any]:
    return {"realm_playgrounds": find_playgrounds(view.db, view.actor.realm_id)}
