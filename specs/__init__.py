"""The hand-written OpenAPI documents."""

from pathlib import Path
from typing import Any

from wsgi import project

HERE = Path(__file__).parent


document = project.read_document


def text(name: str) -> bytes:
    """Return a document as it is published."""
    return document(name).text


def load(name: str) -> dict[str, Any]:
    """Return the content of a document, which all callers share; status codes and other keys are
    text.
    """
    return dict(document(name).content)
