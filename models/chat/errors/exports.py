"""What can go wrong with exports of an organization's data."""

from models.chat.errors import ChatError


class ExportLimitReached(ChatError):
    sentence = "Exceeded rate limit."


class FullContentAccessRequired(ChatError):
    """# decided: the reference does not show this text."""

    sentence = "Full exports without consent are not available in this organization."


class ExportTooLarge(ChatError):
    """Facts: `email`, whom to ask."""

    sentence = (
        "The export you requested is too large for automatic processing."
        " Please request a manual export by contacting {email}."
    )


class InvalidExportId(ChatError):
    sentence = "Invalid data export ID"


class ExportAlreadyDeleted(ChatError):
    sentence = "Export already deleted"


class ExportHasFailed(ChatError):
    sentence = "Export failed, nothing to delete"


class ExportInProgress(ChatError):
    sentence = "Export still in progress"
