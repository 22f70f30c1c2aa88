"""Files in a directory. If the service runs on several machines, they must share it."""

import os
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from adapters.archives import sync_folder
from adapters.file_store.store import PIECE, FileMissing, StoreUnavailable


class DirectoryStore:
    """Stores the key `a/xyz` in the file `{folder}/a/xy/xyz`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, key: str, path: Path) -> None:
        """Move the file into the store. `path` must be on the same file system."""
        target = self._path_of(key)
        try:
            _make_folder(target.parent, self._folder)
            with path.open("rb") as file:
                os.fsync(file.fileno())
            path.replace(target)
            sync_folder(target.parent)
        except OSError as error:
            raise StoreUnavailable(str(error)) from error

    def read(self, key: str, start: int = 0, length: int | None = None) -> Iterator[bytes]:
        try:
            file = self._path_of(key).open("rb")
        except FileNotFoundError:
            raise FileMissing(key) from None
        except OSError as error:
            raise StoreUnavailable(str(error)) from error
        return _pieces(file, start, length)

    def delete(self, key: str) -> None:
        try:
            self._path_of(key).unlink(missing_ok=True)
        except OSError as error:
            raise StoreUnavailable(str(error)) from error

    def find_older(self, moment: datetime) -> Iterator[str]:
        limit = moment.timestamp()
        for place, _, names in os.walk(self._folder):
            for name in names:
                path = Path(place, name)
                try:
                    is_older = path.stat().st_mtime < limit
                except FileNotFoundError:
                    continue
                if is_older:
                    yield f"{path.parent.parent.name}/{name}"

    def _path_of(self, key: str) -> Path:
        folder, _, name = key.partition("/")
        return self._folder / folder / name[:2] / name


def _make_folder(folder: Path, top: Path) -> None:
    """Create a folder below `top` and its parents, and sync them to disk."""
    if folder.is_dir():
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    while folder != top:
        folder = folder.parent
        sync_folder(folder)


def _pieces(file: BinaryIO, start: int, length: int | None) -> Iterator[bytes]:
    left = sys.maxsize if length is None else length
    with file:
        file.seek(start)
        while left > 0 and (piece := file.read(min(PIECE, left))):
            left -= len(piece)
            yield piece
