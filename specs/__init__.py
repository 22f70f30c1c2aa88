"""The hand-written OpenAPI documents."""

from pathlib import Path
from typing import Any

from wsgi import project

HERE = Path(__file__).parent


document = project.read_document


def text(name: str) -> bytes:
    """Return the published text of a document."""
    return document(name).text


def load(name: str) -> dict[str, Any]:
    """Return the content of a document, which all callers share. All keys are strings, including
    status codes.
    """
    return dict(document(name).content)
