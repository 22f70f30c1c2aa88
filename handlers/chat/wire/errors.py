"""The chat service's one error table: from exceptions to answers.

A `ChatError` has its code and its text. The table adds what belongs to HTTP: the status, where it
is not 400, and the facts that go out as keys of their own.
"""

import re
from dataclasses import dataclass

from connexion.exceptions import ProblemException

from handlers.chat.wire.envelope import failure
from handlers.chat.wire.violations import first_error
from models.chat import calls, devices, drafts, navigation_views, saved_snippets
from models.chat.accounts import errors as accounts
from models.chat.channels import errors as channels
from models.chat.common import errors as common
from models.chat.editing import errors as editing
from models.chat.errors import ChatError
from models.chat.exports import requests as exports
from models.chat.identity import errors as identity
from models.chat.integrations import errors as integrations
from models.chat.invitations import errors as invitations
from models.chat.messages import errors as messages
from models.chat.organization import errors as organization
from models.chat.queues import errors as queues
from models.chat.scheduling import errors as scheduling
from models.chat.sending import errors as sending
from models.chat.settings import errors as settings
from models.chat.uploads import errors as uploads
from models.chat.user_groups import errors as user_groups
from specd import Refusal, Response, SecurityEvent, help_link
from specd._engine import errors as engine
from specd.errors import DatabaseUnavailable

REALM = 'Basic realm="zulip"'


@dataclass(frozen=True, slots=True)
class Answer:
    """A row of the table: the status, and the facts that go out as keys of their own."""

    status: int = 400
    extra: tuple[str, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()


DOMAIN: dict[type[Refusal], Answer] = {
    ChatError: Answer(),
    identity.Unauthorized: Answer(401, headers=(("WWW-Authenticate", REALM),)),
    identity.NonexistentSubdomain: Answer(404),
    identity.RealmMoving: Answer(503, headers=(("Retry-After", "1"),)),
    identity.AuthenticationFailed: Answer(401),
    identity.SignInDeactivated: Answer(401),
    identity.SignInRealmDeactivated: Answer(401),
    accounts.LastUser: Answer(400, ("is_last_owner", "entity")),
    user_groups.GroupInUse: Answer(400, ("objections",)),
    invitations.InvitationFailed: Answer(
        400, ("errors", "sent_invitations", "license_limit_reached", "daily_limit_reached")
    ),
    invitations.InvitationNotFound: Answer(404),
    channels.ChannelExists: Answer(400, ("channel_name",)),
    common.MissingParameter: Answer(400, ("var_name",)),
    common.BadParameter: Answer(400, ("var_name", "bad_value")),
    sending.StreamDoesNotExist: Answer(400, ("stream_id",)),
    sending.StreamNameDoesNotExist: Answer(400, ("stream",)),
    integrations.MissingEventHeader: Answer(400, ("header",)),
    messages.BadNarrow: Answer(400, ("desc",)),
    editing.MoveTimeLimitExceeded: Answer(
        400,
        (
            "first_message_id_allowed_to_move",
            "total_messages_in_topic",
            "total_messages_allowed_to_move",
        ),
    ),
    queues.BadEventQueueId: Answer(400, ("queue_id",)),
    common.ConfusingParameters: Answer(400, ("var_name1", "var_name2")),
    organization.CustomEmojiNotFound: Answer(404),
    organization.ValidationFailure: Answer(400, ("errors",)),
    devices.AdminActionRequired: Answer(403),
    devices.FailedToConnectBouncer: Answer(502),
    devices.InternalServerErrorOnBouncer: Answer(502),
    drafts.DraftDoesNotExist: Answer(404),
    navigation_views.NavigationViewDoesNotExist: Answer(404),
    saved_snippets.SavedSnippetDoesNotExist: Answer(404),
    scheduling.ScheduledMessageDoesNotExist: Answer(404),
    scheduling.ReminderDoesNotExist: Answer(404),
    settings.ConfirmationNotFound: Answer(404),
    uploads.UploadDoesNotExist: Answer(404),
    uploads.UploadStoreUnavailable: Answer(503, headers=(("Retry-After", "10"),)),
    common.IdempotencyInProgress: Answer(409, headers=(("Retry-After", "1"),)),
    common.IdempotencyKeyReused: Answer(422),
}
"""By class; a class that is not here has the row of the nearest class it derives from."""

ENGINE: dict[type[ProblemException], tuple[int, str | None, str]] = {
    engine.ForeignOrigin: (
        403,
        "CSRF_FAILED",
        "CSRF error: a page of another site made your browser send this",
    ),
    engine.NotFound: (404, "NOT_FOUND", "Not found"),
    engine.MethodNotAllowed: (405, None, "Method Not Allowed"),
    engine.RequestTimeout: (408, "REQUEST_TIMEOUT", "The request body did not arrive in time"),
    engine.BodyTooLarge: (413, "REQUEST_TOO_LARGE", "The request body is too large"),
    engine.TargetTooLong: (414, "URI_TOO_LONG", "The request URL is too long"),
    engine.UnsupportedMediaType: (
        415,
        "UNSUPPORTED_MEDIA_TYPE",
        "Send the body as {accepted}, as UTF-8 and not compressed",
    ),
    engine.RateLimited: (429, "RATE_LIMIT_HIT", "API usage exceeded rate limit"),
    engine.HeadersTooLarge: (431, "HEADERS_TOO_LARGE", "The request headers are too large"),
    engine.InternalError: (500, None, "Internal server error"),
}
"""# decided: the reference leaves most of these to the servers in front of it."""

UNAVAILABLE = ("DATABASE_UNAVAILABLE", "The service is busy; try again in a moment")


SECURITY_EVENTS: dict[type[Exception], SecurityEvent] = {
    identity.Unauthorized: SecurityEvent.CREDENTIAL_REFUSED,
    identity.BasicAuthenticationRequired: SecurityEvent.CREDENTIAL_REFUSED,
    identity.AuthenticationFailed: SecurityEvent.SIGN_IN_REFUSED,
    identity.SignInDeactivated: SecurityEvent.SIGN_IN_REFUSED,
    identity.SignInRealmDeactivated: SecurityEvent.SIGN_IN_REFUSED,
    identity.BadJwt: SecurityEvent.SIGN_IN_REFUSED,
    identity.JwtWithoutEmail: SecurityEvent.SIGN_IN_REFUSED,
    identity.NotInProduction: SecurityEvent.SIGN_IN_REFUSED,
    settings.WrongPassword: SecurityEvent.CREDENTIAL_REFUSED,
    settings.ConfirmationNotFound: SecurityEvent.CREDENTIAL_REFUSED,
    invitations.InvitationNotFound: SecurityEvent.CREDENTIAL_REFUSED,
    calls.InvalidVendorSession: SecurityEvent.CREDENTIAL_REFUSED,
    settings.TooManyAttempts: SecurityEvent.LIMIT_HIT,
    invitations.TooManyInvitations: SecurityEvent.LIMIT_HIT,
    exports.ExportLimitReached: SecurityEvent.LIMIT_HIT,
    engine.RateLimited: SecurityEvent.LIMIT_HIT,
    engine.ForeignOrigin: SecurityEvent.FOREIGN_ORIGIN,
}
"""The errors that are logged as security events."""


def respond(error: Exception, request_id: str) -> Response:
    """Return the answer to any exception: 500 for those in no table, which are bugs."""
    if isinstance(error, engine.InvalidRequest):
        error = first_error(error.violations)
    if isinstance(error, DatabaseUnavailable):
        code, msg = UNAVAILABLE
        return failure(503, msg, code, headers=(_link(error), ("Retry-After", "1")))
    if isinstance(error, ChatError):
        answer = find_answer(type(error))
        extra = {name: error.facts[name] for name in answer.extra}
        headers = (_link(error), *answer.headers)
        return failure(answer.status, str(error), error.code, extra, headers)
    if not (isinstance(error, ProblemException) and type(error) in ENGINE):
        error = engine.InternalError()
    status, engine_code, msg = ENGINE[type(error)]
    headers = (_link(error),)
    if isinstance(error, engine.UnsupportedMediaType):
        msg = msg.format(accepted=" or ".join(error.accepted))
    if isinstance(error, engine.MethodNotAllowed):
        allowed = [method for method in error.allow if method != "OPTIONS"]
        headers += (("Allow", ", ".join(error.allow)),)
        return failure(status, msg, engine_code, {"allowed_methods": allowed}, headers)
    if isinstance(error, engine.RateLimited):
        wait = {"retry-after": float(error.retry_after_s)}
        headers += (*error.rate_headers, ("Retry-After", str(error.retry_after_s)))
        return failure(status, msg, engine_code, wait, headers)
    return failure(status, msg, engine_code, headers=headers)


def find_answer(kind: type[Refusal]) -> Answer:
    """Return the row of a class, or of the nearest class it derives from."""
    return next(DOMAIN[base] for base in kind.__mro__ if base in DOMAIN)


def link_of(anchor: str) -> tuple[str, str]:
    """Return the header with the link to the description of an error."""
    return help_link("chat", anchor)


def _link(error: Exception) -> tuple[str, str]:
    return link_of(anchor_of(type(error)))


def anchor_of(kind: type[Exception]) -> str:
    """Return the anchor of an error on the page of errors: its code, for BAD_REQUEST its class,
    because that code is too general, and without a code its status.
    """
    if kind is DatabaseUnavailable:
        return UNAVAILABLE[0]
    if issubclass(kind, ChatError):
        if kind.code != ChatError.code:
            return kind.code
        return re.sub(r"(?<!^)(?=[A-Z])", "-", kind.__name__).lower()
    status, code, _ = ENGINE[kind]
    return code or str(status)
