"""Push notifications: devices that are not there, and a relay that does not take them."""

from models.chat.errors import ChatError


class NoActivePushDevice(ChatError):
    """No device of yours is registered for notifications."""

    code = "NO_ACTIVE_PUSH_DEVICE"
    sentence = "No active registered push device"
    advice = "Register the device first, with `POST /mobile_push/register`."


class AdminActionRequired(ChatError):
    """The relay refuses this server or organization: credentials, plan, registration."""

    code = "ADMIN_ACTION_REQUIRED"
    sentence = (
        "Push notification configuration issue on server, contact the server administrator or "
        "retry later."
    )
    advice = "Tell the operator of the server; trying again helps only after they have acted."


class FailedToConnectBouncer(ChatError):
    """No answer of the relay's, or none that can be understood."""

    code = "FAILED_TO_CONNECT_BOUNCER"
    sentence = "Network error while connecting to Zulip push notification service."
    advice = "Try again in a moment."


class InternalServerErrorOnBouncer(ChatError):
    """The relay answered that it has failed."""

    code = "INTERNAL_SERVER_ERROR_ON_BOUNCER"
    sentence = "Internal server error on Zulip push notification service, retry later."
    advice = "Try again in a moment."


class PushServiceNotConfigured(ChatError):
    """The server has no push relay."""

    code = "PUSH_SERVICE_NOT_CONFIGURED"
    sentence = "Server is not configured to use push notification service."
    advice = "Ask the operator of the server to configure one."


class InvalidDeviceId(ChatError):
    """No device, or somebody else's: the two look the same."""

    sentence = "Invalid `device_id`"
    advice = "Register the device, and use the `device_id` that it gets."


class MissingPushFields(ChatError):
    """Some but not all fields of the key, or of the token, were sent."""

    sentence = (
        "Missing parameters: must provide either all push key fields, all token fields, or both."
    )
    advice = "Send all fields of the key, all of the token, or both."


class InvalidPushKey(ChatError):
    """The key is not one that notifications can be sealed with."""

    sentence = "Invalid `push_key`"
    advice = "Send the Base64 form of the byte 0x31 and 32 bytes of key."


class InvalidPushKeyId(ChatError):
    """The id of the key is not a number of 32 bits."""

    sentence = "Invalid push_key_id: Value error, Not a valid unsigned 32-bit integer"
    advice = "Send a number from 0 to 4294967295."


class TokenIdNotBase64(ChatError):
    """The id of the token cannot be decoded."""

    sentence = "`token_id` is not Base64 encoded"
    advice = "Send the Base64 form of the 8 bytes."


class NoRegistrationToRotate(ChatError):
    """A new key or token came before there was an old one. Facts: `what`, key or token."""

    sentence = "No push registration exists to rotate {what} for."
    advice = "Register the device with all fields first."


class RegistrationInProgress(ChatError):
    """The relay has not yet answered to the last registration."""

    sentence = "A registration for the device already in progress."
    advice = "Wait until the device is registered or has failed."
