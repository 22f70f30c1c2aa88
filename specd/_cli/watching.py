"""The files that `specd serve --reload` watches."""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from importlib.util import cache_from_source
from pathlib import Path

from specd._project import find_root

ROOT = find_root()
BELOW_HANDLERS = ("adapters", "models", "setting_values.py", "settings.py", "wsgi.py")
"""What models may import."""
WATCHED = (*BELOW_HANDLERS, "handlers", "pages", "specs")
SUFFIXES = (".py", ".yaml", ".yml", ".json", ".html")

Files = dict[Path, tuple[int, int]]
"""File -> when it was changed, in nanoseconds, and its size."""


def status_of(paths: Iterable[Path]) -> Files:
    """Return the state of those that are there."""
    found = {}
    for path in paths:
        with suppress(OSError):  # it has just been removed
            status = path.stat()
            found[path] = status.st_mtime_ns, status.st_size
    return found


def is_below_handlers(path: Path) -> bool:
    """Return whether a change of this file has the models imported anew."""
    return any(path.is_relative_to(ROOT / name) for name in BELOW_HANDLERS)


def watched() -> Iterator[Path]:
    """Yield all that is watched."""
    yield from (ROOT / name for name in WATCHED if name.endswith(SUFFIXES))
    for name in WATCHED:
        for folder, _, files in os.walk(ROOT / name):
            yield from (Path(folder, file) for file in files if file.endswith(SUFFIXES))


def forget_compiled(changed: Iterable[Path]) -> None:
    """Remove the bytecode of what has changed: Python compares whole seconds and sizes only."""
    for path in changed:
        if path.suffix == ".py":
            Path(cache_from_source(str(path))).unlink(missing_ok=True)


def import_libraries() -> None:
    """Import the libraries that the watched modules import, because they take most of a start."""
    own = {path.name.removesuffix(".py") for path in ROOT.iterdir()}
    names = set()
    for path in watched():
        if path.suffix == ".py":
            text = path.read_text(encoding="utf-8", errors="replace")
            names.update(re.findall(r"^(?:from|import) ([\w.]+)", text, re.MULTILINE))
    for name in sorted(names):
        if name.partition(".")[0] not in own:
            with suppress(Exception):  # whoever needs it says that it is missing
                import_module(name)
