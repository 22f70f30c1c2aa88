"""Push notifications: devices that are not there, and a relay that does not take them."""

from models.chat.errors import ChatError


class NoActivePushDevice(ChatError):
    """The caller has no device that is registered for notifications."""

    code = "NO_ACTIVE_PUSH_DEVICE"
    sentence = "No active registered push device"
    advice = "Register the device first, with `POST /mobile_push/register`."


class AdminActionRequired(ChatError):
    """The push relay refuses this server or organization because of its credentials, plan or
    registration.
    """

    code = "ADMIN_ACTION_REQUIRED"
    sentence = (
        "Push notification configuration issue on server, contact the server administrator or "
        "retry later."
    )
    advice = "Tell the operator of the server. A retry helps only after the operator has acted."


class FailedToConnectBouncer(ChatError):
    """The push relay did not answer, or its answer is invalid."""

    code = "FAILED_TO_CONNECT_BOUNCER"
    sentence = "Network error while connecting to Zulip push notification service."
    advice = "Try again in a moment."


class InternalServerErrorOnBouncer(ChatError):
    """The push relay reported an internal error."""

    code = "INTERNAL_SERVER_ERROR_ON_BOUNCER"
    sentence = "Internal server error on Zulip push notification service, retry later."
    advice = "Try again in a moment."


class PushServiceNotConfigured(ChatError):
    """The server has no push relay."""

    code = "PUSH_SERVICE_NOT_CONFIGURED"
    sentence = "Server is not configured to use push notification service."
    advice = "Ask the operator of the server to configure a push relay."


class InvalidDeviceId(ChatError):
    """The device is unknown or belongs to another user. The answer is the same for both."""

    sentence = "Invalid `device_id`"
    advice = "Register the device, and use the `device_id` of the answer."


class MissingPushFields(ChatError):
    """The request contains only some fields of the key or of the token."""

    sentence = (
        "Missing parameters: must provide either all push key fields, all token fields, or both."
    )
    advice = "Send all fields of the key, all fields of the token, or both."


class InvalidPushKey(ChatError):
    """The key cannot be used to encrypt notifications."""

    sentence = "Invalid `push_key`"
    advice = "Send the Base64 form of the byte 0x31 followed by the 32 bytes of the key."


class InvalidPushKeyId(ChatError):
    """The id of the key is not an unsigned 32-bit integer."""

    sentence = "Invalid push_key_id: Value error, Not a valid unsigned 32-bit integer"
    advice = "Send a number from 0 to 4294967295."


class TokenIdNotBase64(ChatError):
    """The id of the token is not Base64."""

    sentence = "`token_id` is not Base64 encoded"
    advice = "Send the Base64 form of the 8 bytes."


class NoRegistrationToRotate(ChatError):
    """The device has no registration whose key or token could be replaced. Facts: `what`, key or
    token.
    """

    sentence = "No push registration exists to rotate {what} for."
    advice = "Register the device with all fields first."


class RegistrationInProgress(ChatError):
    """The push relay has not answered the last registration yet."""

    sentence = "A registration for the device already in progress."
    advice = "Wait until the registration has succeeded or failed."
