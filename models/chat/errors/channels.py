"""Channels and subscriptions."""

from models.chat.errors import ChatError


class InvalidChannelId(ChatError):
    """Unknown, another organization's, or one that may not be seen: all the same."""

    sentence = "Invalid channel ID"


class ChannelNameIsEmpty(ChatError):
    sentence = "Channel name can't be empty."


class ChannelNameTooLong(ChatError):
    """Facts: `limit`."""

    sentence = "Channel name too long (limit: {limit} characters)."


class InvalidCharacterInChannelName(ChatError):
    """Facts: `position`, from 1."""

    sentence = "Invalid character in channel name, at position {position}."


class ChannelsDoNotExist(ChatError):
    """Facts: `names`, joined."""

    sentence = "Channel(s) ({names}) do not exist"


class ChannelNotAccessible(ChatError):
    """It exists, but the actor may not subscribe to it. Facts: `name`."""

    sentence = "Unable to access channel ({name})."


class DefaultChannelIsPrivate(ChatError):
    sentence = "A default channel cannot be private."


class WebPublicChannelsDisabled(ChatError):
    sentence = "Web-public channels are not enabled."


class InvalidParameters(ChatError):
    """Each is good, together they make no sense."""

    sentence = "Invalid parameters"


class IncompatibleParameters(ChatError):
    """Facts: `names`, joined."""

    sentence = "Unsupported parameter combination: {names}"


class InvalidChannelFolder(ChatError):
    sentence = "Invalid channel folder ID"


class NotSubscribed(ChatError):
    """Facts: `channel_id`."""

    sentence = "Not subscribed to channel ID {channel_id}"


class UnknownSubscriptionProperty(ChatError):
    """Facts: `property`."""

    sentence = "Unknown subscription property: {property}"


class NotAuthorizedForQuery(ChatError):
    sentence = "User not authorized for this query"


class InvalidChannelName(ChatError):
    """Like `InvalidChannelId`, by name. Facts: `name`."""

    sentence = "Invalid channel name '{name}'"
