"""Channels, subscriptions and channel folders."""

from models.chat.errors import ChatError


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


class FolderNameIsEmpty(ChatError):
    """The name is empty, or nothing but spaces."""

    sentence = "Channel folder name can't be empty."
    advice = "Send a name."


class InvalidCharacterInFolderName(ChatError):
    """The name holds a character that is not printed. Facts: `position`, from 1."""

    sentence = "Invalid character in channel folder name, at position {position}."
    advice = "Leave out the character at that position."


class FolderExists(ChatError):
    """Another folder has the name, in any case. Facts: `name`."""

    sentence = "Channel folder '{name}' already exists"
    advice = "Choose another name, or use the folder that has it."


class FolderInUse(ChatError):
    """A folder that still has channels was to be archived."""

    sentence = "You need to remove all the channels from this folder to archive it."
    advice = "Move its channels to another folder or to none, then archive it."


class InvalidFolderOrder(ChatError):
    """Not every folder of the organization is in the order."""

    sentence = "Invalid order mapping."
    advice = "Send every folder's id exactly once; `GET /channel_folders` lists them."
