"""What people fill into custom profile fields."""

from models.chat.errors import ChatError


class ProfileFieldNotFound(ChatError):
    """Unknown, or another organization's. Facts: `field_id`."""

    sentence = "Field id {field_id} not found."


class FieldNotEditable(ChatError):
    """A field that only administrators fill in."""

    sentence = "You are not allowed to change this field. Contact an administrator to update it."


class InvalidFieldChoice(ChatError):
    """Facts: `value`, `name` (the field's)."""

    sentence = "'{value}' is not a valid choice for '{name}'."


class UserWithIdIsDeactivated(ChatError):
    """Facts: `user_id`."""

    sentence = "User with ID {user_id} is deactivated"


class UserIsABot(ChatError):
    """Facts: `user_id`."""

    sentence = "User with ID {user_id} is a bot"
