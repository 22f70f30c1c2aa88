"""Topics."""

from models.chat.errors import ChatError


class InvalidCharacterInTopic(ChatError):
    """The topic contains a non-printable character. Facts: `position`, from 1."""

    sentence = "Invalid character in topic, at position {position}!"
    advice = "Remove the character at that position."


class IncompatibleParameters(ChatError):
    """The request contains parameters that exclude each other. Facts: `names`, joined."""

    sentence = "Unsupported parameter combination: {names}"
    advice = "Send only one of the parameters in `msg`."
