"""Files that requests bring: on the disk from their first bytes, never whole in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(slots=True)
class File:
    """A file that came with a form, or a body that is one, which has no name.

    `path` is its place until the request is answered, unless a handler moves it away. `name` and
    `media_type` are what the client called it, unchecked; either may be empty. `size` is in bytes.
    """

    path: Path
    name: str
    media_type: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class FileIntake:
    """How a service takes files: into which folder, how many bytes with one request, what to
    raise for more, and what to raise if the folder cannot be written.
    """

    folder: Path
    limit: int
    refuse_larger: Callable[[], Exception]
    fail: Callable[[], Exception] = OSError
