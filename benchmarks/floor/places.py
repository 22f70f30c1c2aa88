"""The databases of a measurement: created, filled and copied."""

import shutil
from pathlib import Path
from typing import Protocol

from benchmarks.chat.realm import SECRET, Stage, fill, found
from benchmarks.payment.postgres import connect, create_database
from benchmarks.payment.story import CHAIN_ID
from settings import Settings
from specd._db.migrate import upgrade


class Place(Protocol):
    """A kind of database."""

    def make(self, name: str) -> str:
        """Create an empty database with that name. Return its URL."""
        ...

    def copy(self, name: str, copied: str) -> str:
        """Copy a database that has no open connections. Return the copy's URL."""
        ...


class Files:
    """SQLite."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def make(self, name: str) -> str:
        return f"sqlite:///{self._directory / name}.db"

    def copy(self, name: str, copied: str) -> str:
        shutil.copy(self._directory / f"{name}.db", self._directory / f"{copied}.db")
        return self.make(copied)


class Databases:
    """PostgreSQL. `prefix` is the URL up to the database name."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def make(self, name: str) -> str:
        return create_database(self._prefix, name)

    def copy(self, name: str, copied: str) -> str:
        with connect(self._prefix) as connection:
            connection.execute(f'CREATE DATABASE "{copied}" TEMPLATE "{name}"'.encode())
        return self._prefix + copied


def furnish(url: str, messages: int) -> Stage:
    """Create the organization of `benchmarks.chat` in an empty database."""
    upgrade(url, "chat")
    stage = found(url)
    fill(url, stage, messages)
    return stage


def chat_settings(url: str, directory: Path) -> Settings:
    return _settings(
        directory,
        SPECD_CHAT_DATABASE_URL=url,
        SPECD_CHAT_SECRET=SECRET.decode(),
        SPECD_CHAT_SCHEDULED_MESSAGES_PER_USER="1000000",
    )


def payment_settings(url: str, directory: Path) -> Settings:
    return _settings(
        directory,
        SPECD_PAYMENT_DATABASE_URL=url,
        SPECD_CHAIN_RPC_URLS=f"{CHAIN_ID}=http://127.0.0.1:9",
    )


def _settings(directory: Path, **more: str) -> Settings:
    return Settings.from_env(
        {
            "SPECD_DATA_DIR": str(directory / "server"),
            "SPECD_RATE_LIMITS": "false",
            "SPECD_LOG_LEVEL": "warning",
            **more,
        }
    )
