"""Sending messages: content, recipients, topics, mentions and reports."""

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
    """A setting does not permit the caller to write to the channel, or the channel is archived.
    Facts: `channel`.
    """

    sentence = "Not authorized to send to channel '{channel}'"
    advice = "Subscribe to the channel, or ask its administrators."


class MessageIsEmpty(ChatError):
    """The content is empty or contains only spaces."""

    sentence = "Message must not be empty"
    advice = "Send some content."


class MessageHasNullBytes(ChatError):
    """The content contains NUL characters."""

    sentence = "Message must not contain null bytes"
    advice = "Remove the NUL characters from `content`."


class NoRecipients(ChatError):
    """The direct message has no recipient."""

    sentence = "Message must have recipients"
    advice = "Send user ids or emails as `to`."


class TooManyRecipients(ChatError):
    """The direct message has more recipients than a conversation permits. Facts: `most`."""

    sentence = "Too many recipients (maximum {most})."
    advice = "Send fewer users, or write to a channel. Nothing was sent."


class InvalidRecipientId(ChatError):
    """No user of the organization has this id. Facts: `user_id`."""

    sentence = "Invalid user ID {user_id}"
    advice = "Use an id that `GET /users` returns."


class InvalidRecipientEmail(ChatError):
    """No user of the organization has this email. Facts: `email`."""

    sentence = "Invalid email '{email}'"
    advice = "Use an email that `GET /users` returns."


class OneChannelExpected(ChatError):
    """`to` does not contain exactly one channel."""

    sentence = "Expected exactly one channel"
    advice = "Send one request for each channel."


class RecipientDeactivated(ChatError):
    """A recipient is deactivated. Facts: `email`."""

    sentence = "'{email}' is no longer using Zulip."
    advice = "Remove the deactivated users from `to`."


class DirectMessagesDisabled(ChatError):
    """The organization does not permit direct messages."""

    sentence = "Direct messages are disabled in this organization."
    advice = "Write to a channel."


class DirectMessageNotAllowed(ChatError):
    """No participant is allowed to take part in direct messages."""

    sentence = "This conversation does not include any users who can authorize it."
    advice = "Add a participant who is allowed to, or write to a channel."


class DirectMessageInitiationNotAllowed(ChatError):
    """The caller may reply to direct messages, but may not start a conversation."""

    sentence = "You do not have permission to initiate direct message conversations."
    advice = "Wait until another participant writes, or write to a channel."


class MissingTopic(ChatError):
    """The organization requires a topic, and the message to a channel has none."""

    sentence = "Missing topic"
    advice = "Send `topic`."


class EmptyTopicNotAllowed(ChatError):
    """The channel requires a topic. Facts: `empty_topic_name`."""

    sentence = "Sending messages to {empty_topic_name} is not allowed in this channel."
    advice = "Send a `topic` that is not empty."


class TopicsNotAllowed(ChatError):
    """The channel permits only the empty topic. Facts: `empty_topic_name`."""

    sentence = "Only {empty_topic_name} is allowed in this channel."
    advice = "Remove `topic`, or send an empty one."


class NewTopicsNotAllowed(ChatError):
    """A setting of the channel does not permit the caller to start topics."""

    sentence = "You do not have permission to create new topics in this channel."
    advice = "Write to an existing topic."


class StreamWildcardMentionNotAllowed(ChatError):
    """A setting does not permit the caller to mention `@**all**` in a channel of this size."""

    code = "STREAM_WILDCARD_MENTION_NOT_ALLOWED"
    sentence = "You do not have permission to use channel wildcard mentions in this channel."
    advice = "Mention people or groups, or ask a moderator."


class TopicWildcardMentionNotAllowed(ChatError):
    """A setting does not permit the caller to mention `@**topic**` in a topic with this many
    participants.
    """

    code = "TOPIC_WILDCARD_MENTION_NOT_ALLOWED"
    sentence = "You do not have permission to use topic wildcard mentions in this topic."
    advice = "Mention people or groups, or ask a moderator."


class GroupMentionNotAllowed(ChatError):
    """A setting of the group does not permit the caller to mention it. Facts: `name`."""

    sentence = "You are not allowed to mention user group '{name}'."
    advice = "Mention people, or write the group's name silently: `@_*name*`."


class ReportingNotEnabled(ChatError):
    """The organization has no channel for reports."""

    sentence = "Message reporting is not enabled in this organization."
    advice = "Write to a moderator instead."


class ExplanationRequired(ChatError):
    """A report of the type `other` requires a description."""

    sentence = "An explanation is required."
    advice = "Send `description`."
