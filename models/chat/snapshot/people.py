"""Users and bots in a snapshot, limited to those that the actor may see."""

from typing import Any

from models.chat.access.groups import find_groups
from models.chat.access.people import UserRow
from models.chat.people.emoji import clients_kind
from models.chat.people.statuses import find_statuses
from models.chat.people.users import find_system_bots, find_users
from models.chat.people.view import describe_own_avatar, describe_own_user, describe_user
from models.chat.presence.presences import find_presences
from models.chat.profiles.fields import find_profile_fields
from models.chat.profiles.profiles import find_profiles
from models.chat.profiles.values import FieldType
from models.chat.snapshot.viewing import Viewing

OWN = ("avatar_url", "is_admin", "is_owner", "is_guest", "user_id")
OWN_NAMES = ("email", "delivery_email", "full_name")
FIELD_TYPE_NAMES = {
    FieldType.SHORT_TEXT: ("SHORT_TEXT", "Text (short)"),
    FieldType.PARAGRAPH: ("LONG_TEXT", "Text (long)"),
    FieldType.DROPDOWN: ("SELECT", "List of options"),
    FieldType.DATE: ("DATE", "Date"),
    FieldType.LINK: ("URL", "Link"),
    FieldType.USERS: ("USER", "Users"),
    FieldType.EXTERNAL_ACCOUNT: ("EXTERNAL_ACCOUNT", "External account"),
    FieldType.PRONOUNS: ("PRONOUNS", "Pronouns"),
}
"""Type -> its key in the API, and its name for users."""


def find_realm_users(view: Viewing) -> dict[str, Any]:
    """Return all users that the actor may see, and facts about the actor."""
    profiles = find_profiles(view.db, view.actor.realm_id, visible_ids=view.visible_ids)
    people = [
        (row.is_active, _described(view, row, profiles.get(row.id, {})))
        for row in find_users(view.db, view.actor)
    ]
    actor = view.actor
    own = describe_own_user(actor, max_message_id=-1, profile_data=None)
    return {
        "realm_users": [person for is_active, person in people if is_active],
        "realm_non_active_users": [person for is_active, person in people if not is_active],
        "cross_realm_bots": [
            _described(view, row) | {"is_system_bot": True}
            for row in find_system_bots(view.db, actor.realm_id)
        ],
        **{name: own[name] for name in (*OWN, *OWN_NAMES)},
        **describe_own_avatar(actor),
        "is_moderator": actor.is_moderator,
    }


def _described(
    view: Viewing, row: UserRow, profile: dict[str, dict[str, str]] | None = None
) -> dict[str, Any]:
    return describe_user(
        row,
        view.actor,
        visible_ids=view.visible_ids,
        client_extavatar=view.options.client_gravatar,
        profile_data=profile,
    )


def find_user_statuses(view: Viewing) -> dict[str, Any]:
    """Return user id as text -> status, for visible users who have a status."""
    statuses = find_statuses(view.db, view.actor.realm_id)
    known = view.visible_ids
    return {
        "user_status": {
            str(user_id): _for_clients(status)
            for user_id, status in statuses.items()
            if known is None or user_id in known
        }
    }


def _for_clients(status: dict[str, Any]) -> dict[str, Any]:
    if "reaction_type" in status:
        return status | {"reaction_type": clients_kind(status["reaction_type"])}
    return status


def find_user_groups(view: Viewing) -> dict[str, Any]:
    return {
        "realm_user_groups": find_groups(
            view.db,
            view.actor.realm_id,
            include_deactivated=view.can("include_deactivated_groups"),
            visible_ids=view.visible_ids,
        )
    }


def find_custom_profile_fields(view: Viewing) -> dict[str, Any]:
    return {
        "custom_profile_fields": find_profile_fields(view.db, view.actor.realm_id),
        "custom_profile_field_types": {
            key: {"id": int(type_), "name": name} for type_, (key, name) in FIELD_TYPE_NAMES.items()
        },
    }


def find_presence(view: Viewing) -> dict[str, Any]:
    """Return presences. Clients send `presence_last_update_id` to get newer ones."""
    return find_presences(
        view.db,
        view.actor,
        is_slim=view.options.slim_presence,
        history_days=view.options.presence_history_days,
        now=view.now,
    )
