"""The second document of the payment service: consistent, closed, and in the models' words.

What holds for every document is in the other modules beside this one.
"""

import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import specs
from models.payment.lifecycle import STATUSES
from tests.contract.specs.examples import operations as operations_in
from tests.contract.specs.examples import written_examples
from tests.support.documents import resolved, walk

DOCUMENT = specs.load("payment-events")
resolve = partial(resolved, DOCUMENT)
SCHEMAS = DOCUMENT["components"]["schemas"]
ERRORS = {"401", "422", "429", "431", "500", "503"}


def operations() -> Iterator[tuple[str, Mapping[str, Any]]]:
    for method, path, operation, _ in operations_in(DOCUMENT):
        yield f"{method} {path}", operation


def test_every_operation_is_the_function_of_its_name() -> None:
    for _, operation in operations():
        module = importlib.import_module(f"handlers.payment.{operation['tags'][0]}")
        function = getattr(module, operation["operationId"])
        first = (inspect.getdoc(function) or "").splitlines()[0]
        assert first == operation["summary"] + ".", "docstring and summary are one sentence"


def test_every_tag_is_used_and_explained() -> None:
    used = {tag for _, operation in operations() for tag in operation["tags"]}
    assert {tag["name"] for tag in DOCUMENT["tags"] if tag["description"]} == used


def test_every_property_of_lists_and_events_is_there() -> None:
    for name in ("InvoiceList", "EventList", "Event"):
        assert SCHEMAS[name]["required"] == list(SCHEMAS[name]["properties"]), name


def test_every_pattern_is_anchored() -> None:
    for place, node in walk(DOCUMENT):
        if isinstance(node, Mapping) and isinstance(node.get("pattern"), str):
            assert re.fullmatch(r"\^.*\$", node["pattern"]), place


def test_speaks_the_models_words() -> None:
    assert SCHEMAS["InvoiceStatus"]["enum"] == list(STATUSES)


def test_the_head_explains_every_type_of_event() -> None:
    head = DOCUMENT["info"]["description"]
    types = SCHEMAS["EventType"]["enum"]
    assert re.findall(r"^\| `(\w+\.\w+)` \|", head, re.MULTILINE) == types


def test_every_error_is_the_error_record() -> None:
    for place, operation in operations():
        assert operation["responses"].keys() >= ERRORS, place
        for status, node in operation["responses"].items():
            answer = resolve(node)
            headers = answer["headers"]
            assert {"Request-Id", "RateLimit", "RateLimit-Policy"} <= headers.keys(), place
            assert ("WWW-Authenticate" in headers) == (status == "401"), place
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


def test_links_lead_to_operations_and_name_their_parameters() -> None:
    known = {
        operation["operationId"]: {parameter["name"] for parameter in parameters}
        for _, _, operation, parameters in operations_in(DOCUMENT)
    }
    linked = 0
    for _, operation in operations():
        for node in operation["responses"].values():
            for link in map(resolve, resolve(node).get("links", {}).values()):
                names = {name.removeprefix("path.") for name in link["parameters"]}
                assert names <= known[link["operationId"]]
                linked += 1
    assert linked >= 10


def test_events_in_examples_tell_what_their_type_says() -> None:
    status_of = {
        "invoice.created": "unpaid",
        "invoice.payment_received": "processing",
        "invoice.paid": "paid",
    }
    examples = written_examples("payment-events")
    single = [examples[name]["value"] for name in ("PaidEvent", "ReceivedEvent")]
    assert single[1]["data"]["payment"] == single[1]["data"]["invoice"]["payments"][0]
    events = [*single, *examples["TwoEvents"]["value"]["data"]]
    for event in events:
        invoice = event["data"]["invoice"]
        assert invoice["status"] == status_of[event["type"]]
        assert (invoice["id"], invoice["updated_at"]) == (event["invoice_id"], event["created_at"])
