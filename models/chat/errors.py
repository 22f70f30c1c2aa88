"""What can go wrong in the chat service: one class per failure, with its wire code and its text.

Clients match the texts, so they are the reference's. A class that says nothing else is a plain
`BAD_REQUEST`; handlers/chat/errors.py gives status and extra keys. Facts fill the text.
"""

from models.errors import DomainError


class ChatError(DomainError):
    """A refusal. Subclasses without a code of their own go out as 400 BAD_REQUEST."""

    code = "BAD_REQUEST"


# --- who is asking ----------------------------------------------------------------------------


class NonexistentSubdomain(ChatError):
    """No organization lives at the request's host."""

    code = "NONEXISTENT_SUBDOMAIN"
    sentence = "Invalid subdomain"


class Unauthorized(ChatError):
    """Credentials are missing, malformed, unknown or no longer good."""

    code = "UNAUTHORIZED"


class NotLoggedIn(Unauthorized):
    sentence = "Not logged in: API authentication or user session required"


class InvalidAuthorizationHeader(Unauthorized):
    sentence = "Invalid authorization header for basic auth"


class MalformedApiKey(Unauthorized):
    sentence = "Malformed API key"


class InvalidApiKey(Unauthorized):
    """Unknown, or somebody else's: the two look the same."""

    sentence = "Invalid API key"


class AccountDeactivated(Unauthorized):
    sentence = "Account is deactivated"


class RealmDeactivated(Unauthorized):
    sentence = "This organization has been deactivated"


class WrongSubdomain(Unauthorized):
    """A good key, used at another organization's host."""

    sentence = "Account is not associated with this subdomain"


class NotForWebhookBots(Unauthorized):
    sentence = "This API is not available to incoming webhook bots."


class BasicAuthenticationRequired(ChatError):
    """Another Authorization scheme. Not a 401: the reference refuses it before it asks who."""

    sentence = "This endpoint requires HTTP basic authentication."


class AuthenticationFailed(ChatError):
    """Signing in with an unknown name or a wrong password: the two look the same."""

    code = "AUTHENTICATION_FAILED"
    sentence = "Your username or password is incorrect"


class SignInDeactivated(ChatError):
    code = "USER_DEACTIVATED"
    sentence = "Account is deactivated"


class SignInRealmDeactivated(ChatError):
    code = "REALM_DEACTIVATED"
    sentence = "This organization has been deactivated"


class NotInProduction(ChatError):
    sentence = "Endpoint not available in production."


class InvalidEmail(ChatError):
    sentence = "Enter a valid email address."


# --- who may ----------------------------------------------------------------------------------


class UnauthorizedPrincipal(ChatError):
    """The operation wants a higher role."""

    code = "UNAUTHORIZED_PRINCIPAL"


class MustBeOwner(UnauthorizedPrincipal):
    sentence = "Must be an organization owner"


class MustBeAdministrator(UnauthorizedPrincipal):
    sentence = "Must be an organization administrator"


class MustBeMember(UnauthorizedPrincipal):
    sentence = "Must be an organization member"


class InsufficientPermission(ChatError):
    sentence = "Insufficient permission"


class NotAllowedForGuests(ChatError):
    sentence = "Not allowed for guest users"


class NotForBots(ChatError):
    sentence = "This endpoint does not accept bot requests."


# --- parameters whose rules a schema cannot say -----------------------------------------------


class InvalidParameter(ChatError):
    """Facts: `name`, and `problem` such as `is not an integer`."""

    sentence = "{name} {problem}"


class InvalidChoice(ChatError):
    """Facts: `name`."""

    sentence = "Invalid {name}: Value error, Not in the list of possible values"


class MissingParameter(ChatError):
    """Facts: `var_name`."""

    code = "REQUEST_VARIABLE_MISSING"
    sentence = "Missing '{var_name}' argument"


class BadParameter(ChatError):
    """Facts: `var_name`, `bad_value`. Only where the reference still has a converter."""

    code = "REQUEST_VARIABLE_INVALID"
    sentence = "Bad value for '{var_name}': {bad_value}"


class ConfusingParameters(ChatError):
    """Two spellings of one parameter were sent. Facts: `var_name1`, `var_name2`."""

    code = "REQUEST_CONFUSING_VAR"
    sentence = "Can't decide between '{var_name1}' and '{var_name2}' arguments"


# --- people and groups ------------------------------------------------------------------------


class NoSuchUser(ChatError):
    """Unknown, another organization's, or not to be found this way by the one who asks."""

    sentence = "No such user"


class UserIsDeactivated(ChatError):
    sentence = "User is deactivated"


class InvalidUserId(ChatError):
    """Facts: `user_id`."""

    sentence = "Invalid user ID: {user_id}"


class NoNewStatus(ChatError):
    sentence = "Client did not pass any new values."


class EmojiCodeWithoutName(ChatError):
    sentence = "Client must pass emoji_name if they pass either emoji_code or reaction_type."


class EmojiDoesNotExist(ChatError):
    """Facts: `name`."""

    sentence = "Emoji '{name}' does not exist"


class InvalidEmoji(ChatError):
    """Name, code and type of an emoji do not fit together. Facts: `what`."""

    sentence = "Invalid {what}."


class EmailInUse(ChatError):
    """Facts: `email`."""

    sentence = "Email '{email}' already in use"


class NameTooShort(ChatError):
    sentence = "Name too short!"


class NameTooLong(ChatError):
    sentence = "Name too long!"


class InvalidCharactersInName(ChatError):
    sentence = "Invalid characters in name!"


class InvalidNameFormat(ChatError):
    """A name that ends like a mention's `|id`."""

    sentence = "Invalid format!"


class InvalidUserGroup(ChatError):
    """Unknown, another organization's, or an anonymous one named by its id."""

    sentence = "Invalid user group"


class UserGroupDeactivated(ChatError):
    sentence = "User group is deactivated."


class UserGroupExists(ChatError):
    """Facts: `name`."""

    sentence = "User group '{name}' already exists."


class InvalidUserGroupName(ChatError):
    """Facts: `problem`."""

    sentence = "{problem}"


class GroupNotAllowed(ChatError):
    """A system group that a setting does not take. Facts: `setting`, `group`."""

    sentence = "'{setting}' setting cannot be set to '{group}' group."


class ExpectedValueMismatch(ChatError):
    """Somebody else changed the setting first (the `old` value is not the stored one)."""

    code = "EXPECTATION_MISMATCH"
    sentence = "'old' value does not match the expected value."


# --- organizations ----------------------------------------------------------------------------


class HostInUse(ChatError):
    """Facts: `host`."""

    sentence = "An organization already lives at {host}; choose another host."


class InvalidHost(ChatError):
    """Facts: `host`."""

    sentence = "{host} is not a host name; write it without scheme, port and path."


class InvalidRealmName(ChatError):
    sentence = "Give the organization a name of 1 to 40 characters."


class RealmDoesNotExist(ChatError):
    """Facts: `realm`."""

    sentence = "There is no organization {realm}; use the realm_id that create-realm printed."


class UnknownRealmSetting(ChatError):
    """Facts: `name`, `hint`."""

    sentence = "{name} is not a setting of an organization: {hint}"


# --- channels ---------------------------------------------------------------------------------


class InvalidChannelId(ChatError):
    """Unknown, another organization's, or one that may not be seen: all the same."""

    sentence = "Invalid channel ID"


class InvalidChannelName(ChatError):
    """Like `InvalidChannelId`, by name. Facts: `name`."""

    sentence = "Invalid channel name '{name}'"
