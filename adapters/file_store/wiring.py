"""The store that the settings name."""

from adapters.file_store.directory import DirectoryStore
from adapters.file_store.store import FileStore
from settings import Settings
from specd.errors import SettingsError

ARRIVING = "arriving"
"""Folder of the files that are on their way in, below `chat_upload_dir`; workers sweep it."""


def build_file_store(settings: Settings) -> FileStore:
    """Return a bucket where one is set, else a directory. Raise `SettingsError` for a bucket
    without the extra `s3`.
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
