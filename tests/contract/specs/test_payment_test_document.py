"""The third document of the payment service: as the second one, and served where it is wanted.

What holds for every document is in the other modules beside this one.
"""

import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import specs
from handlers.payment.wiring import compose
from models.payment.test_helpers.faults import Kind
from models.payment.test_helpers.runs import DELIVERING, FAILED, PASSED, QUEUED, RUNNING
from models.payment.test_helpers.scenarios import Refund
from services import OPTIONAL
from settings import Settings
from tests.contract.specs.examples import operations as operations_in
from tests.support.documents import resolved, walk

NAME = "payment-test"
DOCUMENT = specs.load(NAME)
resolve = partial(resolved, DOCUMENT)
SCHEMAS = DOCUMENT["components"]["schemas"]
ERRORS = {"401", "422", "429", "431", "500", "503"}


def operations() -> Iterator[tuple[str, Mapping[str, Any]]]:
    for method, path, operation, _ in operations_in(DOCUMENT):
        yield f"{method} {path}", operation


def test_it_is_served_where_a_setting_says_so(tmp_path: Path) -> None:
    assert NAME in OPTIONAL
    for value, is_served in {"off": False, "on": True, "public": True}.items():
        service = compose(Settings(data_dir=tmp_path, payment_test_helpers=value))
        assert (NAME in [document.name for document in service.documents]) is is_served
        assert any("test-helpers" in path for path in service.document["paths"]) is is_served


def test_all_of_it_is_below_one_path() -> None:
    assert all(path.startswith("/v1/test-helpers/") for path in DOCUMENT["paths"])


def test_every_operation_is_the_function_of_its_name() -> None:
    for _, operation in operations():
        module = importlib.import_module(f"handlers.payment.{operation['tags'][0]}")
        function = getattr(module, operation["operationId"])
        first = (inspect.getdoc(function) or "").splitlines()[0]
        assert first == operation["summary"] + ".", "docstring and summary are one sentence"


def test_every_tag_is_used_and_explained() -> None:
    used = {tag for _, operation in operations() for tag in operation["tags"]}
    assert {tag["name"] for tag in DOCUMENT["tags"] if tag["description"]} == used


def test_every_pattern_is_anchored() -> None:
    for place, node in walk(DOCUMENT):
        if isinstance(node, Mapping) and isinstance(node.get("pattern"), str):
            assert re.fullmatch(r"\^.*\$", node["pattern"]), place


def test_speaks_the_models_words() -> None:
    assert SCHEMAS["FaultKind"]["enum"] == list(Kind)
    assert SCHEMAS["Refund"]["enum"] == list(Refund)
    assert SCHEMAS["RunState"]["enum"] == [QUEUED, RUNNING, DELIVERING, PASSED, FAILED]


def test_every_error_is_the_error_record() -> None:
    for place, operation in operations():
        assert operation["responses"].keys() >= ERRORS, place
        for status, node in operation["responses"].items():
            answer = resolve(node)
            headers = answer["headers"]
            assert {"Request-Id", "RateLimit", "RateLimit-Policy"} <= headers.keys(), place
            if status[0] in "45":
                assert "Link" in headers, place
                (media,) = answer["content"].values()
                assert media["schema"]["$ref"].endswith("/ErrorResponse"), (place, status)


def test_every_error_code_has_an_example() -> None:
    shown = {
        resolve(example)["value"]["code"]
        for _, operation in operations()
        for status, node in operation["responses"].items()
        if status[0] in "45"
        for example in resolve(node)["content"]["application/json"]["examples"].values()
    }
    assert shown == set(SCHEMAS["ErrorCode"]["enum"]) - {"method_not_allowed", "not_found"}
