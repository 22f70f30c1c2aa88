"""`specd backup`: copies an installation into a folder while it is running."""

import hashlib
import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

import click

from adapters.backup_folder import BackupRefused, BackupWriter, open_backup, pieces_of
from adapters.file_store.wiring import build_file_store
from cli import installation
from cli.shared_secrets import SECRETS
from models.sqlite_copy import CopyDamaged, copy_database
from settings import Settings
from specd import __version__
from specd.commands import answer, json_option, open_database
from specd.db import Clock
from wsgi import project

ELSEWHERE = """\
The {service} database is PostgreSQL and is not in this backup. Before each backup, run pg_dump \
--format=custom, or archive the WAL and take base backups (docs/backup.md)."""
PLAIN = re.compile(r"[^\s'\"\\](?:[^\n'\"\\]*[^\s'\"\\])?")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--only",
    type=click.Choice(project.names),
    help="Back up only the database and the secret of this service.",
)
@json_option
def backup(folder: Path, only: str | None, as_json: bool) -> None:
    """Back up databases, secrets, uploads, exports, mail, settings.

    Copies the databases of SQLite, the secrets, uploaded files, exports, mail and settings into
    FOLDER, a new one, while servers and workers run. Run the command again to continue a backup
    that was interrupted. A database of PostgreSQL needs a backup of its own, taken before.
    """
    settings = Settings.from_env()
    named = [only] if only else list(settings.database_urls)
    try:
        with open_backup(folder, _identity_of(settings)) as writer:
            elsewhere = _write(writer, settings, named)
    except BackupRefused as refusal:
        raise click.ClickException(str(refusal)) from refusal
    text = [f"{writer.files} files ({writer.bytes} bytes) are in {folder}."]
    text += [ELSEWHERE.format(service=service) for service in elsewhere]
    answer(
        {
            "folder": str(folder),
            "files": writer.files,
            "bytes": writer.bytes,
            "elsewhere": elsewhere,
        },
        as_json=as_json,
        text="\n".join(text),
    )


def _write(writer: BackupWriter, settings: Settings, named: Iterable[str]) -> list[str]:
    """Write all parts. Return the services whose databases are not in the backup.

    Files are copied after the databases, so every row of the copy has its file, except if the file
    was deleted in between.
    """
    moment = Clock().now()
    found = {service: _database_of(service, settings) for service in named}
    writer.begin({"release": __version__, "moment": moment.isoformat(), "databases": found})
    writer.add(installation.SETTINGS, [settings_text(os.environ).encode()])
    for service in found:
        if service in SECRETS:
            secret = installation.secret_of(settings, service)
            writer.add(installation.secret_name(service), [secret])
    for service in found:
        if file := installation.database_file(settings.database_urls[service]):
            _copy(writer, service, file)
    if "chat" in found:
        _add_files(writer, settings)
    writer.finish()
    return [service for service, facts in found.items() if facts["kind"] != "sqlite"]


def _database_of(service: str, settings: Settings) -> dict[str, str]:
    """Return facts of a database. Raise ClickException if it is not migrated, or if it was not
    written with the secret of this machine, because such a backup would be useless.
    """
    with open_database(service, settings, needs_secret=True) as database:
        return {"kind": database.dialect, "revision": database.find_revision()}


def _copy(writer: BackupWriter, service: str, file: Path) -> None:
    name = installation.database_name(service)
    try:
        copy_database(file, writer.make_place(name))
    except CopyDamaged as damage:
        raise click.ClickException(
            f"The {service} database is damaged ({damage}); keep the backups from before."
        ) from damage
    except sqlite3.Error as error:
        raise click.ClickException(f"The {service} database cannot be copied: {error}.") from error
    writer.add_made(name)


def _add_files(writer: BackupWriter, settings: Settings) -> None:
    """Write uploads, exports and mail, except files that an earlier run has copied."""
    store = build_file_store(settings)
    for key in installation.all_keys(store):
        _add_file(writer, installation.upload_name(key), partial(store.read, key))
    for folder, place in (
        (installation.EXPORTS, settings.chat_export_dir),
        (installation.MAIL, installation.mail_folder(settings)),
    ):
        for path in installation.files_in(place):
            _add_file(writer, f"{folder}/{path.name}", partial(pieces_of, path))


def _add_file(writer: BackupWriter, name: str, read: Callable[[], Iterable[bytes]]) -> None:
    if writer.keep(name):
        return
    try:
        pieces = read()
    except FileNotFoundError:
        return  # it was deleted after it was listed
    writer.add(name, pieces)


def settings_text(env: Mapping[str, str]) -> str:
    """Return the settings of an environment as lines for `/etc/specd.env`. Settings that name a
    file with a secret are replaced with the secret. Raise ClickException if a value cannot be
    written in a line.
    """
    lines = []
    for name, value in Settings.export(env).items():
        if "\n" in value or ("'" in value and not PLAIN.fullmatch(value)):
            raise click.ClickException(f"{name} has characters that /etc/specd.env cannot have.")
        lines.append(f"{name}={value}\n" if PLAIN.fullmatch(value) else f"{name}='{value}'\n")
    return "".join(lines)


def _identity_of(settings: Settings) -> str:
    """Return a digest that identifies an installation and reveals no secrets."""
    shown = {line.variable: line.value for line in settings.describe({})}
    urls = [shown[settings.variable(f"{name}_database_url")] for name in settings.database_urls]
    places = [str(settings.data_dir.absolute()), *urls]
    return hashlib.sha256("\0".join(places).encode()).hexdigest()
