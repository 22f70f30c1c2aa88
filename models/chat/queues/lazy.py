"""Events of changed lists. The delivery reads the list.

Many changes thus take little space in the log, and a response contains each list once, in its
current state.
"""

from collections.abc import Callable, Mapping
from functools import partial

from models.chat.alert_words import find_alert_words
from models.chat.muted_users import find_muted_users
from models.chat.organization.emoji import find_custom_emoji
from models.chat.organization.linkifiers import list_linkifiers
from models.chat.organization.playgrounds import find_playgrounds
from models.chat.profiles.fields import find_profile_fields
from models.chat.queues.delivery import Viewer, shown_topic
from models.chat.queues.visibility import Body
from models.chat.topics.visibility import find_muted_topics
from specd.db import Db

LISTS: Mapping[str, tuple[str, Callable[[Db, Viewer], object]]] = {
    "alert_words": ("alert_words", lambda db, viewer: find_alert_words(db, viewer.actor)),
    "custom_profile_fields": (
        "fields",
        lambda db, viewer: find_profile_fields(db, viewer.actor.realm_id),
    ),
    "muted_topics": (
        "muted_topics",
        lambda db, viewer: find_muted_topics(db, viewer.actor, partial(shown_topic, viewer)),
    ),
    "muted_users": ("muted_users", lambda db, viewer: find_muted_users(db, viewer.actor)),
    "realm_emoji": (
        "realm_emoji",
        lambda db, viewer: find_custom_emoji(
            db, viewer.actor.realm_id, visible_ids=viewer.visible_ids
        ),
    ),
    "realm_linkifiers": (
        "realm_linkifiers",
        lambda db, viewer: list_linkifiers(db, viewer.actor.realm_id),
    ),
    "realm_playgrounds": (
        "realm_playgrounds",
        lambda db, viewer: find_playgrounds(db, viewer.actor.realm_id),
    ),
}
"""Type of event -> the key of the list in its body, and the function that reads the list."""


def with_lists(db: Db, viewer: Viewer, bodies: list[Body]) -> list[Body]:
    """Return the events with their lists. If several events change one list, only the newest is
    kept.
    """
    newest = {body["type"]: body["id"] for body in bodies if body["type"] in LISTS}
    if not newest:
        return bodies
    lists = {type_: {LISTS[type_][0]: LISTS[type_][1](db, viewer)} for type_ in newest}
    return [
        {**body, **lists.get(body["type"], {})}
        for body in bodies
        if newest.get(body["type"], body["id"]) == body["id"]
    ]
