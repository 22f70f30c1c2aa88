"""When messages are retried, and when messages and endpoints are given up."""

import re
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime

from specd.db import WorkQueue

PAUSES = tuple(
    timedelta(seconds=seconds)
    for seconds in (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
)
"""The pauses after the first attempt, the second, and so on. Then the message is given up."""
JITTER = 0.2
"""A pause is extended by up to a fifth, so that messages that failed together are spread out."""
DISABLED_AFTER = timedelta(days=5)
"""An endpoint is disabled after failing for this long without a success."""
LONGEST_REQUESTED = timedelta(days=1)
"""The maximum `Retry-After` that is honored."""


def next_try(attempts: int, now: datetime) -> datetime | None:
    """Return when to try again after `attempts` failed attempts, or None to give up."""
    return WorkQueue.next_try(attempts, PAUSES, JITTER, now)


def read_retry_after(text: str, now: datetime) -> datetime | None:
    """Return the time of a `Retry-After` header (RFC 9110, section 10.2.3), at most a day ahead, or
    None if it is past or malformed.
    """
    try:
        if re.fullmatch("[0-9]{1,9}", text):
            requested = now + timedelta(seconds=int(text))
        else:
            requested = parsedate_to_datetime(text)
        return min(requested, now + LONGEST_REQUESTED) if requested > now else None
    except (ValueError, TypeError, OverflowError):
        return None
