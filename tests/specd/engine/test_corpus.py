"""Mocks serve every document of the corpus as documented."""

from collections import Counter
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import ignored_auth

from specd._engine.mocking.service import build_mock
from specd._engine.openapi.union import Document
from tests.specd.engine.client import Client
from tests.specd.engine.corpus import CORPUS, large
from tests.support.marks import in_all

REQUESTS = 3
"""Requests for each operation."""
UNREADABLE = frozenset(("schema-3.1.1-tuple", "schema-3.2.0-tuple"))
"""Documents that schemathesis cannot read, because `items` is a list."""


@pytest.fixture(scope="module", autouse=True)
def _portal() -> None:
    """schemathesis keeps the thread in which applications run."""
    requested(CORPUS["one-operation"])


@pytest.mark.parametrize("name", sorted(CORPUS.keys() - UNREADABLE - {"large-100"}))
def test_each_operation_responds_as_documented(name: str) -> None:
    statuses = requested(CORPUS[name])
    assert statuses.total() >= min(1, len(CORPUS[name].get("paths", {})))
    assert not {status for status in statuses if status >= 500}


def requested(made: dict[str, Any]) -> Counter[int]:
    """Return the number of responses by status for generated requests to a mock of a document."""
    app = build_mock([Document("corpus", made)])
    # The engine rejects NUL, and a mock accepts any credentials.
    config = SchemathesisConfig.from_dict({"generation": {"allow-x00": False}})
    schema = schemathesis.openapi.from_dict(made, config=config)
    statuses: Counter[int] = Counter()
    for operation in schema.get_all_operations():
        send_to(operation.ok(), app, statuses)
    return statuses


def send_to(operation: Any, app: Any, statuses: Counter[int]) -> None:
    @settings(
        max_examples=REQUESTS,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(case=operation.as_strategy())
    def send(case: Any) -> None:
        answer = case.call(app=app, base_url="http://127.0.0.1")
        statuses[answer.status_code] += 1
        case.validate_response(answer, excluded_checks=[ignored_auth])

    send()


@pytest.mark.parametrize("operations", [300, in_all(1500)])
def test_document_of_many_operations_is_served(operations: int) -> None:
    """A document of 1,500 operations needs 160 MB."""
    client = Client(build_mock([Document("corpus", large(operations))]))
    for number in (0, operations // 2, operations - 1):
        assert client.get(f"/things{number}/3").json["id"] >= 0
        assert client.get(f"/things{number}/x").status == 400
    assert client.get(f"/things{operations}/3").status == 404
