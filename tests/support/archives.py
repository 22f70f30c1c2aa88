"""Reads export archives as any downloader can."""

import hashlib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from adapters.archives import MANIFEST


class DamagedArchive(Exception):
    """An archive does not match its manifest."""


@contextmanager
def reading_archive(path: Path) -> Iterator[tuple[zipfile.ZipFile, dict[str, Any]]]:
    """Yield the open archive and its manifest."""
    with zipfile.ZipFile(path) as archive:
        yield archive, orjson.loads(archive.read(MANIFEST))


def verify_archive(path: Path) -> dict[str, Any]:
    """Read the complete archive. Return the manifest. Raise `DamagedArchive`."""
    try:
        with reading_archive(path) as (archive, manifest):
            uploads = [file for file in manifest["uploads"] if "missing" not in file]
            names = {file["name"] for file in (*manifest["files"], *uploads)} | {MANIFEST}
            if set(archive.namelist()) != names:
                raise DamagedArchive("other files than the manifest names")
            for file in (*manifest["files"], *uploads):
                digest, rows, size = hashlib.sha256(), 0, 0
                with archive.open(file["name"]) as lines:
                    while chunk := lines.read(1 << 16):
                        digest.update(chunk)
                        rows, size = rows + chunk.count(b"\n"), size + len(chunk)
                if (rows, size, digest.hexdigest()) != (
                    file.get("rows", rows), file["bytes"], file["sha256"],
                ):  # fmt: skip
                    raise DamagedArchive(f"{file['name']} is not what the manifest says")
    except (zipfile.BadZipFile, KeyError, ValueError, OSError) as problem:
        raise DamagedArchive(str(problem)) from problem
    return manifest
