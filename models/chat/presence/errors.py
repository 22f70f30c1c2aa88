"""Presence."""

from models.chat.errors import ChatError


class NoPresenceOfBots(ChatError):
    """The user is a bot."""

    sentence = "Presence is not supported for bot users."
    advice = "Request the presence of a person."


class NoPresence(ChatError):
    """No client of the user has ever reported. Facts: `user_id_or_email`."""

    sentence = "No presence data for {user_id_or_email}"
    advice = "Show the user as offline."
