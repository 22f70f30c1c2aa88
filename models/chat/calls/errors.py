"""Video calls: no vendor, no authorization of the user's there, or a vendor that fails.

The document's paths speak of a vendor; the reference's path names its vendor, and so do the texts
that its clients match.
"""

from models.chat.errors import ChatError
from models.chat.identity.errors import Unauthorized


class VendorNotConfigured(ChatError):
    """The server has no video call vendor."""

    sentence = "Video call credentials have not been configured"
    advice = "Ask the operator of the server to configure a vendor."


class InvalidVendorToken(ChatError):
    """The user has not authorized the server at the vendor, or the authorization has ended."""

    code = "INVALID_VENDOR_TOKEN"
    sentence = "Invalid video call access token"
    advice = (
        "Have the user open the link of `GET /calls/vendor/register` in a browser, then try again."
    )


class CallNotCreated(ChatError):
    """The vendor failed to create the call."""

    sentence = "Failed to create video call"
    advice = "Try again in a moment. If the failure lasts, use another way to call."


class ZoomNotConfigured(VendorNotConfigured):
    """The server has no video call vendor. This is the error of the path that names the vendor."""

    sentence = "Zoom credentials have not been configured"


class InvalidZoomToken(InvalidVendorToken):
    """The same as `INVALID_VENDOR_TOKEN`, for the path that names the vendor."""

    code = "INVALID_ZOOM_TOKEN"
    sentence = "Invalid Zoom access token"


class ZoomCallNotCreated(CallNotCreated):
    """The vendor failed to create the call. This is the error of the path that names the vendor."""

    sentence = "Failed to create Zoom call"


class InvalidVendorSession(ChatError):
    """The authorization was not started by this user in this browser, or it has expired."""

    sentence = "Invalid video call session identifier"
    advice = "Start the authorization again in the same browser."


class InvalidVendorCredentials(ChatError):
    """The vendor refused the authorization code and issued no tokens."""

    sentence = "Invalid video call credentials"
    advice = "Start the authorization again, and grant the rights that the vendor lists."


class NotFromVendor(Unauthorized):
    """The notice does not carry the token that the vendor and this server share."""

    sentence = "This notice is not the vendor's"
    advice = (
        "Clients cannot fix this. The operator sets the same token at the server and at the vendor."
    )
