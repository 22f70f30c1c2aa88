"""Parameters, quotas and idempotency keys."""

from models.chat.errors import ChatError, RefusedCommand


class InvalidParameter(ChatError):
    """A value violates the operation's schema. Facts: `name`, and `problem` such as `is not an
    integer`.
    """

    sentence = "{name} {problem}"
    advice = "Correct the parameter in `msg`. The document states its type and limits."


class NotOneLine(ChatError):
    """A name or another single-line text contains a line break or another control character. Facts:
    `name`.
    """

    sentence = "{name} must be one line, without control characters"
    advice = "Remove line breaks and control characters from the parameter in `msg`."


class InvalidChoice(ChatError):
    """A value is not one of the permitted values. Facts: `name`."""

    sentence = "Invalid {name}: Value error, Not in the list of possible values"
    advice = "Send one of the values that the document lists."


class MissingParameter(ChatError):
    """A required parameter is missing. Facts: `var_name`."""

    code = "REQUEST_VARIABLE_MISSING"
    sentence = "Missing '{var_name}' argument"
    advice = "Send the parameter in `var_name`."


class BadParameter(ChatError):
    """A value cannot be parsed. Facts: `var_name`, `bad_value`."""

    code = "REQUEST_VARIABLE_INVALID"
    sentence = "Bad value for '{var_name}': {bad_value}"
    advice = "Correct the parameter in `var_name`."


class ConfusingParameters(ChatError):
    """The request contains two spellings of one parameter. Facts: `var_name1`, `var_name2`."""

    code = "REQUEST_CONFUSING_VAR"
    sentence = "Can't decide between '{var_name1}' and '{var_name2}' arguments"
    advice = "Send only one of the two parameters."


class QuotaExceeded(ChatError):
    """The request would exceed the maximum that the operator permits for a user, an organization or
    a message. Facts: `what`, `limit`.
    """

    sentence = "Too many {what} (limit: {limit})."
    advice = "Delete unused items, or ask the operator for a higher limit."


class InvalidHost(RefusedCommand):
    """Facts: `host`."""

    sentence = "{host} is not a host name; write it without scheme, port and path."
