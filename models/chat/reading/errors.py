"""Narrows, anchors and flags."""

from models.chat.errors import ChatError


class InvalidNarrow(ChatError):
    """A term of the narrow has the wrong shape. Facts: `index`, `problem`."""

    sentence = "Invalid narrow[{index}]: Value error, {problem}"
    advice = "Write each term as an object of `operator` and `operand`, or as a pair."


class InvalidAnchor(ChatError):
    """The anchor is neither the id of a message nor one of the keywords."""

    sentence = "Invalid anchor"
    advice = "Send an id, `newest`, `oldest`, `first_unread` or `date`."


class AnchorMustBeAtEnd(ChatError):
    """The request excludes the anchor from a range that extends to both sides of it."""

    sentence = "The anchor can only be excluded at an end of the range"
    advice = "Send `include_anchor=true`, or 0 as `num_before` or `num_after`."


class TooManyMessagesRequested(ChatError):
    """`num_before` and `num_after` together exceed the maximum. Facts: `most`."""

    sentence = "Too many messages requested (maximum {most})."
    advice = "Request fewer messages, and continue from the last id."


class InvalidFlag(ChatError):
    """No flag has this name. Facts: `flag`."""

    sentence = "Invalid flag: '{flag}'"
    advice = "Use one of the flags that the operation's description lists."


class FlagNotEditable(ChatError):
    """Only the server sets this flag. Facts: `flag`."""

    sentence = "Flag not editable: '{flag}'"
    advice = "Use `read`, `starred` or `collapsed`."


class InvalidFlagOperation(ChatError):
    """No operation on flags has this name. Facts: `op`."""

    sentence = "Invalid message flag operation: '{op}'"
    advice = "Send `add` or `remove`."


class NoSuchTopic(ChatError):
    """The channel has no message in this topic that the caller may read. Facts: `topic`."""

    sentence = "No such topic '{topic}'"
    advice = "Send the name of a topic that `list_topics` returns."
