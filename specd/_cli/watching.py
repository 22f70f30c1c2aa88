"""Finds the files that `specd serve --reload` watches: those of the project's services and
settings, and of the project's modules that they import.
"""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from importlib.util import cache_from_source
from pathlib import Path

from specd._project import Project

SUFFIXES = (".py", ".yaml", ".yml", ".json", ".html")
LIBRARY = Path(__file__).parents[1]
_IMPORT = re.compile(r"^(?:from|import) ([\w.]+)", re.MULTILINE)

Files = dict[Path, tuple[int, int]]
"""File -> the time of its last change, in nanoseconds, and its size."""


def status_of(paths: Iterable[Path]) -> Files:
    """Return the state of the files that exist."""
    found = {}
    for path in paths:
        with suppress(OSError):  # it has just been deleted
            status = path.stat()
            found[path] = status.st_mtime_ns, status.st_size
    return found


def find_places(project: Project) -> list[Path]:
    """Return the files and folders of a project that servers use: those of its settings, and of the
    documents and modules of its services.
    """
    root = project.root
    places = {root / "wsgi.py"}
    modules = [project.settings]
    for service in project.services:
        for document in service.files.values():
            file = root / document
            places.add(file if file.parent == root else file.parent)
        modules += [service.handlers, service.models, service.wiring, service.errors, service.pages]
    places.update(_place_of(root, module) for module in modules if module)
    return _with_imported(root, places)


def _place_of(root: Path, module: str) -> Path:
    """Return the folder or the file of the outermost package of a module."""
    name = re.split("[.:]", module)[0]
    return root / name if (root / name).is_dir() else root / f"{name}.py"


def _with_imported(root: Path, places: Iterable[Path]) -> list[Path]:
    """Return the places together with those of the project's modules that they import."""
    found: set[Path] = set()
    following = {place for place in places if place.exists()}
    while following:
        found |= following
        names = {name.partition(".")[0] for name in imports_of(files_in(following))}
        following = {
            place for name in names if (place := _place_of(root, name)).exists()
        } - found - {LIBRARY}  # fmt: skip
    return sorted(found)


def files_in(places: Iterable[Path]) -> Iterator[Path]:
    """Yield all files to watch in some files and folders."""
    for place in places:
        if place.suffix in SUFFIXES:
            yield place
        for folder, _, files in os.walk(place):
            yield from (Path(folder, file) for file in files if file.endswith(SUFFIXES))


def imports_of(files: Iterable[Path]) -> set[str]:
    """Return the names of the modules that the files import."""
    names: set[str] = set()
    for path in files:
        if path.suffix == ".py":
            with suppress(OSError):
                names.update(_IMPORT.findall(path.read_text(encoding="utf-8", errors="replace")))
    return names


def import_libraries(root: Path, places: Iterable[Path]) -> None:
    """Import the libraries that the modules in some places import, because this takes most of the
    time of a start.
    """
    for name in sorted(imports_of(files_in(places))):
        if not _place_of(root, name).exists():
            with suppress(Exception):  # the module that needs it will report this
                import_module(name)


def forget_compiled(changed: Iterable[Path]) -> None:
    """Delete the bytecode of changed files, because Python only compares whole seconds and
    sizes.
    """
    for path in changed:
        if path.suffix == ".py":
            Path(cache_from_source(str(path))).unlink(missing_ok=True)
