"""Definitions of custom profile fields."""

from models.chat.errors import ChatError


class SummaryIsFull(ChatError):
    sentence = "Only 2 custom profile fields can be displayed in the profile summary."


class InvalidFieldData(ChatError):
    """Facts: `problem`."""

    sentence = "{problem}"


class BlankLabel(ChatError):
    sentence = "Label cannot be blank."


class InvalidFieldType(ChatError):
    sentence = "Invalid field type."


class NotForSummary(ChatError):
    sentence = "Field type not supported for display in profile summary."


class NotForMatching(ChatError):
    sentence = "Field type not supported for user matching."


class LabelTaken(ChatError):
    sentence = "A field with that label already exists."


class DefaultFieldUnchangeable(ChatError):
    """Name, hint and data of a known outside service are the service's."""

    sentence = "Default custom field cannot be updated."


class InvalidFieldOrder(ChatError):
    """Not every field of the organization is in the order."""

    sentence = "Invalid order mapping."
