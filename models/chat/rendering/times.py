"""Times in messages: UNIX timestamps, ISO 8601, and dates in English."""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from dateutil import parser

_HOURS: dict[str, float] = {
    **{"UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "WEST": 1, "BST": 1, "CET": 1, "CEST": 2},
    **{"EET": 2, "EEST": 3, "MSK": 3, "IST": 5.5, "PKT": 5, "NPT": 5.75, "ICT": 7, "WIB": 7},
    **{"HKT": 8, "SGT": 8, "AWST": 8, "JST": 9, "KST": 9, "ACST": 9.5, "ACDT": 10.5},
    **{"AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13, "SAST": 2, "EAT": 3, "WAT": 1, "CAT": 2},
    **{"NST": -3.5, "NDT": -2.5, "BRT": -3, "ART": -3, "CLT": -4, "CLST": -3},
    **{"AST": -4, "ADT": -3, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6},
    **{"PST": -8, "PDT": -7, "AKST": -9, "AKDT": -8, "HST": -10},
}
"""Abbreviation -> hours east of UTC. If an abbreviation is ambiguous, the meaning for the most
people is used.
"""


def parse_time(text: str) -> datetime | None:
    """Return a moment in UTC, or None if the text is not a time. Without an offset it is in UTC."""
    try:
        if re.fullmatch(r"[0-9]{1,11}(?:\.[0-9]{1,6})?", text, re.ASCII):
            return datetime.fromtimestamp(int(text.partition(".")[0]), UTC)
        today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
        at: datetime = parser.parse(text, default=today, tzinfos=_zone)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, TypeError, AttributeError, IndexError):
        return None


def _zone(name: str | None, offset_s: int | None) -> tzinfo | None:
    """Return the zone of a name or an offset. Raise ValueError for an unknown name."""
    if offset_s is not None:
        return timezone(timedelta(seconds=offset_s))
    if name is None:
        return None
    if name.upper() not in _HOURS:
        raise ValueError(name)
    return timezone(timedelta(hours=_HOURS[name.upper()]))
