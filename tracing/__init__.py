"""Trace contexts, which a request brings and requests to others take on.

A context is the value of the header `traceparent` (https://www.w3.org/TR/trace-context/), in the
form of version 00. What clients send is a label for logs and for other services: nothing is decided
by it, and what is malformed is as if it had not been sent.
"""

import re
from collections.abc import Mapping

from security_events import current_caller

HEADER = b"traceparent"
MOST_BYTES = 256
"""A longer header is malformed. Version 00 has 55 bytes; later ones may have more."""
_FORM = re.compile(
    rb"(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(-.*)?"
)
_SAMPLED = 1


def read(header: bytes) -> str | None:
    """Return the context that a header has; None where it is malformed."""
    if len(header) > MOST_BYTES:
        return None
    match = _FORM.fullmatch(header)
    if match is None:
        return None
    version, ids, flags, more = match.groups()
    if version == b"00" and more is not None:
        return None
    return f"00-{ids.decode()}-{int(flags, 16) & _SAMPLED:02x}"


def trace_id(traceparent: str) -> str:
    """Return the id of the trace, 32 hexadecimal digits."""
    return traceparent[3:35]


def current() -> str | None:
    """Return the context of the request in progress; None in workers and commands."""
    caller = current_caller()
    return None if caller is None else caller.traceparent


def headers(traceparent: str | None) -> Mapping[str, str]:
    """Return the headers of a request to another service that has this context."""
    return {} if traceparent is None else {"traceparent": traceparent}
