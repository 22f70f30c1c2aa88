"""Narrows, anchors and flags."""

from models.chat.errors import ChatError


class BadNarrow(ChatError):
    """A filter nobody understands. Facts: `desc`."""

    code = "BAD_NARROW"
    sentence = "Invalid narrow operator: {desc}"


class InvalidNarrow(ChatError):
    """A filter of the wrong shape. Facts: `index`, `problem`."""

    sentence = "Invalid narrow[{index}]: Value error, {problem}"


class InvalidAnchor(ChatError):
    sentence = "Invalid anchor"


class AnchorMustBeAtEnd(ChatError):
    sentence = "The anchor can only be excluded at an end of the range"


class TooManyMessagesRequested(ChatError):
    """Facts: `most`."""

    sentence = "Too many messages requested (maximum {most})."


class InvalidFlag(ChatError):
    """Facts: `flag`."""

    sentence = "Invalid flag: '{flag}'"


class FlagNotEditable(ChatError):
    """Facts: `flag`."""

    sentence = "Flag not editable: '{flag}'"


class InvalidFlagOperation(ChatError):
    """Facts: `op`."""

    sentence = "Invalid message flag operation: '{op}'"
