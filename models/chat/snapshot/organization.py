"""What an organization defines for everybody: linkifiers, playgrounds, domains, its own emoji."""

from typing import Any

from models.chat.organization.domains import find_domains
from models.chat.organization.emoji import find_custom_emoji
from models.chat.organization.linkifiers import list_linkifiers
from models.chat.organization.playgrounds import find_playgrounds
from models.chat.snapshot.viewing import Viewing


def find_realm_emoji(view: Viewing) -> dict[str, Any]:
    emoji = find_custom_emoji(view.db, view.actor.realm_id, known_ids=view.known_ids)
    return {"realm_emoji": emoji}


def find_realm_domains(view: Viewing) -> dict[str, Any]:
    return {"realm_domains": find_domains(view.db, view.actor.realm_id)}


def find_realm_linkifiers(view: Viewing) -> dict[str, Any]:
    """None for a client that cannot read templates of links."""
    if not view.can("linkifier_url_template"):
        return {"realm_linkifiers": []}
    return {"realm_linkifiers": list_linkifiers(view.db, view.actor.realm_id)}


def find_realm_playgrounds(view: Viewing) -> dict[str, Any]:
    return {"realm_playgrounds": find_playgrounds(view.db, view.actor.realm_id)}
