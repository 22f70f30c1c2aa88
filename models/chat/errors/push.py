"""Push notifications: devices that are not there, and a relay that does not take them."""

from models.chat.errors import ChatError


class NoActivePushDevice(ChatError):
    code = "NO_ACTIVE_PUSH_DEVICE"
    sentence = "No active registered push device"


class AdminActionRequired(ChatError):
    """The relay refuses this server or organization: credentials, plan, registration."""

    code = "ADMIN_ACTION_REQUIRED"
    sentence = (
        "Push notification configuration issue on server, contact the server administrator or "
        "retry later."
    )


class FailedToConnectBouncer(ChatError):
    """No answer of the relay's, or none that can be understood."""

    code = "FAILED_TO_CONNECT_BOUNCER"
    sentence = "Network error while connecting to Zulip push notification service."


class InternalServerErrorOnBouncer(ChatError):
    code = "INTERNAL_SERVER_ERROR_ON_BOUNCER"
    sentence = "Internal server error on Zulip push notification service, retry later."


class PushServiceNotConfigured(ChatError):
    code = "PUSH_SERVICE_NOT_CONFIGURED"
    sentence = "Server is not configured to use push notification service."


class InvalidDeviceId(ChatError):
    """No device, or somebody else's: the two look the same."""

    sentence = "Invalid `device_id`"


class MissingPushFields(ChatError):
    sentence = (
        "Missing parameters: must provide either all push key fields, all token fields, or both."
    )


class InvalidPushKey(ChatError):
    sentence = "Invalid `push_key`"


class InvalidPushKeyId(ChatError):
    sentence = "Invalid push_key_id: Value error, Not a valid unsigned 32-bit integer"


class TokenIdNotBase64(ChatError):
    sentence = "`token_id` is not Base64 encoded"


class NoRegistrationToRotate(ChatError):
    """Facts: `what`, key or token."""

    sentence = "No push registration exists to rotate {what} for."


class RegistrationInProgress(ChatError):
    sentence = "A registration for the device already in progress."
