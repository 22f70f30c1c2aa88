"""Backups: a folder of files with a manifest of their sizes and SHA-256.

A backup is finished when it has its manifest. Until then, a marker file contains the id of the
installation that writes it, and another run reuses the files that are already copied. Only the
owner can read a backup. Files are processed in pieces and the manifest line by line, so memory use
is bounded.

The manifest has one JSON object per line: the facts of the backup, then one object for each file
(`name`, `bytes`, `sha256`), and finally the number of files and bytes. Without that last line, the
manifest is incomplete.
"""

import fcntl
import hashlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import orjson

from adapters.archives import PART, sync_folder

MANIFEST = "manifest.jsonl"
UNFINISHED = "unfinished"
FORMAT = {"format": "specd-backup", "version": 1}
PIECE = 256 * 1024
LINE_MAX = 16 * 1024
NAME_MAX = 1024
_PRIVATE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW


class BackupRefused(Exception):
    """The folder cannot be used for this backup or has no backup. The message is a sentence."""


class BackupDamaged(Exception):
    """A backup does not match its manifest. The message is a sentence."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a backup. `name` is the relative path, with slashes."""

    name: str
    bytes: int
    sha256: str


class BackupWriter:
    """Writes a backup into a folder that `open_backup` has checked."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._part = folder / f"{MANIFEST}{PART}"
        self._manifest = _private(self._part)
        self._run = int(time.time())
        self.files = self.bytes = 0

    def begin(self, facts: Mapping[str, Any]) -> None:
        """Write the facts. Call it before adding files."""
        self._line({**FORMAT, **facts})

    def add(self, name: str, pieces: Iterable[bytes]) -> None:
        """Write a file. It replaces a file with this name from an earlier run."""
        target = self._place(name)
        part = target.with_name(f"{target.name}{PART}")
        size, digest = 0, hashlib.sha256()
        with _private(part) as out:
            for piece in pieces:
                out.write(piece)
                size += len(piece)
                digest.update(piece)
            _sync(out)
        part.replace(target)
        self._note(Entry(name, size, digest.hexdigest()), target)

    def add_made(self, name: str) -> None:
        """Add the file that was written at `make_place(name)`."""
        target = self._place(name)
        part = target.with_name(f"{target.name}{PART}")
        part.chmod(0o600)
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(target)
        self._note(Entry(name, *_digest_of(target)), target)

    def make_place(self, name: str) -> Path:
        """Return an unused path to which the caller writes a file for `add_made`."""
        target = self._place(name)
        part = target.with_name(f"{target.name}{PART}")
        for end in ("", "-journal", "-wal", "-shm"):
            part.with_name(f"{part.name}{end}").unlink(missing_ok=True)
        return part

    def keep(self, name: str) -> bool:
        """Add the file that an earlier run copied, if it exists. Return whether it does. Use it
        only for files whose content never changes.
        """
        target = self._place(name)
        if not target.is_file():
            return False
        self._note(Entry(name, *_digest_of(target)), target)
        return True

    def finish(self) -> None:
        """Delete files of earlier runs that this run did not add, then complete the manifest."""
        for place, _, names in os.walk(self._folder):
            for name in names:
                path = Path(place, name)
                is_ours = path in {self._part, self._folder / UNFINISHED}
                if not is_ours and int(path.lstat().st_mtime) != self._run:
                    path.unlink()
        for place, _, _ in os.walk(self._folder):
            sync_folder(Path(place))
        self._line({"files": self.files, "bytes": self.bytes})
        _sync(self._manifest)
        self._part.replace(self._folder / MANIFEST)
        (self._folder / UNFINISHED).unlink()
        sync_folder(self._folder)

    def close(self) -> None:
        self._manifest.close()

    def _place(self, name: str) -> Path:
        target = self._folder / name
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return target

    def _note(self, entry: Entry, target: Path) -> None:
        # `finish` recognizes the files of this run by their modification time.
        os.utime(target, (self._run, self._run))
        self._line(asdict(entry))
        self.files, self.bytes = self.files + 1, self.bytes + entry.bytes

    def _line(self, value: Mapping[str, Any]) -> None:
        self._manifest.write(orjson.dumps(value) + b"\n")


@contextmanager
def open_backup(folder: Path, installation: str) -> Iterator[BackupWriter]:
    """Lock the folder and yield a writer for the backup of an installation.

    The folder must be new, be empty, or contain an unfinished backup of the same installation.
    Raise `BackupRefused` if it is not, and `OSError`.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    present = set(os.listdir(folder))
    if MANIFEST in present:
        raise BackupRefused(f"{folder} has a finished backup; name a new folder.")
    if present and UNFINISHED not in present:
        raise BackupRefused(f"{folder} is not empty; name a new folder.")
    folder.chmod(0o700)
    descriptor = os.open(folder / UNFINISHED, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "r+") as marker:
        try:
            fcntl.flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupRefused(f"Another process writes a backup into {folder}.") from None
        if (folder / MANIFEST).exists():
            raise BackupRefused(f"{folder} has a finished backup; name a new folder.")
        if marker.read(LINE_MAX) not in {"", installation}:
            raise BackupRefused(
                f"{folder} has the unfinished backup of another installation; name a new folder."
            )
        marker.seek(0)
        marker.write(installation)
        marker.flush()
        writer = BackupWriter(folder)
        try:
            yield writer
        finally:
            writer.close()


def read_facts(folder: Path) -> dict[str, Any]:
    """Return the facts of a finished backup. Raise `BackupRefused` if the folder does not contain
    one, and `BackupDamaged`.
    """
    if not (folder / MANIFEST).is_file():
        is_begun = (folder / UNFINISHED).exists()
        reason = "unfinished; run `specd backup` on it again" if is_begun else "not a backup"
        raise BackupRefused(f"{folder} is {reason}.")
    facts = next(_lines(folder), {})
    if {name: facts.get(name) for name in FORMAT} != FORMAT:
        raise BackupDamaged(f"{folder / MANIFEST} is not in a form that this release reads.")
    return facts


def read_entries(folder: Path) -> Iterator[Entry]:
    """Yield the files of a backup in the order in which they were written. Raise `BackupDamaged` if
    the manifest is incomplete.
    """
    lines = _lines(folder)
    next(lines, None)
    files = size = 0
    for line in lines:
        if line.keys() == {"files", "bytes"}:
            if line != {"files": files, "bytes": size} or next(lines, None) is not None:
                break
            return
        try:
            entry = Entry(**line)
        except TypeError:
            break
        if not (_is_inside(entry.name) and isinstance(entry.bytes, int)):
            break
        files, size = files + 1, size + entry.bytes
        yield entry
    raise BackupDamaged(f"{folder / MANIFEST} is not complete.")


def check_backup(folder: Path) -> tuple[int, int]:
    """Read a complete backup and return the number of files and bytes. Raise `BackupDamaged` for
    the first file that does not match the manifest, and `BackupRefused`.
    """
    read_facts(folder)
    files = size = 0
    for entry in read_entries(folder):
        for _ in read_file(folder, entry):
            pass
        files, size = files + 1, size + entry.bytes
    return files, size


def read_file(folder: Path, entry: Entry) -> Iterator[bytes]:
    """Yield the pieces of a file. Raise `BackupDamaged` after the last piece if the file does not
    match the manifest.
    """
    path = folder / entry.name
    try:
        file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb")
    except OSError as error:
        raise BackupDamaged(f"{path} cannot be read ({error.strerror}).") from error
    size, digest = 0, hashlib.sha256()
    for piece in _pieces(file):
        size += len(piece)
        digest.update(piece)
        yield piece
    if (size, digest.hexdigest()) != (entry.bytes, entry.sha256):
        raise BackupDamaged(f"{path} is damaged: it is not the file that was backed up.")


def write_file(target: Path, pieces: Iterable[bytes]) -> None:
    """Write a file atomically and durably. Only its owner can read it."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}{PART}")
    try:
        with _private(part) as out:
            for piece in pieces:
                out.write(piece)
            _sync(out)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    sync_folder(target.parent)


def is_same(path: Path, entry: Entry) -> bool:
    """Return whether the file at `path` has the same content as a file of a backup."""
    return path.is_file() and _digest_of(path) == (entry.bytes, entry.sha256)


def pieces_of(file: Path) -> Iterator[bytes]:
    """Open a file immediately and return an iterator over its pieces."""
    return _pieces(file.open("rb"))


def manifest_digest(folder: Path) -> str:
    """Return the SHA-256 of the manifest, which identifies a backup."""
    return _digest_of(folder / MANIFEST)[1]


def _digest_of(path: Path) -> tuple[int, str]:
    size, digest = 0, hashlib.sha256()
    for piece in pieces_of(path):
        size += len(piece)
        digest.update(piece)
    return size, digest.hexdigest()


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while piece := file.read(PIECE):
            yield piece


def _lines(folder: Path) -> Iterator[dict[str, Any]]:
    with (folder / MANIFEST).open("rb") as file:
        while line := file.readline(LINE_MAX):
            try:
                value = orjson.loads(line)
            except orjson.JSONDecodeError:
                value = None
            if not isinstance(value, dict):
                raise BackupDamaged(f"{folder / MANIFEST} is not complete.")
            yield value


def _is_inside(name: object) -> bool:
    """Return whether a name from a manifest is a normalized relative path inside the folder."""
    if not isinstance(name, str) or not 0 < len(name) <= NAME_MAX or "\0" in name:
        return False
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and str(path) == name


def _private(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, _PRIVATE, 0o600), "wb")


def _sync(out: BinaryIO) -> None:
    out.flush()
    os.fsync(out.fileno())
