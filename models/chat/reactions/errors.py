"""Reactions to messages."""

from models.chat.errors import ChatError


class ReactionAlreadyExists(ChatError):
    """The caller has already added this emoji to the message."""

    code = "REACTION_ALREADY_EXISTS"
    sentence = "Reaction already exists."
    advice = "Treat the reaction as added."


class ReactionDoesNotExist(ChatError):
    """The caller has no reaction with this emoji to the message."""

    code = "REACTION_DOES_NOT_EXIST"
    sentence = "Reaction doesn't exist."
    advice = "Treat the reaction as removed."


class NoEmojiNamed(ChatError):
    """The request contains neither the name nor the code of an emoji."""

    sentence = "At least one of the following arguments must be present: emoji_name, emoji_code"
    advice = "Send `emoji_code` and `reaction_type` as the message has them, or `emoji_name`."
