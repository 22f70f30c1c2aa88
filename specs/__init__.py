"""The hand-written OpenAPI documents."""

from pathlib import Path
from typing import Any

from server.document.checking import read
from server.openapi.union import Document

HERE = Path(__file__).parent


def document(name: str) -> Document:
    """Return a document, with what it takes of others, as the engine serves it. Raise `Mistakes`
    for one that cannot be read.
    """
    path = HERE / f"{name}.yaml"
    loaded = read(path)
    return Document(name, loaded.content, loaded.text, path)


def text(name: str) -> bytes:
    """Return a document as it is published."""
    return document(name).text


def load(name: str) -> dict[str, Any]:
    """Return the content of a document; status codes and other keys are text."""
    return dict(document(name).content)
