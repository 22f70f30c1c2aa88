"""The hand-written OpenAPI documents."""

from pathlib import Path
from typing import Any

from specd._engine.document.checking import published
from specd._engine.openapi.union import Document

HERE = Path(__file__).parent


def document(name: str) -> Document:
    """Return a document and all that it refers to, as the engine serves it. All callers share one
    object, so they must not change it. Raise `Mistakes` if it cannot be read.
    """
    return published(name, HERE / f"{name}.yaml")


def text(name: str) -> bytes:
    """Return a document as it is published."""
    return document(name).text


def load(name: str) -> dict[str, Any]:
    """Return the content of a document, which all callers share; status codes and other keys are
    text.
    """
    return dict(document(name).content)
