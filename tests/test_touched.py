"""The tests that `scripts/test --changed` selects for a change."""

import pytest

from tests.support.touched import OF_THE_SOURCE, Graph, import_graph, touched


@pytest.fixture(scope="module")
def graph() -> Graph:
    return import_graph()


@pytest.mark.parametrize(
    ("changed", "test"),
    [
        ("models/payment/money.py", "tests/models/payment/test_money.py"),
        ("models/payment/money.py", "tests/handlers/payment/test_invoices.py"),
        ("handlers/chat/users.py", "tests/handlers/chat/test_users.py"),
        ("specs/chat.yaml", "tests/contract/specs/test_chat_document.py"),
        ("tests/pages/conftest.py", "tests/pages/test_emoji.py"),
        ("tests/conftest.py", "tests/specd/engine/test_multipart.py"),
        ("tests/specd/engine/test_multipart.py", "tests/specd/engine/test_multipart.py"),
        ("docs/speed.md", f"{OF_THE_SOURCE}test_docs.py"),
    ],
)
def test_change_of_an_import_affects_the_test(graph: Graph, changed: str, test: str) -> None:
    assert test in touched([changed], graph)


def test_change_without_other_importers_affects_its_own_test(graph: Graph) -> None:
    found = touched(["handlers/chat/users.py"], graph)
    assert [test for test in found if not test.startswith(OF_THE_SOURCE)] == [
        "tests/handlers/chat/test_users.py"
    ]
    assert len(found) > 1
