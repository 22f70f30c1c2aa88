"""Exports of the data of an organization."""

from models.chat.errors import ChatError


class ExportLimitReached(ChatError):
    """The organization has made as many exports as it may in a week."""

    sentence = "Exceeded rate limit."
    advice = "Use an earlier export, or try again later."


class FullContentAccessRequired(ChatError):
    """A full export was asked for, which this organization does not allow.

    # decided: the reference does not show this text.
    """

    sentence = "Full exports without consent are not available in this organization."
    advice = "Ask for a public export, or for one of those who consented."


class ExportTooLarge(ChatError):
    """The organization has more messages than an export by request may have. Facts: `email`, whom
    to ask.
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
    """The export was deleted before."""

    sentence = "Export already deleted"
    advice = "Nothing is left to do."


class ExportHasFailed(ChatError):
    """The export never became an archive."""

    sentence = "Export failed, nothing to delete"
    advice = "Nothing is left to do; ask for a new export if you need one."


class ExportInProgress(ChatError):
    """The archive is still being written."""

    sentence = "Export still in progress"
    advice = "Wait until `GET /export/realm` shows it finished, then delete it."
