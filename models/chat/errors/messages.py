"""Reading, changing, moving, deleting and reporting messages."""

from models.chat.errors import ChatError


class InvalidMessage(ChatError):
    """Unknown, or not the actor's to read: the two look the same."""

    sentence = "Invalid message(s)"


class MessageAlreadyDeleted(ChatError):
    sentence = "Message already deleted"


class DeletionNotAllowed(ChatError):
    sentence = "You don't have permission to delete this message"


class DeletionTooLate(ChatError):
    sentence = "The time limit for deleting this message has passed"


class NothingToChange(ChatError):
    sentence = "Nothing to change"


class EditingTurnedOff(ChatError):
    sentence = "Your organization has turned off message editing"


class EditNotAllowed(ChatError):
    sentence = "You don't have permission to edit this message"


class EditTooLate(ChatError):
    sentence = "The time limit for editing this message has passed"


class MoveNotAllowed(ChatError):
    sentence = "You don't have permission to move this message"


class ResolveNotAllowed(ChatError):
    sentence = "You don't have permission to resolve topics in this channel."


class TopicEditTooLate(ChatError):
    sentence = "The time limit for editing this message's topic has passed."


class ChannelEditTooLate(ChatError):
    sentence = "The time limit for editing this message's channel has passed"


class MoveTimeLimitExceeded(ChatError):
    """Some messages of a bulk move are too old. Facts: `first_message_id_allowed_to_move`,
    `total_messages_in_topic`, `total_messages_allowed_to_move`.
    """

    code = "MOVE_MESSAGES_TIME_LIMIT_EXCEEDED"
    sentence = (
        "You only have permission to move the {total_messages_allowed_to_move}/"
        "{total_messages_in_topic} most recent messages in this topic."
    )


class DirectMessagesCannotMove(ChatError):
    sentence = "Direct messages cannot be moved to channels."


class DirectMessagesHaveNoTopic(ChatError):
    sentence = "Direct messages cannot have topics."


class PropagationWithoutMove(ChatError):
    sentence = "Invalid propagate_mode without topic edit"


class ContentAndChannelEdited(ChatError):
    sentence = "Cannot change message content while changing channel"


class PreviousContentMismatch(ChatError):
    """Somebody else edited the message first."""

    code = "EXPECTATION_MISMATCH"
    sentence = "'prev_content_sha256' value does not match the expected value."


class EditHistoryDisabled(ChatError):
    sentence = "Message edit history is disabled in this organization"


class ReportingNotEnabled(ChatError):
    sentence = "Message reporting is not enabled in this organization."


class ExplanationRequired(ChatError):
    sentence = "An explanation is required."
