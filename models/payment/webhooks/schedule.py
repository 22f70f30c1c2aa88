"""The retries of messages, and when messages and endpoints are given up."""

import re
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime

from specd.db import WorkQueue

PAUSES = tuple(
    timedelta(seconds=seconds)
    for seconds in (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
)
"""After the first attempt, the second, and so on; then the message is given up."""
JITTER = 0.2
"""A pause lasts up to a fifth longer, so that those who failed together do not return together."""
DISABLED_AFTER = timedelta(days=5)
"""Of failures without one success."""
LONGEST_REQUESTED = timedelta(days=1)
"""The longest `Retry-After` that is obeyed."""


def next_try(attempts: int, now: datetime) -> datetime | None:
    """Return when to try again after so many failed attempts; None: no more."""
    return WorkQueue.next_try(attempts, PAUSES, JITTER, now)


def read_retry_after(text: str, now: datetime) -> datetime | None:
    """Return the time of a `Retry-After` header (RFC 9110, section 10.2.3), within a day; None:
    it is past or malformed.
    """
    try:
        if re.fullmatch("[0-9]{1,9}", text):
            requested = now + timedelta(seconds=int(text))
        else:
            requested = parsedate_to_datetime(text)
        return min(requested, now + LONGEST_REQUESTED) if requested > now else None
    except (ValueError, TypeError, OverflowError):
        return None
