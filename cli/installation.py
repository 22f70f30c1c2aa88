"""The parts of an installation that a backup contains, with their names and locations."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sqlalchemy import make_url

from adapters.archives import PART
from adapters.file_store.store import FileStore
from models.secret_files import load_secret
from settings import Settings
from specd.db import Clock

SETTINGS = "settings.env"
DATABASES, SECRETS, UPLOADS, EXPORTS, MAIL = "databases", "secrets", "uploads", "exports", "mail"
"""Folders inside a backup."""
SIDE_FILES = ("", "-wal", "-shm", "-journal")
"""Suffixes of the files of an SQLite database."""


def database_name(service: str) -> str:
    """Return the name of a database's copy in a backup."""
    return f"{DATABASES}/{service}.db"


def secret_name(service: str) -> str:
    """Return the name of a service's secret in a backup."""
    return f"{SECRETS}/{service}-secret"


def database_file(url: str) -> Path | None:
    """Return the file of a database, or None if it is not an SQLite database."""
    return Path(make_url(url).database or "") if url.startswith("sqlite:///") else None


def secret_file(settings: Settings, service: str) -> Path:
    """Return the file in which a machine stores a service's secret if no setting contains it."""
    return settings.data_dir / f"{service}-secret"


def secret_of(settings: Settings, service: str) -> bytes:
    """Return the current secret of a service, from its setting or its file."""
    return load_secret(secret_file(settings, service), given_secret(settings, service))


def given_secret(settings: Settings, service: str) -> str:
    """Return the secret in a service's setting, or "" if it is not set."""
    return str(getattr(settings, f"{service}_secret"))


def mail_folder(settings: Settings) -> Path | None:
    """Return the folder to which mail is written, or None if it is sent to a server."""
    mail = urlsplit(settings.mail_url)
    return Path(unquote(f"{mail.netloc}{mail.path}")) if mail.scheme == "file" else None


def files_in(folder: Path | None) -> Iterator[Path]:
    """Yield the finished files of a folder, not including subfolders."""
    if folder is None or not folder.is_dir():
        return
    for path in folder.iterdir():
        if not (path.name.startswith(".") or path.name.endswith(PART)) and path.is_file():
            yield path


def all_keys(store: FileStore) -> Iterator[str]:
    """Yield the keys of all uploaded files."""
    return store.find_older(Clock().now() + timedelta(days=1))


def upload_name(key: str) -> str:
    """Return the name of an uploaded file in a backup, with the folders of a directory store."""
    folder, _, name = key.partition("/")
    return f"{UPLOADS}/{folder}/{name[:2]}/{name}"


def upload_key(name: str) -> str:
    """Return the key of an uploaded file from its name in a backup."""
    _, folder, _, name = name.split("/")
    return f"{folder}/{name}"
