"""Files in requests. They are written to the disk as they arrive, and are never completely in
memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from specd._engine.errors import BodyTooLarge


@dataclass(slots=True)
class File:
    """A file in a form, or a body that is a file.

    `path` is its place until the end of the request, unless a handler moves the file. `name` and
    `media_type` come from the client, unchecked, and may be empty. A body has no name. `size` is in
    bytes.
    """

    path: Path
    name: str
    media_type: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class FileIntake:
    """How a service accepts files. They are written into `folder`. One request has at most `limit`
    bytes of files, otherwise the error that `refuse_larger()` returns is raised, by default the 413
    `body_too_large`. `fail()` returns the error to raise if the folder is not writable.
    """

    folder: Path
    limit: int
    refuse_larger: Callable[[], Exception] | None = None
    fail: Callable[[], Exception] = OSError


def refusal_of_larger(intake: FileIntake) -> Exception:
    """Return what a request with more bytes of files than the service takes raises."""
    return intake.refuse_larger() if intake.refuse_larger else BodyTooLarge(intake.limit)
