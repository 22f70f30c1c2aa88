"""Checks documents. All mistakes of a document are reported together, each with its file and line.

The start of a server finds violations of OpenAPI (`find_mistakes`), in hundredths of a second.
`specd check` also finds parts that are certainly unintended, and examples that do not fit their
schemas (`check_file`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from specd._engine.document import values
from specd._engine.errors import DocumentError, DocumentErrors
from specd._engine.openapi import impossible, rules, shapes
from specd._engine.openapi.loading import Bundle, Loaded, load_cached
from specd._engine.openapi.mistakes import (
    Locator,
    Mistake,
    Mistakes,
    in_order,
    of_spot,
    place_of,
    shown,
)
from specd._engine.openapi.structure import Steps
from specd._engine.openapi.union import Document
from specd._engine.openapi.wording import NOTHING, reach


def find_faults(
    content: Mapping[str, Any], *, is_thorough: bool, has_defaults: bool = True
) -> list[DocumentError]:
    """Return the violations of OpenAPI in a document without external references. If `is_thorough`,
    also return parts that are certainly unintended, and wrong examples. With `has_defaults`,
    defaults must fit their schemas.
    """
    checked = rules.Checked(content)
    found = shapes.find_faults(content, checked.objects)
    found += rules.find_faults(checked, rules.MUST)
    if is_thorough:
        found += rules.find_faults(checked, rules.ADVICE)
        found += impossible.find_faults(checked)
        known = {fault.at for fault in found}
        unfit = values.find_unfit_choices(checked)
        found += [fault for fault in unfit if fault.at not in known]
    if has_defaults:
        found += values.find_faults(checked, has_examples=is_thorough)
    return found


def find_mistakes(document: Document, *, has_defaults: bool = True) -> list[Mistake]:
    """Return the violations of OpenAPI in a document."""
    faults = find_faults(document.content, is_thorough=False, has_defaults=has_defaults)
    return locate([document], faults)


def check_file(path: Path) -> tuple[Mistake, ...]:
    """Return all mistakes of the document in a file and in the files that it refers to."""
    try:
        bundle = Bundle(path)
    except DocumentError as error:
        return (_without_place(error, str(path)),)
    faults = [*bundle.faults, *find_faults(bundle.content, is_thorough=True)]
    locator = Locator(bundle)
    files = {shown(file): number for number, file in enumerate(bundle.files)}
    found = [locator.mistake(fault) for fault in faults]
    return in_order(sorted(found, key=lambda mistake: files.get(mistake.file, len(files))))


def read(path: Path, load: Callable[[Path], Loaded] = load_cached) -> Loaded:
    """Return a document as `load` does. Raise `Mistakes` with all its mistakes if it cannot be
    read.
    """
    try:
        return load(path)
    except DocumentError as error:
        found = check_file(path) or (_without_place(error, str(path)),)
    raise Mistakes(found)


def locate(documents: Sequence[Document], faults: Iterable[DocumentError]) -> list[Mistake]:
    """Return the faults of a service's documents, or of their compilation, as mistakes
    with places.
    """
    locators: dict[str, Locator] = {}
    found: list[Mistake] = []
    for fault in faults:
        if isinstance(fault, Mistakes):
            found += fault.found
        elif isinstance(fault, DocumentErrors):
            found += locate(documents, fault.errors)
        else:
            document = _holder(documents, fault.at)
            found.append(_located(document, fault, locators))
    return found


def _located(document: Document, fault: DocumentError, locators: dict[str, Locator]) -> Mistake:
    if fault.spot is not None or document.path is None or not fault.at:
        return _without_place(fault, document.name)
    if document.name not in locators:
        locators[document.name] = Locator(Bundle(document.path))
    return locators[document.name].mistake(fault)


def _without_place(fault: DocumentError, name: str) -> Mistake:
    """Return the mistake of an error that names its spot, or only a document."""
    place = place_of(fault.at)
    if fault.spot is not None:
        return of_spot(fault.spot, str(fault), place)
    return Mistake(name, 0, 0, place, str(fault))


def _holder(documents: Sequence[Document], at: Steps) -> Document:
    """Return the document that contains a part, or the first document if none does."""
    for document in documents:
        if reach(document.content, at) is not NOTHING:
            return document
    return documents[0]


@cache
def published(name: str, path: Path) -> Document:
    """Return a document with everything it refers to, as the engine serves it. All callers share
    one object, so they must not change it. Raise `Mistakes` if it cannot be read.
    """
    loaded = read(path)
    return Document(name, loaded.content, loaded.text, path)
