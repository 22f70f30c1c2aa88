"""The hand-written OpenAPI documents."""

from pathlib import Path
from typing import Any

from server.openapi.loading import load_cached
from server.openapi.union import Document

HERE = Path(__file__).parent


def document(name: str) -> Document:
    """Return a document, with what it takes of others, as the engine serves it."""
    path = HERE / f"{name}.yaml"
    loaded = load_cached(path)
    return Document(name, loaded.content, loaded.text, path)


def text(name: str) -> bytes:
    """Return a document as it is published."""
    return document(name).text


def load(name: str) -> dict[str, Any]:
    """Return the content of a document; status codes and other keys are text."""
    return dict(document(name).content)
