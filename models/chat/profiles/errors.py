"""Profile fields and the values of users."""

from models.chat.errors import ChatError


class SummaryIsFull(ChatError):
    """The summary of profiles already shows two fields."""

    sentence = "Only 2 custom profile fields can be displayed in the profile summary."
    advice = "Remove another field from the summary first."


class InvalidFieldData(ChatError):
    """The data of the field do not match its type. Facts: `problem`."""

    sentence = "{problem}"
    advice = "Correct the problem in `msg`."


class BlankLabel(ChatError):
    """The field has no name."""

    sentence = "Label cannot be blank."
    advice = "Send a name."


class InvalidFieldType(ChatError):
    """No field type has this number."""

    sentence = "Invalid field type."
    advice = "Use one of the types that the operation's description lists."


class NotForSummary(ChatError):
    """The summary of profiles cannot show fields of this type."""

    sentence = "Field type not supported for display in profile summary."
    advice = "Remove `display_in_profile_summary`."


class NotForMatching(ChatError):
    """Fields of this type cannot be used to find users."""

    sentence = "Field type not supported for user matching."
    advice = "Remove `use_for_user_matching`."


class LabelTaken(ChatError):
    """Another field has this name."""

    sentence = "A field with that label already exists."
    advice = "Choose another name."


class DefaultFieldUnchangeable(ChatError):
    """The outside service defines the name, the hint and the data of this field."""

    sentence = "Default custom field cannot be updated."
    advice = "Change only the visibility of the field and who may edit it."


class InvalidFieldOrder(ChatError):
    """The order does not contain every field of the organization exactly once."""

    sentence = "Invalid order mapping."
    advice = "Send the id of every field exactly once; `GET /realm/profile_fields` lists them."


class ProfileFieldNotFound(ChatError):
    """The field is unknown or belongs to another organization. Facts: `field_id`."""

    sentence = "Field id {field_id} not found."
    advice = "Use an id that `GET /realm/profile_fields` returns."


class FieldNotEditable(ChatError):
    """Only administrators may fill in this field."""

    sentence = "You are not allowed to change this field. Contact an administrator to update it."
    advice = "Ask an administrator to fill in the field."


class InvalidFieldChoice(ChatError):
    """The value is not one of the choices of the field. Facts: `value`, `name` (the field's)."""

    sentence = "'{value}' is not a valid choice for '{name}'."
    advice = "Send one of the keys in the field's `field_data`."


class UserWithIdIsDeactivated(ChatError):
    """A field of users names a deactivated user. Facts: `user_id`."""

    sentence = "User with ID {user_id} is deactivated"
    advice = "Choose another user."


class UserIsABot(ChatError):
    """A field of users names a bot. Facts: `user_id`."""

    sentence = "User with ID {user_id} is a bot"
    advice = "Choose a person."
