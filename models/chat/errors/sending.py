"""Sending messages: recipients, topics, mentions."""

from models.chat.errors import ChatError


class StreamDoesNotExist(ChatError):
    """No channel of the organization has this id. Facts: `stream_id`."""

    code = "STREAM_DOES_NOT_EXIST"
    sentence = "Channel with ID '{stream_id}' does not exist"


class StreamNameDoesNotExist(ChatError):
    """No channel of the organization has this name. Facts: `stream`."""

    code = "STREAM_DOES_NOT_EXIST"
    sentence = "Channel '{stream}' does not exist"


class NotAuthorizedToSend(ChatError):
    """Facts: `channel`."""

    sentence = "Not authorized to send to channel '{channel}'"


class MessageIsEmpty(ChatError):
    sentence = "Message must not be empty"


class MessageHasNullBytes(ChatError):
    sentence = "Message must not contain null bytes"


class NoRecipients(ChatError):
    sentence = "Message must have recipients"


class InvalidRecipientId(ChatError):
    """Facts: `user_id`."""

    sentence = "Invalid user ID {user_id}"


class InvalidRecipientEmail(ChatError):
    """Facts: `email`."""

    sentence = "Invalid email '{email}'"


class InvalidRecipientType(ChatError):
    """`to` has a type that this kind of message does not take. Facts: `what`."""

    sentence = "Invalid data type for {what}"


class OneChannelExpected(ChatError):
    sentence = "Expected exactly one channel"


class RecipientDeactivated(ChatError):
    """Facts: `email`."""

    sentence = "'{email}' is no longer using Zulip."


class RecipientsNotAccessible(ChatError):
    """A guest writes to somebody they may not know."""

    sentence = "You do not have permission to access some of the recipients."


class DirectMessagesDisabled(ChatError):
    sentence = "Direct messages are disabled in this organization."


class DirectMessageNotAllowed(ChatError):
    sentence = "This conversation does not include any users who can authorize it."


class DirectMessageInitiationNotAllowed(ChatError):
    sentence = "You do not have permission to initiate direct message conversations."


class MissingTopic(ChatError):
    sentence = "Missing topic"


class InvalidCharacterInTopic(ChatError):
    """Facts: `position`, from 1."""

    sentence = "Invalid character in topic, at position {position}!"


class EmptyTopicNotAllowed(ChatError):
    """The channel wants topics. Facts: `empty_topic_name`."""

    sentence = "Sending messages to {empty_topic_name} is not allowed in this channel."


class TopicsNotAllowed(ChatError):
    """The channel has only the empty topic. Facts: `empty_topic_name`."""

    sentence = "Only {empty_topic_name} is allowed in this channel."


class NewTopicsNotAllowed(ChatError):
    sentence = "You do not have permission to create new topics in this channel."


class StreamWildcardMentionNotAllowed(ChatError):
    code = "STREAM_WILDCARD_MENTION_NOT_ALLOWED"
    sentence = "You do not have permission to use channel wildcard mentions in this channel."


class TopicWildcardMentionNotAllowed(ChatError):
    code = "TOPIC_WILDCARD_MENTION_NOT_ALLOWED"
    sentence = "You do not have permission to use topic wildcard mentions in this topic."


class GroupMentionNotAllowed(ChatError):
    """Facts: `name`."""

    sentence = "You are not allowed to mention user group '{name}'."
