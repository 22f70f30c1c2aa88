"""Events that say that a list of the user's own has changed: the list is read when the event is.

Thousands of changes in a log thus weigh little, and an answer holds each list once, as it is now.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from models.chat.alert_words.words import find_alert_words
from models.chat.muted_users.muting import find_muted_users
from models.chat.queues.delivery import Body, Viewer, shown_topic
from models.chat.topics.visibility import find_muted_topics
from models.reader import Db


def _find_muted_topics(db: Db, viewer: Viewer) -> list[list[str | int]]:
    return find_muted_topics(db, viewer.actor, partial(shown_topic, viewer))


LISTS: Mapping[str, Callable[[Db, Viewer], Sequence[object]]] = {
    "alert_words": lambda db, viewer: find_alert_words(db, viewer.actor),
    "muted_topics": _find_muted_topics,
    "muted_users": lambda db, viewer: find_muted_users(db, viewer.actor),
}
"""Type of events and key of their bodies -> finds the list."""


def with_lists(db: Db, viewer: Viewer, bodies: list[Body]) -> list[Body]:
    """Return the events with their lists. Of several about one list, only the newest stays."""
    newest = {body["type"]: body["id"] for body in bodies if body["type"] in LISTS}
    if not newest:
        return bodies
    found = {name: find(db, viewer) for name, find in LISTS.items() if name in newest}
    return [
        {**body, body["type"]: found[body["type"]]} if body["type"] in newest else body
        for body in bodies
        if newest.get(body["type"], body["id"]) == body["id"]
    ]
