"""Editing messages: their content, topic, channel and history."""

from models.chat.errors import ChatError


class EditingTurnedOff(ChatError):
    """The organization does not permit edits of messages."""

    sentence = "Your organization has turned off message editing"
    advice = "Send a new message instead."


class EditNotAllowed(ChatError):
    """The caller is not the sender of the message."""

    sentence = "You don't have permission to edit this message"
    advice = "Only the sender can change the content of a message."


class EditTooLate(ChatError):
    """The message is older than the time limit for edits."""

    sentence = "The time limit for editing this message has passed"
    advice = "Send a new message instead."


class MoveNotAllowed(ChatError):
    """A setting does not permit the caller to move messages between topics or channels."""

    sentence = "You don't have permission to move this message"
    advice = "Ask a moderator to move the message."


class ResolveNotAllowed(ChatError):
    """A setting does not permit the caller to resolve topics of the channel."""

    sentence = "You don't have permission to resolve topics in this channel."
    advice = "Ask a moderator to resolve the topic."


class TopicEditTooLate(ChatError):
    """The message is older than the time limit for moves between topics."""

    sentence = "The time limit for editing this message's topic has passed."
    advice = "Ask a moderator to move the message."


class ChannelEditTooLate(ChatError):
    """The message is older than the time limit for moves between channels."""

    sentence = "The time limit for editing this message's channel has passed"
    advice = "Ask a moderator to move the message."


class MoveTimeLimitExceeded(ChatError):
    """Some messages of the move are older than the time limit. Facts:
    `first_message_id_allowed_to_move`, `total_messages_in_topic`, `total_messages_allowed_to_move`.
    """

    code = "MOVE_MESSAGES_TIME_LIMIT_EXCEEDED"
    sentence = (
        "You only have permission to move the {total_messages_allowed_to_move}/"
        "{total_messages_in_topic} most recent messages in this topic."
    )
    advice = "Move from `first_message_id_allowed_to_move` with `change_later`, or ask a moderator."


class DirectMessagesCannotMove(ChatError):
    """A direct message cannot move to a channel."""

    sentence = "Direct messages cannot be moved to channels."
    advice = "Send a new message to the channel."


class DirectMessagesHaveNoTopic(ChatError):
    """A direct message cannot have a topic."""

    sentence = "Direct messages cannot have topics."
    advice = "Remove `topic`."


class PropagationWithoutMove(ChatError):
    """The request contains `propagate_mode`, but no new topic or channel."""

    sentence = "Invalid propagate_mode without topic edit"
    advice = "Remove `propagate_mode`, or send a new topic or channel."


class ContentAndChannelEdited(ChatError):
    """One request cannot change both the content and the channel."""

    sentence = "Cannot change message content while changing channel"
    advice = "Change the content and the channel in two requests."


class PreviousContentMismatch(ChatError):
    """Another request edited the message first."""

    code = "EXPECTATION_MISMATCH"
    sentence = "'prev_content_sha256' value does not match the expected value."
    advice = (
        "Read the message again, apply the change to its current content, and send the SHA-256 "
        "of that content."
    )


class EditHistoryDisabled(ChatError):
    """The organization hides the edit history of messages."""

    sentence = "Message edit history is disabled in this organization"
    advice = "Read the current message."


class WidgetNotEditable(ChatError):
    """The message is a poll or a to-do list, whose content cannot be edited."""

    sentence = "Widgets cannot be edited."
    advice = "Change its question or its title with `POST /submessage`, or send another message."
