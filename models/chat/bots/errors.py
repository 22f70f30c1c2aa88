"""Bots."""

from models.chat.errors import ChatError


class NoSuchBot(ChatError):
    """No bot of the organization has this id. A person's id gets the same answer."""

    sentence = "No such bot"
    advice = "Use the id of a bot, as `GET /users` returns it."


class BotNameInUse(ChatError):
    """An active user of the organization has this name, in any case."""

    sentence = "Name is already in use."
    advice = "Choose another `full_name`."


class UsernameInUse(ChatError):
    """Another account has the email address that the bot would get."""

    sentence = "Username already in use"
    advice = "Choose another `short_name`."


class OwnerRefused(ChatError):
    """The bot cannot belong to this user. Facts: `problem`."""

    sentence = "Failed to change owner, {problem}"
    advice = "Name an active person who is no guest."
