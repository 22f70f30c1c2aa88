"""Topics."""

from models.chat.errors import ChatError


class InvalidCharacterInTopic(ChatError):
    """The topic holds a character that is not printed. Facts: `position`, from 1."""

    sentence = "Invalid character in topic, at position {position}!"
    advice = "Leave out the character at that position."


class IncompatibleParameters(ChatError):
    """Parameters were sent together that exclude each other. Facts: `names`, joined."""

    sentence = "Unsupported parameter combination: {names}"
    advice = "Leave out all but one of the parameters that are named."
