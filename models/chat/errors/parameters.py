"""Parameters whose rules a schema cannot say."""

from models.chat.errors import ChatError


class InvalidParameter(ChatError):
    """Facts: `name`, and `problem` such as `is not an integer`."""

    sentence = "{name} {problem}"


class InvalidChoice(ChatError):
    """Facts: `name`."""

    sentence = "Invalid {name}: Value error, Not in the list of possible values"


class MissingParameter(ChatError):
    """Facts: `var_name`."""

    code = "REQUEST_VARIABLE_MISSING"
    sentence = "Missing '{var_name}' argument"


class BadParameter(ChatError):
    """Facts: `var_name`, `bad_value`. Only where the reference still has a converter."""

    code = "REQUEST_VARIABLE_INVALID"
    sentence = "Bad value for '{var_name}': {bad_value}"


class ConfusingParameters(ChatError):
    """Two spellings of one parameter were sent. Facts: `var_name1`, `var_name2`."""

    code = "REQUEST_CONFUSING_VAR"
    sentence = "Can't decide between '{var_name1}' and '{var_name2}' arguments"
