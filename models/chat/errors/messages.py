"""Reading, changing, moving, deleting and reporting messages."""

from models.chat.errors import ChatError


class InvalidMessage(ChatError):
    """Unknown, or not the actor's to read: the two look the same."""

    sentence = "Invalid message(s)"
    advice = "Use ids that `GET /messages` returns to you."


class MessageAlreadyDeleted(ChatError):
    """Somebody deleted the message first."""

    sentence = "Message already deleted"
    advice = "Nothing is left to do."


class DeletionNotAllowed(ChatError):
    """A setting of the organization or the channel lets only others delete it."""

    sentence = "You don't have permission to delete this message"
    advice = "Ask an administrator or a moderator to delete it."


class DeletionTooLate(ChatError):
    """The message is older than one's own messages may be deleted."""

    sentence = "The time limit for deleting this message has passed"
    advice = "Ask an administrator or a moderator to delete it."


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
