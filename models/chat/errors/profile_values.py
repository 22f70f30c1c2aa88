"""What people fill into custom profile fields."""

from models.chat.errors import ChatError


class ProfileFieldNotFound(ChatError):
    """Unknown, or another organization's. Facts: `field_id`."""

    sentence = "Field id {field_id} not found."
    advice = "Use an id that `GET /realm/profile_fields` returns."


class FieldNotEditable(ChatError):
    """A field that only administrators fill in."""

    sentence = "You are not allowed to change this field. Contact an administrator to update it."
    advice = "Ask an administrator to fill it in."


class InvalidFieldChoice(ChatError):
    """The field has a list of choices, and this is none of them. Facts: `value`, `name` (the
    field's).
    """

    sentence = "'{value}' is not a valid choice for '{name}'."
    advice = "Send one of the keys in the field's `field_data`."


class UserWithIdIsDeactivated(ChatError):
    """A field of people names somebody who was deactivated. Facts: `user_id`."""

    sentence = "User with ID {user_id} is deactivated"
    advice = "Name somebody else."


class UserIsABot(ChatError):
    """A field of people names a bot. Facts: `user_id`."""

    sentence = "User with ID {user_id} is a bot"
    advice = "Name a person."
