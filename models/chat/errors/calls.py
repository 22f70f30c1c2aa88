"""Video calls: no vendor, no authorization of the user's there, or a vendor that fails.

The document's paths speak of a vendor; the reference's path names its vendor, and so do the texts
that its clients match.
"""

from models.chat.errors import ChatError
from models.chat.errors.identity import Unauthorized


class VendorNotConfigured(ChatError):
    sentence = "Video call credentials have not been configured"


class InvalidVendorToken(ChatError):
    """The user has authorized nothing, or no longer: they have to do it (again)."""

    code = "INVALID_VENDOR_TOKEN"
    sentence = "Invalid video call access token"


class CallNotCreated(ChatError):
    """The vendor failed."""

    sentence = "Failed to create video call"


class ZoomNotConfigured(VendorNotConfigured):
    sentence = "Zoom credentials have not been configured"


class InvalidZoomToken(InvalidVendorToken):
    code = "INVALID_ZOOM_TOKEN"
    sentence = "Invalid Zoom access token"


class ZoomCallNotCreated(CallNotCreated):
    sentence = "Failed to create Zoom call"


class InvalidVendorSession(ChatError):
    """An authorization that was not begun here, by this browser, for this user, just now."""

    sentence = "Invalid video call session identifier"


class InvalidVendorCredentials(ChatError):
    """The vendor did not give tokens for what it sent the user back with."""

    sentence = "Invalid video call credentials"


class NotFromVendor(Unauthorized):
    """A notice without the token that the vendor and this server share."""

    sentence = "This notice is not the vendor's"
