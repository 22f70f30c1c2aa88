"""Narrows, anchors and flags."""

from models.chat.errors import ChatError


class InvalidNarrow(ChatError):
    """A filter of the wrong shape. Facts: `index`, `problem`."""

    sentence = "Invalid narrow[{index}]: Value error, {problem}"
    advice = "Write each term as an object of `operator` and `operand`, or as a pair."


class InvalidAnchor(ChatError):
    """The anchor is neither a message's id nor one of the words."""

    sentence = "Invalid anchor"
    advice = "Send an id, `newest`, `oldest`, `first_unread` or `date`."


class AnchorMustBeAtEnd(ChatError):
    """The anchor was to be left out of a range that reaches to both sides of it."""

    sentence = "The anchor can only be excluded at an end of the range"
    advice = "Send `include_anchor=true`, or 0 as `num_before` or `num_after`."


class TooManyMessagesRequested(ChatError):
    """`num_before` and `num_after` ask for too many together. Facts: `most`."""

    sentence = "Too many messages requested (maximum {most})."
    advice = "Ask for fewer, and go on from the last id."


class InvalidFlag(ChatError):
    """There is no flag of this name. Facts: `flag`."""

    sentence = "Invalid flag: '{flag}'"
    advice = "Use one of the flags that the operation's description lists."


class FlagNotEditable(ChatError):
    """The server alone sets this flag. Facts: `flag`."""

    sentence = "Flag not editable: '{flag}'"
    advice = "Use `read`, `starred` or `collapsed`."


class InvalidFlagOperation(ChatError):
    """There is no such operation on flags. Facts: `op`."""

    sentence = "Invalid message flag operation: '{op}'"
    advice = "Send `add` or `remove`."
