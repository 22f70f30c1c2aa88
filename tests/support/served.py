"""What a service serves: all its documents as one."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import specs
from specd._engine.openapi.union import Document, unite
from tests.support.documents import with_json_content
from wsgi import project


def documents_of(service: str) -> list[str]:
    """The names of a service's documents, the first one first."""
    return [name for name, its in project.documents.items() if its == service]


@cache
def served(service: str) -> Mapping[str, Any]:
    """The union of the service's documents, for judges: JSON in a text is content."""
    documents = [Document(name, specs.load(name)) for name in documents_of(service)]
    return with_json_content(unite(service, documents))
