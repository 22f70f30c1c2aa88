"""Sending messages: recipients, topics, mentions."""

from models.chat.errors import ChatError


class StreamDoesNotExist(ChatError):
    """No channel of the organization has this id. Facts: `stream_id`."""

    code = "STREAM_DOES_NOT_EXIST"
    sentence = "Channel with ID '{stream_id}' does not exist"
    advice = "Use a `stream_id` that `GET /streams` returns."


class StreamNameDoesNotExist(ChatError):
    """No channel of the organization has this name. Facts: `stream`."""

    code = "STREAM_DOES_NOT_EXIST"
    sentence = "Channel '{stream}' does not exist"
    advice = "Use a name that `GET /streams` returns, or create the channel."


class NotAuthorizedToSend(ChatError):
    """A setting lets only others write there, or the channel is archived. Facts: `channel`."""

    sentence = "Not authorized to send to channel '{channel}'"
    advice = "Subscribe to the channel, or ask its administrators."


class MessageIsEmpty(ChatError):
    """The content is empty, or nothing but spaces."""

    sentence = "Message must not be empty"
    advice = "Send some content."


class MessageHasNullBytes(ChatError):
    """The content holds NUL characters."""

    sentence = "Message must not contain null bytes"
    advice = "Leave them out."


class NoRecipients(ChatError):
    """A direct message is to nobody."""

    sentence = "Message must have recipients"
    advice = "Send user ids or emails as `to`."


class InvalidRecipientId(ChatError):
    """No user of the organization has this id. Facts: `user_id`."""

    sentence = "Invalid user ID {user_id}"
    advice = "Use an id that `GET /users` returns."


class InvalidRecipientEmail(ChatError):
    """No user of the organization has this email. Facts: `email`."""

    sentence = "Invalid email '{email}'"
    advice = "Use an email that `GET /users` returns."


class InvalidRecipientType(ChatError):
    """`to` has a type that this kind of message does not take. Facts: `what`."""

    sentence = "Invalid data type for {what}"
    advice = "Send a channel's id or name, or an array of users' ids or of their emails."


class OneChannelExpected(ChatError):
    """`to` names several channels, or none."""

    sentence = "Expected exactly one channel"
    advice = "Send one request for each channel."


class RecipientDeactivated(ChatError):
    """Somebody the message is to was deactivated. Facts: `email`."""

    sentence = "'{email}' is no longer using Zulip."
    advice = "Leave them out."


class DirectMessagesDisabled(ChatError):
    """The organization lets nobody write direct messages."""

    sentence = "Direct messages are disabled in this organization."
    advice = "Write to a channel."


class DirectMessageNotAllowed(ChatError):
    """Nobody among you may take part in direct messages."""

    sentence = "This conversation does not include any users who can authorize it."
    advice = "Add somebody to the conversation who may, or write to a channel."


class DirectMessageInitiationNotAllowed(ChatError):
    """You may answer direct messages, but not begin a conversation."""

    sentence = "You do not have permission to initiate direct message conversations."
    advice = "Wait to be written to, or write to a channel."


class MissingTopic(ChatError):
    """A message to a channel came without a topic, and the organization wants one."""

    sentence = "Missing topic"
    advice = "Send `topic`."


class InvalidCharacterInTopic(ChatError):
    """The topic holds a character that is not printed. Facts: `position`, from 1."""

    sentence = "Invalid character in topic, at position {position}!"
    advice = "Leave out the character at that position."


class EmptyTopicNotAllowed(ChatError):
    """The channel wants topics. Facts: `empty_topic_name`."""

    sentence = "Sending messages to {empty_topic_name} is not allowed in this channel."
    advice = "Send a `topic` that is not empty."


class TopicsNotAllowed(ChatError):
    """The channel has only the empty topic. Facts: `empty_topic_name`."""

    sentence = "Only {empty_topic_name} is allowed in this channel."
    advice = "Leave out `topic`, or send an empty one."


class NewTopicsNotAllowed(ChatError):
    """A setting of the channel lets only others begin topics."""

    sentence = "You do not have permission to create new topics in this channel."
    advice = "Write to a topic that exists."


class StreamWildcardMentionNotAllowed(ChatError):
    """`@**all**` would reach more people than a setting lets you."""

    code = "STREAM_WILDCARD_MENTION_NOT_ALLOWED"
    sentence = "You do not have permission to use channel wildcard mentions in this channel."
    advice = "Mention people or groups, or ask a moderator."


class TopicWildcardMentionNotAllowed(ChatError):
    """`@**topic**` would reach more people than a setting lets you."""

    code = "TOPIC_WILDCARD_MENTION_NOT_ALLOWED"
    sentence = "You do not have permission to use topic wildcard mentions in this topic."
    advice = "Mention people or groups, or ask a moderator."


class GroupMentionNotAllowed(ChatError):
    """A setting of the group lets only others mention it. Facts: `name`."""

    sentence = "You are not allowed to mention user group '{name}'."
    advice = "Mention people, or write the group's name silently: `@_*name*`."
