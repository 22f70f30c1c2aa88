"""Channels and subscriptions."""

from models.chat.errors import ChatError


class InvalidChannelId(ChatError):
    """Unknown, another organization's, or one that may not be seen: all the same."""

    sentence = "Invalid channel ID"
    advice = "Use a `stream_id` that `GET /streams` or `GET /users/me/subscriptions` returns."


class ChannelNameIsEmpty(ChatError):
    """The name is empty, or nothing but spaces."""

    sentence = "Channel name can't be empty."
    advice = "Send a name."


class ChannelNameTooLong(ChatError):
    """The name is longer than names may be. Facts: `limit`."""

    sentence = "Channel name too long (limit: {limit} characters)."
    advice = "Choose a shorter name."


class InvalidCharacterInChannelName(ChatError):
    """The name holds a character that is not printed. Facts: `position`, from 1."""

    sentence = "Invalid character in channel name, at position {position}."
    advice = "Leave out the character at that position."


class ChannelsDoNotExist(ChatError):
    """Channels that are named do not exist, or may not be seen. Facts: `names`, joined."""

    sentence = "Channel(s) ({names}) do not exist"
    advice = "Check the names, or create the channels with `POST /users/me/subscriptions`."


class TooManyNewChannels(ChatError):
    """More channels were to be made at once than may be. Facts: `most`."""

    sentence = "Too many new channels at once (maximum {most})."
    advice = "Make fewer in one request."


class TooManySubscriptions(ChatError):
    """The channels times the users of a request are more than may be. Facts: `most`."""

    sentence = "Too many subscriptions at once (maximum {most})."
    advice = "Name fewer channels or fewer users in one request."


class ChannelNotAccessible(ChatError):
    """It exists, but the actor may not subscribe to it. Facts: `name`."""

    sentence = "Unable to access channel ({name})."
    advice = "Ask a subscriber or an administrator of the channel to add you."


class DefaultChannelIsPrivate(ChatError):
    """A private channel was to be one that new people are subscribed to."""

    sentence = "A default channel cannot be private."
    advice = "Make the channel public, or leave out `is_default_stream`."


class WebPublicChannelsDisabled(ChatError):
    """The server or the organization opens no channels to the web."""

    sentence = "Web-public channels are not enabled."
    advice = "Create the channel without `is_web_public`."


class InvalidParameters(ChatError):
    """Each is good, together they make no sense."""

    sentence = "Invalid parameters"
    advice = "Send combinations that the operation's description names."


class IncompatibleParameters(ChatError):
    """Parameters were sent together that exclude each other. Facts: `names`, joined."""

    sentence = "Unsupported parameter combination: {names}"
    advice = "Leave out all but one of the parameters that are named."


class InvalidChannelFolder(ChatError):
    """No folder of the organization has this id, or it is archived."""

    sentence = "Invalid channel folder ID"
    advice = "Use an id that `GET /channel_folders` returns."


class NotSubscribed(ChatError):
    """The setting is one of subscribers, and you are not one. Facts: `channel_id`."""

    sentence = "Not subscribed to channel ID {channel_id}"
    advice = "Subscribe to the channel first."


class UnknownSubscriptionProperty(ChatError):
    """Subscriptions have no property of this name. Facts: `property`."""

    sentence = "Unknown subscription property: {property}"
    advice = "Use one of the properties that the operation's description lists."


class NotAuthorizedForQuery(ChatError):
    """A list was asked for that only administrators may see."""

    sentence = "User not authorized for this query"
    advice = "Leave out the parameter, or call it as an administrator."


class InvalidChannelName(ChatError):
    """Like `InvalidChannelId`, by name. Facts: `name`."""

    sentence = "Invalid channel name '{name}'"
    advice = "Use a name that `GET /streams` returns."
