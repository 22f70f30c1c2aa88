"""All documents of a service as one."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import specs
from specd._engine.openapi.union import Document, unite
from tests.support.documents import with_json_content
from wsgi import project


def documents_of(service: str) -> list[str]:
    """Return the names of a service's documents in order."""
    return [name for name, its in project.documents.items() if its == service]


@cache
def served(service: str) -> Mapping[str, Any]:
    """Return the union of the service's documents for validators, with JSON in texts as content."""
    documents = [Document(name, specs.load(name)) for name in documents_of(service)]
    return with_json_content(unite(service, documents))
