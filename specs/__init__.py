"""The hand-written OpenAPI documents."""

from functools import cache
from pathlib import Path
from typing import Any

from server.document.checking import read
from server.openapi.union import Document

HERE = Path(__file__).parent


@cache
def document(name: str) -> Document:
    """Return a document and all that it refers to, as the engine serves it. All callers share one
    object, so they must not change it. Raise `Mistakes` if it cannot be read.
    """
    path = HERE / f"{name}.yaml"
    loaded = read(path)
    return Document(name, loaded.content, loaded.text, path)


def text(name: str) -> bytes:
    """Return a document as it is published."""
    return document(name).text


def load(name: str) -> dict[str, Any]:
    """Return the content of a document, which all callers share; status codes and other keys are
    text.
    """
    return dict(document(name).content)
