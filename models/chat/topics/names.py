"""Names of topics: normalised, checked, cut to length. The empty one has several."""

from unicodedata import normalize

from models.chat.common.one_line import FORBIDDEN
from models.chat.topics.errors import InvalidCharacterInTopic

TOPIC_MAX = 60
NO_TOPIC = "(no topic)"
RESOLVED = "✔ "


def key_of(topic: str) -> str:
    """Return the key of a topic: the same for each casing, and for composed and decomposed letters
    (the Unicode Standard, section 3.13, D145, without compatibility).
    """
    return normalize("NFC", normalize("NFC", topic).casefold())


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
    """Return the topic for a client; one that cannot show the empty topic gets its name."""
    return topic if topic or allow_empty else empty_name
