"""Builds the file store that the settings select."""

from adapters.file_store.directory import DirectoryStore
from adapters.file_store.store import FileStore
from settings import Settings
from specd.errors import SettingsError

ARRIVING = "arriving"
"""Folder of unfinished uploads, below `chat_upload_dir`. Workers delete old files in it."""


def build_file_store(settings: Settings) -> FileStore:
    """Return an S3 store if a bucket is set, otherwise a directory. Raise `SettingsError` if the
    extra `s3`, which S3 stores need, is not installed.
    """
    if not settings.chat_upload_bucket:
        return DirectoryStore(settings.chat_upload_dir / "files")
    try:
        from adapters.file_store.s3 import S3Store
    except ImportError:
        raise SettingsError(
            "SPECD_CHAT_UPLOAD_BUCKET needs the extra s3: pip install 'specd-server[s3]'."
        ) from None

    return S3Store(
        settings.chat_upload_bucket,
        url=settings.chat_upload_s3_url,
        region=settings.chat_upload_s3_region,
        key_id=settings.chat_upload_s3_key_id,
        secret=settings.chat_upload_s3_secret,
        timeout_s=settings.chat_upload_s3_timeout_s,
    )
