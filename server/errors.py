"""What can go wrong before or around a handler. Each service's error table gives these its words.

All are `connexion.exceptions.ProblemException`s, so that the same table also serves an
application that runs on stock connexion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from connexion.exceptions import ProblemException


class DocumentError(Exception):
    """A document or its handlers cannot be served; names the operation and the place."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing wrong with a request.

    `path` is a JSON pointer such as `/body/amount`; `rule` the JSON Schema keyword that failed, or
    `encoding` for what could not even be decoded; `facts` that keyword's values, for services that
    word their own messages (`{"limit": 60}`, `{"property": "topic"}`, `{"types": ["integer"]}`);
    of an `enum` also the `value`, if it is text.
    """

    path: str
    message: str
    rule: str = "encoding"
    facts: Mapping[str, Any] = field(default_factory=dict)


class InvalidRequest(ProblemException):
    """The request does not fit the document: header, path, query, body, or their encoding."""

    def __init__(self, violations: Sequence[Violation]) -> None:
        self.violations = tuple(violations)
        first = self.violations[0]
        super().__init__(status=400, title="Bad Request", detail=f"{first.path}: {first.message}")


def invalid(path: str, message: str) -> InvalidRequest:
    """An `InvalidRequest` with one violation."""
    return InvalidRequest((Violation(path, message),))


class Unauthenticated(ProblemException):
    """No credentials, or some nobody holds. `challenges` fill WWW-Authenticate (RFC 9110)."""

    def __init__(self, challenges: Sequence[str] = ()) -> None:
        self.challenges = tuple(challenges)
        super().__init__(status=401, title="Unauthorized")


class NotFound(ProblemException):
    """No operation has this path."""

    def __init__(self) -> None:
        super().__init__(status=404, title="Not Found")


class MethodNotAllowed(ProblemException):
    """The path exists, the method does not. `allow` lists every method that does (RFC 9110)."""

    def __init__(self, allow: Sequence[str]) -> None:
        self.allow = tuple(allow)
        super().__init__(
            status=405, title="Method Not Allowed", headers={"Allow": ", ".join(self.allow)}
        )


class RequestTimeout(ProblemException):
    """The body did not arrive within the read deadline."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(status=408, title="Request Timeout")


class BodyTooLarge(ProblemException):
    """The body is longer than `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(status=413, title="Content Too Large")


class UnsupportedMediaType(ProblemException):
    """The body's media type or encoding is none of `accepted`."""

    def __init__(self, accepted: Sequence[str]) -> None:
        self.accepted = tuple(accepted)
        super().__init__(status=415, title="Unsupported Media Type")


class RateLimited(ProblemException):
    """Too many requests. `retry_after_s` whole seconds until the next is taken; `rate_headers` are
    the RateLimit headers to send along.
    """

    def __init__(
        self,
        *,
        limit: int,
        retry_after_s: int,
        rate_headers: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.limit = limit
        self.retry_after_s = retry_after_s
        self.rate_headers = rate_headers
        super().__init__(status=429, title="Too Many Requests")


class HeadersTooLarge(ProblemException):
    """The request target or the header section is longer than `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(status=431, title="Request Header Fields Too Large")


class NonConformingResponse(ProblemException):
    """A handler answered something its document does not allow: a bug, and loud."""

    def __init__(self, detail: str) -> None:
        super().__init__(status=500, title="Internal Server Error", detail=detail)
