"""When a message is tried again, when it is given up, and when an endpoint is."""

import re
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime

from models import work_queue

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
    """When to try again after so many failed attempts; None: no more."""
    return work_queue.next_try(attempts, PAUSES, JITTER, now)


def read_retry_after(text: str, now: datetime) -> datetime | None:
    """The time that a `Retry-After` header names (RFC 9110, section 10.2.3), within a day."""
    try:
        if re.fullmatch("[0-9]{1,9}", text):
            wanted = now + min(timedelta(seconds=int(text)), LONGEST_REQUESTED)
        else:
            wanted = parsedate_to_datetime(text)
            wanted = min(wanted, now + LONGEST_REQUESTED)
    except (ValueError, TypeError, OverflowError):
        return None
    return wanted if wanted > now else None
