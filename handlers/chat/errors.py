"""The chat service's one error table: what can be raised, and how it reads on the wire.

A `ChatError` brings its code and its text. Here stands what only HTTP knows: the status, where it
is not 400, and which facts go out as extra keys.
"""

from dataclasses import dataclass

from connexion.exceptions import ProblemException

from handlers.chat.envelope import failure
from handlers.chat.violations import first_error
from models.chat.errors import (
    ChatError,
    administration,
    identity,
    messages,
    narrows,
    organization_lists,
    parameters,
    push,
    scheduling,
    sending,
    settings,
)
from models.errors import DatabaseUnavailable, DomainError
from server import errors as engine
from server.response import Response

REALM = 'Basic realm="zulip"'


@dataclass(frozen=True, slots=True)
class Answer:
    """A row of the table: the status, and the facts that go out as keys of their own."""

    status: int = 400
    extra: tuple[str, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()


DOMAIN: dict[type[DomainError], Answer] = {
    ChatError: Answer(),
    identity.Unauthorized: Answer(401, headers=(("WWW-Authenticate", REALM),)),
    identity.NonexistentSubdomain: Answer(404),
    identity.AuthenticationFailed: Answer(401),
    identity.SignInDeactivated: Answer(401),
    identity.SignInRealmDeactivated: Answer(401),
    administration.LastUser: Answer(400, ("is_last_owner", "entity")),
    parameters.MissingParameter: Answer(400, ("var_name",)),
    parameters.BadParameter: Answer(400, ("var_name", "bad_value")),
    sending.StreamDoesNotExist: Answer(400, ("stream_id",)),
    sending.StreamNameDoesNotExist: Answer(400, ("stream",)),
    narrows.BadNarrow: Answer(400, ("desc",)),
    messages.MoveTimeLimitExceeded: Answer(
        400,
        (
            "first_message_id_allowed_to_move",
            "total_messages_in_topic",
            "total_messages_allowed_to_move",
        ),
    ),
    parameters.ConfusingParameters: Answer(400, ("var_name1", "var_name2")),
    organization_lists.ValidationFailure: Answer(400, ("errors",)),
    push.AdminActionRequired: Answer(403),
    push.FailedToConnectBouncer: Answer(502),
    push.InternalServerErrorOnBouncer: Answer(502),
    scheduling.ScheduledMessageDoesNotExist: Answer(404),
    settings.ConfirmationNotFound: Answer(404),
    scheduling.IdempotencyInProgress: Answer(409, headers=(("Retry-After", "1"),)),
    scheduling.IdempotencyKeyReused: Answer(422),
}
"""By class; a class that is not here has the row of the nearest class it derives from."""

ENGINE: dict[type[ProblemException], tuple[int, str, str]] = {
    engine.NotFound: (404, "NOT_FOUND", "Not found"),
    engine.RequestTimeout: (408, "REQUEST_TIMEOUT", "The request body did not arrive in time"),
    engine.BodyTooLarge: (413, "REQUEST_TOO_LARGE", "The request body is too large"),
    engine.UnsupportedMediaType: (
        415,
        "UNSUPPORTED_MEDIA_TYPE",
        "Send parameters as UTF-8 form fields, not compressed",
    ),
    engine.HeadersTooLarge: (431, "HEADERS_TOO_LARGE", "The request headers are too large"),
}
"""# decided: the reference leaves these to the servers in front of it."""

UNAVAILABLE = ("DATABASE_UNAVAILABLE", "The service is busy; try again in a moment")


def respond(error: Exception, request_id: str) -> Response:
    """The answer to any exception. What no table knows is a bug of ours: 500."""
    if isinstance(error, engine.InvalidRequest):
        error = first_error(error.violations)
    if isinstance(error, DatabaseUnavailable):
        code, msg = UNAVAILABLE
        return failure(503, msg, code, headers=(("Retry-After", "1"),))
    if isinstance(error, DomainError):
        answer = next((DOMAIN[kind] for kind in type(error).__mro__ if kind in DOMAIN), None)
        if answer is not None:
            extra = {name: error.facts[name] for name in answer.extra}
            return failure(answer.status, str(error), error.code, extra, answer.headers)
    if isinstance(error, engine.MethodNotAllowed):
        allowed = [method for method in error.allow if method != "OPTIONS"]
        return failure(
            405,
            "Method Not Allowed",
            None,
            {"allowed_methods": allowed},
            (("Allow", ", ".join(error.allow)),),
        )
    if isinstance(error, engine.RateLimited):
        return failure(
            429,
            "API usage exceeded rate limit",
            "RATE_LIMIT_HIT",
            {"retry-after": float(error.retry_after_s)},
            (*error.rate_headers, ("Retry-After", str(error.retry_after_s))),
        )
    if isinstance(error, ProblemException) and type(error) in ENGINE:
        status, code, msg = ENGINE[type(error)]
        return failure(status, msg, code)
    return failure(500, "Internal server error", None)
