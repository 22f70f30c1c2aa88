"""Video calls: no vendor, no authorization of the user's there, or a vendor that fails.

The document's paths speak of a vendor; the reference's path names its vendor, and so do the texts
that its clients match.
"""

from models.chat.errors import ChatError
from models.chat.identity.errors import Unauthorized


class VendorNotConfigured(ChatError):
    """The server has no vendor of video calls."""

    sentence = "Video call credentials have not been configured"
    advice = "Ask the operator of the server to configure one."


class InvalidVendorToken(ChatError):
    """The user has authorized nothing, or no longer: they have to do it (again)."""

    code = "INVALID_VENDOR_TOKEN"
    sentence = "Invalid video call access token"
    advice = (
        "Have the user open the link of `GET /calls/vendor/register` in a browser, then try again."
    )


class CallNotCreated(ChatError):
    """The vendor failed."""

    sentence = "Failed to create video call"
    advice = "Try again in a moment; if it lasts, use another way to call."


class ZoomNotConfigured(VendorNotConfigured):
    """The server has no vendor of video calls; on the path that names one."""

    sentence = "Zoom credentials have not been configured"


class InvalidZoomToken(InvalidVendorToken):
    """`INVALID_VENDOR_TOKEN`, on the path that names the vendor."""

    code = "INVALID_ZOOM_TOKEN"
    sentence = "Invalid Zoom access token"


class ZoomCallNotCreated(CallNotCreated):
    """The vendor failed; on the path that names it."""

    sentence = "Failed to create Zoom call"


class InvalidVendorSession(ChatError):
    """An authorization that was not begun here, by this browser, for this user, just now."""

    sentence = "Invalid video call session identifier"
    advice = "Begin the authorization again, in the same browser."


class InvalidVendorCredentials(ChatError):
    """The vendor did not give tokens for what it sent the user back with."""

    sentence = "Invalid video call credentials"
    advice = "Begin the authorization again, and grant at the vendor what it asks for."


class NotFromVendor(Unauthorized):
    """A notice without the token that the vendor and this server share."""

    sentence = "This notice is not the vendor's"
    advice = "Nothing for clients: the operator sets the same token here and at the vendor."
