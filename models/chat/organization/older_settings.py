"""Settings of an organization as older clients read them. They are derived from newer settings."""

from models.chat.identity.actors import RealmView
from models.chat.tables import Realm

ANYBODY, NOBODY = 1, 6


def find_older_settings(realm: Realm | RealmView) -> dict[str, bool | int]:
    """Return the older settings by their names."""
    return {
        "allow_edit_history": realm.message_edit_history_visibility_policy == "all",
        "mandatory_topics": realm.topics_policy == "disable_empty_topic",
        "wildcard_mention_policy": _policy_of(realm, realm.can_mention_many_users_group),
    }


def _policy_of(realm: Realm | RealmView, group_id: int) -> int:
    """Return the number that stood for a permission before groups did. A group without a number is
    shown as anybody: the server still checks each attempt.
    """
    policies = {
        realm.members_group_id: 2,
        realm.fullmembers_group_id: 3,
        realm.administrators_group_id: 5,
        realm.owners_group_id: 5,
        realm.nobody_group_id: NOBODY,
        realm.moderators_group_id: 7,
    }
    return policies.get(group_id, ANYBODY)
