"""The flags of a user's copy of a message: their bits, and their names on the wire."""

READ = 1
STARRED = 2
COLLAPSED = 4
MENTIONED = 8
STREAM_WILDCARD_MENTIONED = 16
TOPIC_WILDCARD_MENTIONED = 32
GROUP_MENTIONED = 64
FORCE_EXPAND = 128
FORCE_COLLAPSE = 256
HAS_ALERT_WORD = 512
HISTORICAL = 1024
IS_PRIVATE = 2048

EDITABLE: dict[str, int] = {"read": READ, "starred": STARRED, "collapsed": COLLAPSED}
"""What clients may add and remove."""

FIXED: dict[str, int] = {
    "mentioned": MENTIONED,
    "stream_wildcard_mentioned": STREAM_WILDCARD_MENTIONED,
    "topic_wildcard_mentioned": TOPIC_WILDCARD_MENTIONED,
    "group_mentioned": GROUP_MENTIONED,
    "force_expand": FORCE_EXPAND,
    "force_collapse": FORCE_COLLAPSE,
    "has_alert_word": HAS_ALERT_WORD,
    "historical": HISTORICAL,
}
"""What the service alone sets. `IS_PRIVATE` has no name: clients see that from the type."""

ANY_MENTION = MENTIONED | STREAM_WILDCARD_MENTIONED | TOPIC_WILDCARD_MENTIONED | GROUP_MENTIONED
WITHOUT_COPY = READ | HISTORICAL
"""The flags of a message the user may read but never received."""

_NAMES = {**EDITABLE, **FIXED}
_KNOWN: dict[int, list[str]] = {}


def names_of(flags: int) -> list[str]:
    """The flags by name, as message objects carry them; a fresh list."""
    if flags not in _KNOWN:
        names = [name for name, bit in _NAMES.items() if flags & bit]
        if flags & (STREAM_WILDCARD_MENTIONED | TOPIC_WILDCARD_MENTIONED):
            names.append("wildcard_mentioned")  # both wildcards under their older common name
        _KNOWN[flags] = names
    return _KNOWN[flags].copy()
