"""`specd restore`: restores a backup into an empty installation."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from adapters.backup_folder import (
    BackupDamaged,
    BackupRefused,
    Entry,
    check_backup,
    is_same,
    manifest_digest,
    read_entries,
    read_facts,
    read_file,
    write_file,
)
from adapters.file_store.wiring import ARRIVING, build_file_store
from cli import installation
from settings import Settings
from specd.commands import answer, json_option

NEXT = """\
{files} files ({bytes} bytes) of {moment} are restored.
Before anything serves, run `specd migrate`, then `specd payment after-restore` and \
`specd chat after-restore`, then `specd doctor`."""
ELSEWHERE = """\
Restore the {service} database of PostgreSQL too, from a backup taken before {moment} \
(docs/backup.md)."""
RESTORED = ".restored"


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--check", "only_checks", is_flag=True, help="Only compare FOLDER with its manifest.")
@json_option
def restore(folder: Path, only_checks: bool, as_json: bool) -> None:
    """Restore a backup into an empty installation.

    Compares FOLDER with its manifest, then puts its files where the settings of this machine say.
    Nothing is overwritten. Run the command again to continue a restore that was interrupted.
    """
    try:
        facts = read_facts(folder)
        if only_checks:
            files, size = check_backup(folder)
            answer(
                {"files": files, "bytes": size},
                as_json=as_json,
                text=f"{folder} is complete: {files} files ({size} bytes), of {facts['moment']}.",
            )
            return
        settings = Settings.from_env()
        files, size = Restore(folder, facts, settings).run()
    except (BackupRefused, BackupDamaged) as error:
        raise click.ClickException(str(error)) from error
    elsewhere = [name for name, its in facts["databases"].items() if its["kind"] != "sqlite"]
    text = [NEXT.format(files=files, bytes=size, moment=facts["moment"])]
    text += [ELSEWHERE.format(service=name, moment=facts["moment"]) for name in elsewhere]
    payload = {"files": files, "bytes": size, "moment": facts["moment"], "elsewhere": elsewhere}
    answer(payload, as_json=as_json, text="\n".join(text))


class Restore:
    """Restores a backup into the installation of the settings.

    Databases are put in place last, because specd does not start without them. Until the end, a
    marker file in the data directory contains the digest of the backup. It prevents specd from
    starting, and it allows another run to continue.
    """

    def __init__(self, folder: Path, facts: dict[str, Any], settings: Settings) -> None:
        self._folder, self._settings = folder, settings
        self._kinds = {name: str(its["kind"]) for name, its in facts["databases"].items()}
        self._store = build_file_store(settings)
        self._marker = settings.restore_marker

    def run(self) -> tuple[int, int]:
        """Restore all files and return the number of files and bytes. Raise ClickException if data
        would be overwritten, and `BackupDamaged`, both before anything is written.
        """
        backup = manifest_digest(self._folder)
        self._require_databases()
        self._settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(self._settings.data_dir):
            return self._run(backup)

    def _run(self, backup: str) -> tuple[int, int]:
        begun = self._marker.read_text() if self._marker.exists() else ""
        if begun and begun != backup:
            raise click.ClickException(
                f"Another backup is restored into {self._settings.data_dir}. Finish that one, or"
                " empty the folders of this installation."
            )
        if not begun:
            self._require_nothing()
        counted = check_backup(self._folder)
        self._require_secrets()
        write_file(self._marker, [backup.encode()])
        for entry in read_entries(self._folder):
            self._restore(entry, is_again=bool(begun))
        for entry in read_entries(self._folder):
            if file := self._database_of(entry):
                waiting = _waiting(file)
                if waiting.exists():
                    waiting.replace(file)
        self._marker.unlink()
        return counted

    def _require_databases(self) -> None:
        """Raise ClickException if a database's setting has another kind than its backup."""
        for service, kind in self._kinds.items():
            is_file = installation.database_file(self._settings.database_urls[service]) is not None
            if is_file is not (kind == "sqlite"):
                raise click.ClickException(
                    f"The {service} database of this backup is of {kind}, and"
                    f" {self._settings.variable(f'{service}_database_url')} names another kind."
                )

    def _require_nothing(self) -> None:
        for path in self._present():
            raise click.ClickException(
                f"{path} already exists, and a restore overwrites nothing. Stop specd, and move the"
                " data of this installation away."
            )

    def _present(self) -> Iterator[Path | str]:
        """Yield the existing data that a restore would overwrite."""
        settings = self._settings
        for service, kind in self._kinds.items():
            file = installation.database_file(settings.database_urls[service])
            places = [installation.secret_file(settings, service)]
            if kind == "sqlite" and file:
                places += [Path(f"{file}{end}") for end in installation.SIDE_FILES]
            yield from filter(Path.exists, places)
        if "chat" in self._kinds:
            yield from installation.files_in(settings.chat_export_dir)
            yield from installation.files_in(installation.mail_folder(settings))
            for key in installation.all_keys(self._store):
                yield f"The uploaded file {key}"

    def _require_secrets(self) -> None:
        """Raise ClickException if a setting contains another secret than the backup."""
        for entry in read_entries(self._folder):
            if service := self._service_of(entry):
                given = installation.given_secret(self._settings, service)
                if given and given.encode() != b"".join(read_file(self._folder, entry)):
                    name = self._settings.variable(f"{service}_secret")
                    raise click.ClickException(
                        f"{name} is another secret than that of the backup, which"
                        f" {self._folder / installation.SETTINGS} has. Use its settings."
                    )

    def _restore(self, entry: Entry, *, is_again: bool) -> None:
        folder, _, name = entry.name.partition("/")
        if file := self._database_of(entry):
            if not is_same(file, entry):
                if file.exists():
                    raise click.ClickException(f"{file} was changed since the restore began.")
                self._write(_waiting(file), entry)
        elif service := self._service_of(entry):
            if not installation.given_secret(self._settings, service):
                self._write(installation.secret_file(self._settings, service), entry)
        elif folder == installation.EXPORTS:
            self._write(self._settings.chat_export_dir / name, entry)
        elif folder == installation.MAIL:
            if place := installation.mail_folder(self._settings):
                self._write(place / name, entry)
        elif folder == installation.UPLOADS:
            self._upload(entry, is_again=is_again)

    def _write(self, target: Path, entry: Entry) -> None:
        """Write a file unless it already has the right content."""
        if not is_same(target, entry):
            write_file(target, read_file(self._folder, entry))

    def _has_upload(self, key: str) -> bool:
        try:
            for _ in self._store.read(key, 0, 1):
                break
        except FileNotFoundError:
            return False
        return True

    def _upload(self, entry: Entry, *, is_again: bool) -> None:
        """Store an uploaded file unless an earlier run did."""
        key = installation.upload_key(entry.name)
        if is_again and self._has_upload(key):
            return
        arriving = self._settings.chat_upload_dir / ARRIVING / f"{self._marker.name}.file"
        write_file(arriving, read_file(self._folder, entry))
        self._store.put(key, arriving)
        arriving.unlink(missing_ok=True)

    def _database_of(self, entry: Entry) -> Path | None:
        """Return the database file for an entry, or None if the entry is not a database."""
        for service in self._kinds:
            if entry.name == installation.database_name(service):
                return installation.database_file(self._settings.database_urls[service])
        return None

    def _service_of(self, entry: Entry) -> str | None:
        """Return the service whose secret the entry contains, or None if it is not a secret."""
        names = {installation.secret_name(service): service for service in self._kinds}
        return names.get(entry.name)


@contextmanager
def _locked(data_dir: Path) -> Iterator[None]:
    """Lock the data directory. Raise ClickException if another restore is running."""
    descriptor = os.open(data_dir, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise click.ClickException(f"Another process restores into {data_dir}.") from None
    finally:
        os.close(descriptor)


def _waiting(file: Path) -> Path:
    """Return the path of a restored database until all files are restored."""
    return Path(f"{file}{RESTORED}")
