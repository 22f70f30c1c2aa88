"""Packages with types of documents, generated handlers, and valid values, for type checkers."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import yaml

from specd._cli import scaffold
from specd._cli.literals import literal
from specd._cli.typed_operations import typed_module
from specd._engine.mocking.values import Impossible, Values
from specd._engine.openapi.naming import identifier_of
from specd._engine.openapi.union import Document
from tests.specd.engine.corpus import CORPUS
from wsgi import project

SHARED = "#/components/schemas/"
TRIES = 4
"""Values of each named schema, after its first example."""
CORNERS = Path(__file__).with_name("typed_corners.yaml")


def documents() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the corpus, the documents with special cases, and the documents of this repository."""
    yield from CORPUS.items()
    yield "corners", yaml.safe_load(CORNERS.read_text())
    for name in project.documents:
        yield name, project.read_document(name).content


def write_packages(folder: Path) -> list[str]:
    """Write a package for each document, and return their names."""
    names = []
    for name, content in documents():
        package = f"of_{identifier_of(name)}"
        operations = scaffold.describe([Document(package, content)], f"{package}.handlers")
        typed = [each.typed for each in operations]
        text = typed_module(f"The types of {name}", typed, with_handlers=True)
        (folder / package / "handlers").mkdir(parents=True)
        for place in ("", "handlers/"):
            (folder / package / place / "__init__.py").write_text("")
        (folder / package / "types.py").write_text(text)
        for module in dict.fromkeys(each.handler.module for each in operations):
            its = [each for each in operations if each.handler.module == module]
            source = scaffold.handlers_module(module, its, f"{package}.types")
            place = folder / f"{module.replace('.', '/')}.py"
            place.parent.mkdir(exist_ok=True)
            place.write_text(source)
        if operations:
            lines = _values(package, operations[0])
            (folder / package / "values.py").write_text("\n".join(lines) + "\n")
        names.append(package)
    return names


def _values(package: str, described: scaffold.Described) -> Iterator[str]:
    """Yield the lines of a module with values of all named schemas, in the form of responses."""
    yield f"from {package} import types"
    document = described.document
    values = Values(document, drop="writeOnly")
    number = 0
    for name in document.get("components", {}).get("schemas", {}):
        schema = {"$ref": SHARED + name.replace("~", "~0").replace("/", "~1")}
        kind = described.typed.types.qualified(
            scaffold.written(described.typed.types.of(schema, "Unused", "writeOnly"))
        )
        if "Any" in kind or "~" in name:
            continue
        rng = Random(name)
        for attempt in range(TRIES):
            try:
                value = values.random(schema, rng) if attempt else values.example(schema)
            except Impossible:
                continue
            if values.fits(schema, value):
                number += 1
                yield f"value_{number}: {kind} = {literal(value)}"
