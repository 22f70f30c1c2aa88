"""Parameters, quotas and idempotency keys: what many operations refuse alike."""

from models.chat.errors import ChatError, RefusedCommand


class InvalidParameter(ChatError):
    """A value breaks the operation's schema. Facts: `name`, and `problem` such as `is not an
    integer`.
    """

    sentence = "{name} {problem}"
    advice = "Correct the parameter that is named; the document has its type and bounds."


class NotOneLine(ChatError):
    """A name, or another text that is quoted in the middle of others, holds a line break or another
    control character. Facts: `name`.
    """

    sentence = "{name} must be one line, without control characters"
    advice = "Remove line breaks and control characters from the parameter that is named."


class InvalidChoice(ChatError):
    """A value is not one of those that there are. Facts: `name`."""

    sentence = "Invalid {name}: Value error, Not in the list of possible values"
    advice = "Send one of the values that the document lists."


class MissingParameter(ChatError):
    """A parameter that must be sent is absent. Facts: `var_name`."""

    code = "REQUEST_VARIABLE_MISSING"
    sentence = "Missing '{var_name}' argument"
    advice = "Send the parameter that `var_name` names."


class BadParameter(ChatError):
    """A value cannot be understood. Facts: `var_name`, `bad_value`. Only where the reference still
    has a converter.
    """

    code = "REQUEST_VARIABLE_INVALID"
    sentence = "Bad value for '{var_name}': {bad_value}"
    advice = "Correct the parameter that `var_name` names."


class ConfusingParameters(ChatError):
    """Two spellings of one parameter were sent. Facts: `var_name1`, `var_name2`."""

    code = "REQUEST_CONFUSING_VAR"
    sentence = "Can't decide between '{var_name1}' and '{var_name2}' arguments"
    advice = "Send only one of the two."


class QuotaExceeded(ChatError):
    """There would be more of a thing than the server's operator lets one user, organization or
    message have. Facts: `what`, `limit`.
    """

    sentence = "Too many {what} (limit: {limit})."
    advice = "Delete or archive what is no longer used, or ask the operator for more."


class InvalidHost(RefusedCommand):
    """Facts: `host`."""

    sentence = "{host} is not a host name; write it without scheme, port and path."


class IdempotencyKeyReused(ChatError):
    """The key was used for a different request."""

    code = "IDEMPOTENCY_KEY_REUSED"
    sentence = (
        "This Idempotency-Key was used for a different request; use a fresh key for each request."
    )
    advice = (
        "Send a fresh `Idempotency-Key` with each new request; the old one only to repeat its own."
    )


class IdempotencyInProgress(ChatError):
    """The first request with this key has not finished within the lock timeout."""

    code = "IDEMPOTENCY_IN_PROGRESS"
    sentence = (
        "A request with this Idempotency-Key is still in progress; send it again in a moment."
    )
    advice = "Wait for the seconds that `Retry-After` says, then send the same request again."
