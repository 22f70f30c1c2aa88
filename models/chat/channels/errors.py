"""Channels, subscriptions and channel folders."""

from models.chat.errors import ChatError


class ChannelNameIsEmpty(ChatError):
    """The name is empty or contains only spaces."""

    sentence = "Channel name can't be empty."
    advice = "Send a name."


class ChannelNameTooLong(ChatError):
    """The name exceeds the maximum length. Facts: `limit`."""

    sentence = "Channel name too long (limit: {limit} characters)."
    advice = "Choose a shorter name."


class InvalidCharacterInChannelName(ChatError):
    """The name contains a non-printable character. Facts: `position`, from 1."""

    sentence = "Invalid character in channel name, at position {position}."
    advice = "Remove the character at that position."


class ChannelsDoNotExist(ChatError):
    """Some of the channels do not exist or are hidden from the caller. Facts: `names`, joined."""

    sentence = "Channel(s) ({names}) do not exist"
    advice = "Check the names, or create the channels with `POST /users/me/subscriptions`."


class TooManyNewChannels(ChatError):
    """The request would create more channels than are permitted in one request. Facts: `most`."""

    sentence = "Too many new channels at once (maximum {most})."
    advice = "Create fewer channels in one request."


class TooManySubscriptions(ChatError):
    """The number of channels times the number of users exceeds the maximum. Facts: `most`."""

    sentence = "Too many subscriptions at once (maximum {most})."
    advice = "Send fewer channels or fewer users in one request."


class ChannelNotAccessible(ChatError):
    """The channel exists, but the caller may not subscribe to it. Facts: `name`."""

    sentence = "Unable to access channel ({name})."
    advice = "Ask a subscriber or an administrator of the channel to add you."


class DefaultChannelIsPrivate(ChatError):
    """A private channel cannot be a default channel."""

    sentence = "A default channel cannot be private."
    advice = "Make the channel public, or omit `is_default_stream`."


class PrivateChannelAsDefault(ChatError):
    """A private channel cannot become a default channel."""

    sentence = "Private channels cannot be made default."
    advice = "Make the channel public first, with `PATCH /streams/{stream_id}`."


class WebPublicChannelsDisabled(ChatError):
    """The server or the organization does not permit web-public channels."""

    sentence = "Web-public channels are not enabled."
    advice = "Create the channel without `is_web_public`."


class InvalidParameters(ChatError):
    """Each parameter is valid, but the combination is not."""

    sentence = "Invalid parameters"
    advice = "Send a combination that the operation's description allows."


class InvalidChannelFolder(ChatError):
    """The folder is unknown or archived."""

    sentence = "Invalid channel folder ID"
    advice = "Use an id that `GET /channel_folders` returns."


class NotSubscribed(ChatError):
    """The caller is not subscribed to the channel of the setting. Facts: `channel_id`."""

    sentence = "Not subscribed to channel ID {channel_id}"
    advice = "Subscribe to the channel first."


class InvalidColor(ChatError):
    """A color is not written as in `#f00f00`. Facts: `name`."""

    sentence = "{name} is not a valid hex color code"
    advice = "Send `#` and three to six hexadecimal digits."


class UnknownSubscriptionProperty(ChatError):
    """Subscriptions have no property with this name. Facts: `value`."""

    sentence = "Unknown subscription property: {value}"
    advice = "Use one of the properties that the operation's description lists."


class NotAuthorizedForQuery(ChatError):
    """Only administrators may request this list."""

    sentence = "User not authorized for this query"
    advice = "Remove the parameter, or call the operation as an administrator."


class FolderNameIsEmpty(ChatError):
    """The name is empty or contains only spaces."""

    sentence = "Channel folder name can't be empty."
    advice = "Send a name."


class InvalidCharacterInFolderName(ChatError):
    """The name contains a non-printable character. Facts: `position`, from 1."""

    sentence = "Invalid character in channel folder name, at position {position}."
    advice = "Remove the character at that position."


class FolderExists(ChatError):
    """Another folder has this name; names are case-insensitive. Facts: `name`."""

    sentence = "Channel folder '{name}' already exists"
    advice = "Choose another name, or use the existing folder."


class FolderInUse(ChatError):
    """A folder that contains channels cannot be archived."""

    sentence = "You need to remove all the channels from this folder to archive it."
    advice = "Move its channels to another folder or to none, then archive the folder."


class InvalidFolderOrder(ChatError):
    """The order does not contain every folder of the organization exactly once."""

    sentence = "Invalid order mapping."
    advice = "Send the id of every folder exactly once; `GET /channel_folders` lists them."


class MayNotAdministerChannel(ChatError):
    """The caller may see the channel, but not change it."""

    code = "CANNOT_ADMINISTER_CHANNEL"
    sentence = "You do not have permission to administer this channel."
    advice = "Ask an administrator, or a user in the channel's `can_administer_channel_group`."


class ContentAccessRequired(ChatError):
    """The change affects the permission to read the channel, and the caller cannot read it."""

    sentence = "Channel content access is required."
    advice = "Ask a user who can read the channel."


class ChannelExists(ChatError):
    """A channel that the request would create already exists. Facts: `channel_name`."""

    code = "CHANNEL_ALREADY_EXISTS"
    sentence = "Channel '{channel_name}' already exists"
    advice = "Choose another name, or subscribe to the channel with `POST /users/me/subscriptions`."


class ChannelNameInUse(ChatError):
    """Another channel has this name; names are case-insensitive."""

    sentence = "Channel name is already in use."
    advice = "Choose another name."


class ChannelHasThatName(ChatError):
    """The new name is the current name."""

    sentence = "Channel already has that name."
    advice = "Send another name, or omit `new_name`."


class ModerationChannelMustBePrivate(ChatError):
    """The organization's channel for moderation requests cannot become public."""

    sentence = "Moderation request channel must be private."
    advice = "Choose another channel for moderation requests with `PATCH /realm` first."


class ChannelHasTopics(ChatError):
    """The channel has messages with a topic, so it cannot allow only the empty topic. Facts:
    `empty_topic_name`.
    """

    sentence = (
        "To enable this configuration, all messages in this channel must be in the"
        " {empty_topic_name} topic."
    )
    advice = "Move or delete the messages of the other topics first."


class ChannelIsArchived(ChatError):
    """The channel is archived and cannot be changed."""

    sentence = "Channel is already deactivated"
    advice = "Restore the channel with `is_archived` of `PATCH /streams/{stream_id}` first."


class ChannelIsNotArchived(ChatError):
    """The channel that the request restores is not archived."""

    sentence = "Channel is not currently deactivated"
    advice = "Omit `is_archived`."


class PrivateChannelIsEmpty(ChatError):
    """The private channel has no subscribers, so it would have no readers."""

    sentence = "Channel is private and has no subscribers"
    advice = "Create another channel."


class CannotChangeDefaultChannels(ChatError):
    """Only administrators may change the channels to which new members are subscribed."""

    sentence = "You do not have permission to change default channels."
    advice = "Omit `is_default_stream`, or ask an administrator."


class NothingToDo(ChatError):
    """A change of subscriptions names no channel."""

    sentence = 'Nothing to do. Specify at least one of "add" or "delete".'
    advice = "Send a channel in `add` or in `delete`."
