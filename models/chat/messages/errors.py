"""Messages: sending, finding, editing, moving and reporting them."""

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


class InvalidMessage(ChatError):
    """Unknown, or not the actor's to read: the two look the same."""

    sentence = "Invalid message(s)"
    advice = "Use ids that `GET /messages` returns to you."


class NothingToChange(ChatError):
    """Neither content, topic nor channel was sent, or none differs."""

    sentence = "Nothing to change"
    advice = "Send what is to be different."


class EditingTurnedOff(ChatError):
    """The organization lets nobody edit messages."""

    sentence = "Your organization has turned off message editing"
    advice = "Send a new message that says it better."


class EditNotAllowed(ChatError):
    """It is somebody else's message."""

    sentence = "You don't have permission to edit this message"
    advice = "Only its sender can change what it says."


class EditTooLate(ChatError):
    """The message is older than messages may be edited."""

    sentence = "The time limit for editing this message has passed"
    advice = "Send a new message that says it better."


class MoveNotAllowed(ChatError):
    """A setting lets only others move messages between topics or channels."""

    sentence = "You don't have permission to move this message"
    advice = "Ask a moderator to move it."


class ResolveNotAllowed(ChatError):
    """A setting lets only others resolve topics of the channel."""

    sentence = "You don't have permission to resolve topics in this channel."
    advice = "Ask a moderator to resolve it."


class TopicEditTooLate(ChatError):
    """The message is older than messages may be moved between topics."""

    sentence = "The time limit for editing this message's topic has passed."
    advice = "Ask a moderator to move it."


class ChannelEditTooLate(ChatError):
    """The message is older than messages may be moved between channels."""

    sentence = "The time limit for editing this message's channel has passed"
    advice = "Ask a moderator to move it."


class MoveTimeLimitExceeded(ChatError):
    """Some messages of a bulk move are too old. Facts: `first_message_id_allowed_to_move`,
    `total_messages_in_topic`, `total_messages_allowed_to_move`.
    """

    code = "MOVE_MESSAGES_TIME_LIMIT_EXCEEDED"
    sentence = (
        "You only have permission to move the {total_messages_allowed_to_move}/"
        "{total_messages_in_topic} most recent messages in this topic."
    )
    advice = "Move from `first_message_id_allowed_to_move` with `change_later`, or ask a moderator."


class DirectMessagesCannotMove(ChatError):
    """A direct message was to go to a channel."""

    sentence = "Direct messages cannot be moved to channels."
    advice = "Send a new message to the channel."


class DirectMessagesHaveNoTopic(ChatError):
    """A direct message was to get a topic."""

    sentence = "Direct messages cannot have topics."
    advice = "Leave out `topic`."


class PropagationWithoutMove(ChatError):
    """`propagate_mode` was sent although nothing moves."""

    sentence = "Invalid propagate_mode without topic edit"
    advice = "Leave it out, or send a new topic or channel."


class ContentAndChannelEdited(ChatError):
    """Content and channel were to change at once."""

    sentence = "Cannot change message content while changing channel"
    advice = "Change them in two requests."


class PreviousContentMismatch(ChatError):
    """Somebody else edited the message first."""

    code = "EXPECTATION_MISMATCH"
    sentence = "'prev_content_sha256' value does not match the expected value."
    advice = (
        "Read the message again, apply the change to what it says now, and send its new SHA-256."
    )


class EditHistoryDisabled(ChatError):
    """The organization shows nobody how messages were changed."""

    sentence = "Message edit history is disabled in this organization"
    advice = "Read the message as it is now."


class ReportingNotEnabled(ChatError):
    """The organization has no channel for reports."""

    sentence = "Message reporting is not enabled in this organization."
    advice = "Write to a moderator instead."


class ExplanationRequired(ChatError):
    """The kind of report `other` came without a description."""

    sentence = "An explanation is required."
    advice = "Send `description`."


class BadNarrow(ChatError):
    """A filter nobody understands. Facts: `desc`."""

    code = "BAD_NARROW"
    sentence = "Invalid narrow operator: {desc}"
    advice = "Correct or leave out the term that `desc` names."
