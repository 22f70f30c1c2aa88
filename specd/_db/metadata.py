"""Finds the tables of a service by its model classes."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module

from sqlalchemy import MetaData
from sqlalchemy.orm import DeclarativeBase

TABLES = "tables"


def find_metadata(package: str) -> list[MetaData]:
    """Return the metadata of all declarative bases of a module or package. The result is empty if
    `package` is empty.

    If a package has modules named `tables`, at any depth, import only those.
    """
    if not package:
        return []
    paths = getattr(import_module(package), "__path__", ())
    modules = [each.name for each in pkgutil.walk_packages(paths, f"{package}.")]
    tables = [name for name in modules if name.rpartition(".")[2] == TABLES]
    for name in tables or modules:
        import_module(name)
    bases = (each for each in _subclasses(DeclarativeBase) if _is_in(package, each.__module__))
    return list(dict.fromkeys(base.metadata for base in bases))


def _subclasses(base: type[DeclarativeBase]) -> Iterator[type[DeclarativeBase]]:
    for each in base.__subclasses__():
        yield each
        yield from _subclasses(each)


def _is_in(package: str, module: str) -> bool:
    return module == package or module.startswith(f"{package}.")
