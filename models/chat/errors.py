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


class ChannelNameIsEmpty(ChatError):
    sentence = "Channel name can't be empty."


class ChannelNameTooLong(ChatError):
    """Facts: `limit`."""

    sentence = "Channel name too long (limit: {limit} characters)."


class InvalidCharacterInChannelName(ChatError):
    """Facts: `position`, from 1."""

    sentence = "Invalid character in channel name, at position {position}."


class ChannelsDoNotExist(ChatError):
    """Facts: `names`, joined."""

    sentence = "Channel(s) ({names}) do not exist"


class ChannelNotAccessible(ChatError):
    """It exists, but the actor may not subscribe to it. Facts: `name`."""

    sentence = "Unable to access channel ({name})."


class DefaultChannelIsPrivate(ChatError):
    sentence = "A default channel cannot be private."


class WebPublicChannelsDisabled(ChatError):
    sentence = "Web-public channels are not enabled."


class InvalidParameters(ChatError):
    """Each is good, together they make no sense."""

    sentence = "Invalid parameters"


class InvalidChannelFolder(ChatError):
    sentence = "Invalid channel folder ID"


class NotSubscribed(ChatError):
    """Facts: `channel_id`."""

    sentence = "Not subscribed to channel ID {channel_id}"


class UnknownSubscriptionProperty(ChatError):
    """Facts: `property`."""

    sentence = "Unknown subscription property: {property}"


class NotAuthorizedForQuery(ChatError):
    sentence = "User not authorized for this query"


class InvalidChannelName(ChatError):
    """Like `InvalidChannelId`, by name. Facts: `name`."""

    sentence = "Invalid channel name '{name}'"


# --- sending messages -------------------------------------------------------------------------


class StreamDoesNotExist(ChatError):
    """No channel of the organization has this id. Facts: `stream_id`."""

    code = "STREAM_DOES_NOT_EXIST"
    sentence = "Channel with ID '{stream_id}' does not exist"


class StreamNameDoesNotExist(ChatError):
    """No channel of the organization has this name. Facts: `stream`."""

    code = "STREAM_DOES_NOT_EXIST"
    sentence = "Channel '{stream}' does not exist"


class NotAuthorizedToSend(ChatError):
    """Facts: `channel`."""

    sentence = "Not authorized to send to channel '{channel}'"


class MessageIsEmpty(ChatError):
    sentence = "Message must not be empty"


class MessageHasNullBytes(ChatError):
    sentence = "Message must not contain null bytes"


class NoRecipients(ChatError):
    sentence = "Message must have recipients"


class InvalidRecipientId(ChatError):
    """Facts: `user_id`."""

    sentence = "Invalid user ID {user_id}"


class InvalidRecipientEmail(ChatError):
    """Facts: `email`."""

    sentence = "Invalid email '{email}'"


class InvalidRecipientType(ChatError):
    """`to` has a type that this kind of message does not take. Facts: `what`."""

    sentence = "Invalid data type for {what}"


class OneChannelExpected(ChatError):
    sentence = "Expected exactly one channel"


class RecipientDeactivated(ChatError):
    """Facts: `email`."""

    sentence = "'{email}' is no longer using Zulip."


class RecipientsNotAccessible(ChatError):
    """A guest writes to somebody they may not know."""

    sentence = "You do not have permission to access some of the recipients."


class DirectMessagesDisabled(ChatError):
    sentence = "Direct messages are disabled in this organization."


class DirectMessageNotAllowed(ChatError):
    sentence = "This conversation does not include any users who can authorize it."


class DirectMessageInitiationNotAllowed(ChatError):
    sentence = "You do not have permission to initiate direct message conversations."


class MissingTopic(ChatError):
    sentence = "Missing topic"


class InvalidCharacterInTopic(ChatError):
    """Facts: `position`, from 1."""

    sentence = "Invalid character in topic, at position {position}!"


class EmptyTopicNotAllowed(ChatError):
    """The channel wants topics. Facts: `empty_topic_name`."""

    sentence = "Sending messages to {empty_topic_name} is not allowed in this channel."


class TopicsNotAllowed(ChatError):
    """The channel has only the empty topic. Facts: `empty_topic_name`."""

    sentence = "Only {empty_topic_name} is allowed in this channel."


class NewTopicsNotAllowed(ChatError):
    sentence = "You do not have permission to create new topics in this channel."


class StreamWildcardMentionNotAllowed(ChatError):
    code = "STREAM_WILDCARD_MENTION_NOT_ALLOWED"
    sentence = "You do not have permission to use channel wildcard mentions in this channel."


class TopicWildcardMentionNotAllowed(ChatError):
    code = "TOPIC_WILDCARD_MENTION_NOT_ALLOWED"
    sentence = "You do not have permission to use topic wildcard mentions in this topic."


class GroupMentionNotAllowed(ChatError):
    """Facts: `name`."""

    sentence = "You are not allowed to mention user group '{name}'."


# --- reading and changing messages ------------------------------------------------------------


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


# --- narrows and flags ------------------------------------------------------------------------


class BadNarrow(ChatError):
    """A filter nobody understands. Facts: `desc`."""

    code = "BAD_NARROW"
    sentence = "Invalid narrow operator: {desc}"


class InvalidNarrow(ChatError):
    """A filter of the wrong shape. Facts: `index`, `problem`."""

    sentence = "Invalid narrow[{index}]: Value error, {problem}"


class InvalidAnchor(ChatError):
    sentence = "Invalid anchor"


class AnchorMustBeAtEnd(ChatError):
    sentence = "The anchor can only be excluded at an end of the range"


class TooManyMessagesRequested(ChatError):
    """Facts: `most`."""

    sentence = "Too many messages requested (maximum {most})."


class InvalidFlag(ChatError):
    """Facts: `flag`."""

    sentence = "Invalid flag: '{flag}'"


class FlagNotEditable(ChatError):
    """Facts: `flag`."""

    sentence = "Flag not editable: '{flag}'"


class InvalidFlagOperation(ChatError):
    """Facts: `op`."""

    sentence = "Invalid message flag operation: '{op}'"


# --- scheduled messages and idempotency keys --------------------------------------------------


class ScheduledMessageDoesNotExist(ChatError):
    """Unknown, or somebody else's: the two look the same."""

    sentence = "Scheduled message does not exist"


class ScheduledMessageAlreadySent(ChatError):
    sentence = "Scheduled message was already sent"


class DeliveryTimeNotInFuture(ChatError):
    sentence = "Scheduled delivery time must be in the future."


class RecipientRequired(ChatError):
    sentence = "Recipient required when updating type of scheduled message."


class TopicRequired(ChatError):
    sentence = "Topic required when updating scheduled message type to channel."


class IdempotencyKeyReused(ChatError):
    """The key was used for a different request."""

    code = "IDEMPOTENCY_KEY_REUSED"
    sentence = (
        "This Idempotency-Key was used for a different request; use a fresh key for each request."
    )


class IdempotencyInProgress(ChatError):
    """The first request with this key has not finished within the lock timeout."""

    code = "IDEMPOTENCY_IN_PROGRESS"
    sentence = (
        "A request with this Idempotency-Key is still in progress; send it again in a moment."
    )
