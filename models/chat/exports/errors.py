"""Exports of the data of an organization."""

from models.chat.errors import ChatError


class ExportLimitReached(ChatError):
    """The organization has reached the weekly limit of exports."""

    sentence = "Exceeded rate limit."
    advice = "Use an earlier export, or try again later."


class FullContentAccessRequired(ChatError):
    """A full export was asked for, which this organization does not allow.

    # decided: the reference does not show this text.
    """

    sentence = "Full exports without consent are not available in this organization."
    advice = "Ask for a public export, or for one of those who consented."


class ExportTooLarge(ChatError):
    """The organization has too many messages for an export by request. Facts: `email`, the
    operator's address.
    """

    sentence = (
        "The export you requested is too large for automatic processing."
        " Please request a manual export by contacting {email}."
    )
    advice = "Ask the operator of the server for an export."


class InvalidExportId(ChatError):
    """The organization has no export of this id."""

    sentence = "Invalid data export ID"
    advice = "Use an id that `GET /export/realm` returns."


class ExportAlreadyDeleted(ChatError):
    """The export is already deleted."""

    sentence = "Export already deleted"
    advice = "No action is needed."


class ExportHasFailed(ChatError):
    """The export failed and has no archive."""

    sentence = "Export failed, nothing to delete"
    advice = "Request a new export if you need one."


class ExportInProgress(ChatError):
    """The archive is not finished yet."""

    sentence = "Export still in progress"
    advice = "Wait until `GET /export/realm` shows that the export has finished, then delete it."
