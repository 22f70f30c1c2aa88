"""Uploads."""

from models.chat.errors import ChatError


class NoFileGiven(ChatError):
    """The request contains no file."""

    sentence = "You must specify a file to upload"
    advice = "Send the file as a part of a `multipart/form-data` body, with a file name."


class SeveralFilesGiven(ChatError):
    """The request contains more than one file."""

    sentence = "You may only upload one file at a time"
    advice = "Send one request for each file."


class UploadTooLarge(ChatError):
    """The file exceeds the maximum size. Facts: `limit_mib`, in mebibytes."""

    sentence = "File is larger than this server's configured maximum upload size ({limit_mib} MiB)."
    advice = (
        "Send a smaller file. `POST /register` returns the limit as `max_file_upload_size_mib`."
    )


class PictureTooLarge(ChatError):
    """The image file is too large. Facts: `limit_mib`."""

    sentence = "Uploaded file is larger than the allowed limit of {limit_mib} MiB"
    advice = "Send a smaller image."


class BadImage(ChatError):
    """The file is not an image that the server can read, or has too many pixels."""

    code = "BAD_IMAGE"
    sentence = "Could not decode image; did you upload an image file?"
    advice = "Send an image as PNG, GIF, JPEG or WebP."


class UploadQuotaExceeded(ChatError):
    """The files of the organization would exceed its quota."""

    code = "REALM_UPLOAD_QUOTA"
    sentence = "Upload would exceed your organization's upload quota."
    advice = "Delete unused files, or ask the operator for a higher quota."


class UploadDoesNotExist(ChatError):
    """The file is unknown, or it is not in a message that the user can read. The response is the
    same for both.
    """

    sentence = "This file does not exist or has been deleted."
    advice = "Use a URL from a message or from `GET /attachments`."


class AttachmentDoesNotExist(ChatError):
    """The attachment is unknown or belongs to another user. The response is the same for both."""

    sentence = "Invalid attachment"
    advice = "Use an id that `GET /attachments` returns."


class UploadStoreUnavailable(ChatError):
    """The file store does not respond."""

    code = "UPLOAD_STORE_UNAVAILABLE"
    sentence = "The file could not be stored; try again in a moment"
    advice = "Send the request again later."
