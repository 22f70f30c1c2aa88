"""Too much of a thing."""

from models.chat.errors import ChatError


class QuotaExceeded(ChatError):
    """There would be more of a thing than the server's operator lets one user, organization or
    message have. Facts: `what`, `limit`.
    """

    sentence = "Too many {what} (limit: {limit})."
    advice = "Delete or archive what is no longer used, or ask the operator for more."
