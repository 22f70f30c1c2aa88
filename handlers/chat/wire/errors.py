"""The chat service's table of errors.

A `ChatError` has its code and its text. The table adds what belongs to HTTP: the status, where it
is not 400, and the facts that go out as keys of their own.
"""

from handlers.chat.wire.envelope import failure
from handlers.chat.wire.violations import first_error
from models.chat import calls, devices, drafts, navigation_views, saved_snippets
from models.chat.accounts import errors as accounts
from models.chat.channels import errors as channels
from models.chat.common import errors as common
from models.chat.editing import errors as editing
from models.chat.errors import ChatError, RefusedCommand
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
from specd import ErrorTable, Response
from specd.errors import Answer, InvalidRequest, Row

REALM = 'Basic realm="zulip"'
OF_INVITATION = ("errors", "sent_invitations", "license_limit_reached", "daily_limit_reached")
OF_CHAT: dict[type[Exception] | str, Row | None] = {
    ChatError: Row(400),
    identity.Unauthorized: Row(
        401, headers=(("WWW-Authenticate", REALM),), event="credential_refused"
    ),
    identity.NonexistentSubdomain: Row(404),
    identity.RealmMoving: Row(503, retry_after_s=1),
    identity.AuthenticationFailed: Row(401, event="sign_in_refused"),
    identity.SignInDeactivated: Row(401, event="sign_in_refused"),
    identity.SignInRealmDeactivated: Row(401, event="sign_in_refused"),
    accounts.LastUser: Row(400, extra=("is_last_owner", "entity")),
    user_groups.GroupInUse: Row(400, extra=("objections",)),
    invitations.InvitationFailed: Row(400, extra=OF_INVITATION),
    invitations.TooManyInvitations: Row(400, extra=OF_INVITATION, event="limit_hit"),
    invitations.InvitationNotFound: Row(404, event="credential_refused"),
    channels.ChannelExists: Row(400, extra=("channel_name",)),
    common.MissingParameter: Row(400, extra=("var_name",)),
    common.BadParameter: Row(400, extra=("var_name", "bad_value")),
    sending.StreamDoesNotExist: Row(400, extra=("stream_id",)),
    sending.StreamNameDoesNotExist: Row(400, extra=("stream",)),
    integrations.MissingEventHeader: Row(400, extra=("header",)),
    messages.BadNarrow: Row(400, extra=("desc",)),
    editing.MoveTimeLimitExceeded: Row(
        400,
        extra=(
            "first_message_id_allowed_to_move",
            "total_messages_in_topic",
            "total_messages_allowed_to_move",
        ),
    ),
    queues.BadEventQueueId: Row(400, extra=("queue_id",)),
    common.ConfusingParameters: Row(400, extra=("var_name1", "var_name2")),
    organization.CustomEmojiNotFound: Row(404),
    organization.ValidationFailure: Row(400, extra=("errors",)),
    devices.AdminActionRequired: Row(403),
    devices.FailedToConnectBouncer: Row(502),
    devices.InternalServerErrorOnBouncer: Row(502),
    drafts.DraftDoesNotExist: Row(404),
    navigation_views.NavigationViewDoesNotExist: Row(404),
    saved_snippets.SavedSnippetDoesNotExist: Row(404),
    scheduling.ScheduledMessageDoesNotExist: Row(404),
    scheduling.ReminderDoesNotExist: Row(404),
    settings.ConfirmationNotFound: Row(404, event="credential_refused"),
    uploads.UploadDoesNotExist: Row(404),
    uploads.UploadStoreUnavailable: Row(503, retry_after_s=10),
    # The only refusal that an idempotency key keeps: one that depends on channels, users or
    # permissions leaves the key unused, because the same request may be allowed later.
    scheduling.DeliveryTimeNotInFuture: Row(400, is_definitive=True),
    identity.BasicAuthenticationRequired: Row(400, event="credential_refused"),
    identity.BadJwt: Row(400, event="sign_in_refused"),
    identity.JwtWithoutEmail: Row(400, event="sign_in_refused"),
    identity.NotInProduction: Row(400, event="sign_in_refused"),
    settings.WrongPassword: Row(400, event="credential_refused"),
    calls.InvalidVendorSession: Row(400, event="credential_refused"),
    settings.TooManyAttempts: Row(400, event="limit_hit"),
    exports.ExportLimitReached: Row(400, event="limit_hit"),
    RefusedCommand: None,
}
"""By class; a class that is not here has the row of the nearest class it derives from."""
OF_SERVERS: dict[type[Exception] | str, Row | None] = {
    "foreign_origin": Row(
        code="CSRF_FAILED",
        sentence="CSRF error: a page of another site made your browser send this",
    ),
    "not_found": Row(code="NOT_FOUND", sentence="Not found"),
    "method_not_allowed": Row(code=None, sentence="Method Not Allowed", extra=("allowed_methods",)),
    "request_timeout": Row(
        code="REQUEST_TIMEOUT", sentence="The request body did not arrive in time"
    ),
    "body_too_large": Row(code="REQUEST_TOO_LARGE", sentence="The request body is too large"),
    "target_too_long": Row(code="URI_TOO_LONG", sentence="The request URL is too long"),
    "unsupported_media_type": Row(
        code="UNSUPPORTED_MEDIA_TYPE",
        sentence="Send the body as {accepted}, as UTF-8 and not compressed",
    ),
    "rate_limited": Row(
        code="RATE_LIMIT_HIT", sentence="API usage exceeded rate limit", extra=("retry-after",)
    ),
    "headers_too_large": Row(
        code="HEADERS_TOO_LARGE", sentence="The request headers are too large"
    ),
    "internal_error": Row(code=None, sentence="Internal server error"),
    "unauthorized": None,
    "insufficient_scope": None,
    "not_implemented": None,
    "invalid_request": None,
    "idempotency_in_progress": Row(code="IDEMPOTENCY_IN_PROGRESS"),
    "idempotency_key_reused": Row(code="IDEMPOTENCY_KEY_REUSED"),
    "database_unavailable": Row(
        code="DATABASE_UNAVAILABLE", sentence="The service is busy; try again in a moment"
    ),
}
"""# decided: the reference leaves most of these to the servers in front of it."""


def _translate(error: Exception) -> Exception:
    return first_error(error.violations) if isinstance(error, InvalidRequest) else error


def _write(answer: Answer) -> Response:
    extra = dict(answer.extra)
    if answer.status == 405:
        methods = dict(answer.headers).get("Allow", "").split(", ")
        extra["allowed_methods"] = [method for method in methods if method != "OPTIONS"]
    if answer.status == 429:
        extra["retry-after"] = float(dict(answer.headers)["Retry-After"])
    return failure(answer.status, answer.message, answer.code, extra, answer.headers)


ERRORS = ErrorTable(
    {**OF_CHAT, **OF_SERVERS},
    write=_write,
    translate=_translate,
    general=ChatError.code,
    service="chat",
)
