"""Names of topics: normalized, checked, and cut to their maximum length. The empty topic has
several names.
"""

from models.chat.common.name_keys import key_of
from models.chat.common.one_line import FORBIDDEN
from models.chat.topics.errors import InvalidCharacterInTopic

TOPIC_MAX = 60
NO_TOPIC = "(no topic)"
RESOLVED = "✔ "


def normalise_topic(topic: str, *, empty_name: str) -> str:
    """Return the topic as it is stored: trimmed, cut, and "" for each name of the empty topic.

    Raise `InvalidCharacterInTopic`.
    """
    topic = topic.strip()
    forbidden = FORBIDDEN.search(topic)
    if forbidden is not None:
        raise InvalidCharacterInTopic(position=forbidden.end())
    if len(topic) > TOPIC_MAX:
        topic = topic[: TOPIC_MAX - 3].rstrip() + "..."
    if topic == NO_TOPIC or key_of(topic) == key_of(empty_name):
        return ""
    return topic


def display_topic(topic: str, *, empty_name: str, allow_empty: bool) -> str:
    """Return the topic for a client. A client that cannot show the empty topic gets its name."""
    return topic if topic or allow_empty else empty_name
