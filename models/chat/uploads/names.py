"""Names of uploaded files: for users, in addresses, and in the store.

The address of a file is `/user_uploads/{realm}/{handle}-{name}`. The handle identifies the file.
The name makes the address readable, and must match.
"""

import mimetypes
import re
import secrets
import unicodedata

HANDLE_LENGTH = 32
NAME_MAX = 200
PATH_NAME_MAX = 100
THUMBNAIL = ".thumbnail"
"""The suffix that turns the key of an image into the key of its thumbnail."""
AVATAR, AVATAR_MEDIUM = ".avatar", ".avatar-medium"
"""The suffixes that turn the key of a handle into the keys of a user's avatar and of its larger
form.
"""
UNKNOWN_TYPE = "application/octet-stream"

_UNFIT = re.compile(r"[^\w.+-]+")
_DOTS = re.compile(r"\.{2,}")
_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,48}/[a-z0-9][a-z0-9!#$&^_.+-]{0,48}")
_HANDLE = re.compile(r"[0-9a-f]{32}")


def make_handle() -> str:
    """Return 128 random bits in hexadecimal digits."""
    return secrets.token_hex(HANDLE_LENGTH // 2)


def check_name(name: str) -> str:
    """Return a file's name for users: without folders and control characters, and not empty."""
    name = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    name = "".join(sign if sign.isprintable() else " " for sign in name).strip()
    return _shorten(name, NAME_MAX) or "file"


def path_name_of(name: str) -> str:
    """Return the name for use in the last segment of an address."""
    fit = _DOTS.sub(".", _UNFIT.sub("-", name)).strip("-.")
    return _shorten(fit, PATH_NAME_MAX) or "file"


def check_media_type(media_type: str, name: str) -> str:
    """Return the client's media type if it is valid, otherwise the type for the file extension."""
    media_type = media_type.partition(";")[0].strip().lower()
    if media_type != UNKNOWN_TYPE and _MEDIA_TYPE.fullmatch(media_type):
        return media_type
    return mimetypes.guess_type(name)[0] or UNKNOWN_TYPE


def path_id_of(realm_id: int, handle: str, path_name: str) -> str:
    """Return the part of an address after `/user_uploads/`."""
    return f"{realm_id}/{handle}-{path_name}"


def key_of(realm_id: int, handle: str) -> str:
    """Return the key of the file in the store."""
    return f"{realm_id}/{handle}"


def handle_of(filename: str) -> str:
    """Return the handle in the last segment of an address or a key, or an empty text if there is
    none.
    """
    handle = filename[:HANDLE_LENGTH]
    return handle if _HANDLE.fullmatch(handle) else ""


def _shorten(name: str, most: int) -> str:
    """Return at most `most` characters of the name, including its extension."""
    if len(name) <= most:
        return name
    stem, dot, ending = name.rpartition(".")
    if not stem or len(ending) > 20:
        return name[:most]
    return stem[: most - len(ending) - 1] + dot + ending
