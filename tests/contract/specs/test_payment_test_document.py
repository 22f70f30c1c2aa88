"""The third document of the payment service has the rules of the second, and is served only if
enabled.

Rules for all documents are in the other modules of this folder.
"""

from pathlib import Path

import specs
from handlers.payment.wiring import compose
from models.payment.test_helpers.faults import Kind
from models.payment.test_helpers.runs import DELIVERING, FAILED, PASSED, QUEUED, RUNNING
from models.payment.test_helpers.scenarios import Refund
from settings import Settings
from wsgi import project

NAME = "payment-test"
DOCUMENT = specs.load(NAME)
SCHEMAS = DOCUMENT["components"]["schemas"]


def test_served_only_if_enabled(tmp_path: Path) -> None:
    assert NAME in project.optional
    for value, is_served in {"off": False, "on": True, "public": True}.items():
        service = compose(Settings(data_dir=tmp_path, payment_test_helpers=value))
        assert (NAME in [document.name for document in service.documents]) is is_served
        assert any("test-helpers" in path for path in service.document["paths"]) is is_served


def test_all_paths_have_one_prefix() -> None:
    assert all(path.startswith("/v1/test-helpers/") for path in DOCUMENT["paths"])


def test_uses_the_terms_of_the_models() -> None:
    assert SCHEMAS["FaultKind"]["enum"] == list(Kind)
    assert SCHEMAS["Refund"]["enum"] == list(Refund)
    assert SCHEMAS["RunState"]["enum"] == [QUEUED, RUNNING, DELIVERING, PASSED, FAILED]
