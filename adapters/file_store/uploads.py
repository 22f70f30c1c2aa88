"""Stores uploaded files, and a thumbnail for each picture."""

from dataclasses import replace
from pathlib import Path

from adapters.file_store.store import FileStore
from adapters.images.pictures import Picture
from models.chat.uploads import names
from models.chat.uploads.attachments import NewUpload


def store_upload(
    store: FileStore, realm_id: int, new: NewUpload, path: Path, picture: Picture | None
) -> NewUpload:
    """Store a picture's thumbnail, if there is one, and then the file. The local thumbnail is
    deleted. Return the upload with the picture's size. Raise `StoreUnavailable`.
    """
    key = names.key_of(realm_id, new.handle)
    if picture is not None:
        try:
            store.put(key + names.THUMBNAIL, picture.small)
        finally:
            picture.small.unlink(missing_ok=True)
        new = replace(
            new, width=picture.width, height=picture.height, is_animated=picture.is_animated
        )
    store.put(key, path)
    return new
