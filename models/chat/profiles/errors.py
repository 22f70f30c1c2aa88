"""Profile fields and the values of users."""

from models.chat.errors import ChatError


class SummaryIsFull(ChatError):
    """Two fields are in the summary of profiles already."""

    sentence = "Only 2 custom profile fields can be displayed in the profile summary."
    advice = "Take another field out of the summary first."


class InvalidFieldData(ChatError):
    """The data of the field do not fit its type. Facts: `problem`."""

    sentence = "{problem}"
    advice = "Correct what `msg` says."


class BlankLabel(ChatError):
    """The field has no name."""

    sentence = "Label cannot be blank."
    advice = "Send a name."


class InvalidFieldType(ChatError):
    """There is no type of fields of this number."""

    sentence = "Invalid field type."
    advice = "Use one of the types that the operation's description lists."


class NotForSummary(ChatError):
    """Fields of this type are not shown in the summary of profiles."""

    sentence = "Field type not supported for display in profile summary."
    advice = "Leave out `display_in_profile_summary`."


class NotForMatching(ChatError):
    """People cannot be found by fields of this type."""

    sentence = "Field type not supported for user matching."
    advice = "Leave out `use_for_user_matching`."


class LabelTaken(ChatError):
    """Another field has the name."""

    sentence = "A field with that label already exists."
    advice = "Choose another name."


class DefaultFieldUnchangeable(ChatError):
    """Name, hint and data of a known outside service are the service's."""

    sentence = "Default custom field cannot be updated."
    advice = "Change only whether it is shown and who may edit it."


class InvalidFieldOrder(ChatError):
    """Not every field of the organization is in the order."""

    sentence = "Invalid order mapping."
    advice = "Send every field's id exactly once; `GET /realm/profile_fields` lists them."


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
