"""The errors that occur before or around a handler. Each service's error table defines their codes
and messages.

All are `connexion.exceptions.ProblemException`s, so that the same table also works for an
application on unmodified connexion. The page of errors shows callers the docstrings, which say when
an error occurs, and `advice`, which says what to do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from connexion.exceptions import ProblemException

MAX_MISTAKES = 50


class SourceLocation(NamedTuple):
    """A place in a file. Lines and columns are counted from 1."""

    file: Path
    line: int
    column: int


class DocumentError(Exception):
    """A document or its handlers cannot be served. The message names the operation and the place.

    `at` has the keys and indexes from the document's root to the faulty part, if they are known.
    `spot` is the place of the mistake if it is not a part of the document, but in invalid YAML or
    in a handler.
    """

    def __init__(
        self, message: str, at: Sequence[str | int] = (), *, spot: SourceLocation | None = None
    ) -> None:
        super().__init__(message)
        self.at = tuple(at)
        self.spot = spot


class DocumentErrors(DocumentError):
    """Several `DocumentError`s. The message has the first `MAX_MISTAKES` messages, one per line."""

    def __init__(self, errors: Sequence[DocumentError]) -> None:
        lines = [*map(str, errors[:MAX_MISTAKES])]
        if len(errors) > MAX_MISTAKES:
            lines.append(f"... and {len(errors) - MAX_MISTAKES} more")
        super().__init__("\n".join(lines))
        self.errors = tuple(errors)


@dataclass(frozen=True, slots=True)
class Violation:
    """One mistake in a request.

    `path` is a JSON pointer such as `/body/amount`. `rule` is the JSON Schema keyword that failed,
    `encoding` if the value could not be decoded, or `nul` for text with a NUL character. `facts`
    are the values of the keyword, for services that write their own messages (`{"limit": 60}`,
    `{"property": "topic"}`, `{"types": ["integer"]}`). For `enum` they include the `value`, if it
    is text, and for `anyOf` and `oneOf` the `context`, the first violation of each branch. If the
    schema names an error for the keyword (`x-errors: {enum: ...}`), or a form names one for a
    second file in a field (`oneFile`), `facts["error"]` is that name.
    """

    path: str
    message: str
    rule: str = "encoding"
    facts: Mapping[str, Any] = field(default_factory=dict)


class InvalidRequest(ProblemException):
    """The request does not match the document: its headers, path, query or body, or their
    encoding.
    """

    status = 400
    code = "invalid_request"
    advice = "Correct the errors that the response lists. The document states every type and limit."

    def __init__(self, violations: Sequence[Violation]) -> None:
        self.violations = tuple(violations)
        first = self.violations[0]
        super().__init__(
            status=self.status, title="Bad Request", detail=f"{first.path}: {first.message}"
        )


def invalid(path: str, message: str, rule: str = "encoding", **facts: Any) -> InvalidRequest:
    """Return an `InvalidRequest` with one violation."""
    return InvalidRequest((Violation(path, message, rule, facts),))


class Unauthenticated(ProblemException):
    """The credentials are missing or invalid. Facts: `challenges`, for WWW-Authenticate."""

    status = 401
    code = "unauthorized"
    is_of_any_operation = True
    advice = "Send valid credentials, as described in the document under Authentication."

    def __init__(self, challenges: Sequence[str] = ()) -> None:
        self.challenges = tuple(challenges)
        super().__init__(status=self.status, title="Unauthorized")


class InsufficientScope(ProblemException):
    """The token is valid, but lacks a scope that the operation requires. Facts: `scopes`, the
    required scopes.
    """

    status = 403
    code = "insufficient_scope"
    is_of_any_operation = True
    advice = "Get a token with the scopes that the document lists for the operation."

    def __init__(self, scopes: Sequence[str] = ()) -> None:
        self.scopes = tuple(scopes)
        super().__init__(status=self.status, title="Forbidden")


class ForeignOrigin(ProblemException):
    """A browser sent the request for a page of another origin, which is not allowed to change
    anything.
    """

    status = 403
    code = "foreign_origin"
    advice = (
        "Call the API from a program that is not a web page, or from a page of the service's "
        "origin. The operator can allow other origins with `SPECD_ALLOWED_ORIGINS`."
    )

    def __init__(self) -> None:
        super().__init__(status=self.status, title="Forbidden")


class NotFound(ProblemException):
    """No operation has this path."""

    status = 404
    code = "not_found"
    advice = "Check the path and the base URL; the document lists all operations."

    def __init__(self) -> None:
        super().__init__(status=self.status, title="Not Found")


class MethodNotAllowed(ProblemException):
    """The path exists, but has no operation for this method. Facts: `allow`, the methods of the
    path (RFC 9110).
    """

    status = 405
    code = "method_not_allowed"
    advice = "Use one of the methods in the `Allow` header."

    def __init__(self, allow: Sequence[str]) -> None:
        self.allow = tuple(allow)
        super().__init__(
            status=self.status, title="Method Not Allowed", headers={"Allow": ", ".join(self.allow)}
        )


class RequestTimeout(ProblemException):
    """The body did not arrive before the deadline."""

    status = 408
    code = "request_timeout"
    is_of_any_operation = True
    advice = "Send the request again over a faster connection."

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(status=self.status, title="Request Timeout")


class BodyTooLarge(ProblemException):
    """The body exceeds the maximum size. Facts: `limit`, in bytes."""

    status = 413
    code = "body_too_large"
    is_of_any_operation = True
    advice = "Send a smaller body. The document states the maximum size."

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(status=self.status, title="Content Too Large")


class TargetTooLong(ProblemException):
    """The address exceeds the maximum size. Facts: `limit`, in bytes of its path and query."""

    status = 414
    code = "target_too_long"
    advice = "Shorten the path and the query, or send long values in a body."

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(status=self.status, title="URI Too Long")


class UnsupportedMediaType(ProblemException):
    """The operation does not accept the media type or the encoding. Facts: `accepted`, the media
    types of the operation. The response gets the header that names the accepted ones (RFC 9110,
    section 15.5.16).
    """

    status = 415
    code = "unsupported_media_type"
    is_of_any_operation = True
    advice = "Send the body in the document's media type, as UTF-8 and without compression."

    def __init__(self, accepted: Sequence[str], *, is_compressed: bool = False) -> None:
        self.accepted = tuple(accepted)
        self.advice = f"Send the body as {' or '.join(accepted)}, as UTF-8 and not compressed."
        self.header = ("Accept", ", ".join(accepted))
        if is_compressed:
            self.header = ("Accept-Encoding", "identity")
        super().__init__(status=self.status, title="Unsupported Media Type")


class RateLimited(ProblemException):
    """One key or address sent too many requests. Facts: `retry_after_s`, the whole seconds until
    the next request is accepted; `rate_headers`, the RateLimit headers of the response.
    """

    status = 429
    code = "rate_limited"
    is_of_any_operation = True
    advice = "Wait the number of seconds in `Retry-After`."

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
        super().__init__(status=self.status, title="Too Many Requests")


class HeadersTooLarge(ProblemException):
    """The headers exceed the maximum size. Facts: `limit`, in bytes."""

    status = 431
    code = "headers_too_large"
    advice = "Shorten the headers."

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(status=self.status, title="Request Header Fields Too Large")


class InternalError(ProblemException):
    """The service has a bug. The request changed nothing."""

    status = 500
    code = "internal_error"
    advice = (
        "Try again. If the error persists, contact the operator with the `Request-Id` of the "
        "response."
    )

    def __init__(self, detail: str | None = None) -> None:
        super().__init__(status=self.status, title="Internal Server Error", detail=detail)


class NonConformingResponse(InternalError):
    """The document does not allow the response of a handler or of the error table."""


class NotWritten(ProblemException):
    """The handler of the operation raises `NotImplementedError`."""

    status = 501
    code = "not_implemented"
    advice = "Ask the operator when the operation will be available."

    def __init__(self) -> None:
        super().__init__(status=self.status, title="Not Implemented")


def must_be_documented(kind: type[Exception], status: int) -> bool:
    """Return whether an operation must document a status with which it responds to a class of
    errors. Bugs and unwritten handlers, and errors that any operation can have, need no
    documentation.
    """
    return status not in (500, 501) and not getattr(kind, "is_of_any_operation", False)


ENGINE_ERRORS = (
    InvalidRequest,
    Unauthenticated,
    ForeignOrigin,
    InsufficientScope,
    NotFound,
    MethodNotAllowed,
    RequestTimeout,
    BodyTooLarge,
    UnsupportedMediaType,
    RateLimited,
    HeadersTooLarge,
    TargetTooLong,
    InternalError,
    NotWritten,
)
"""All errors of the engine that callers can get. If two have the same status, the first is more
general.
"""
