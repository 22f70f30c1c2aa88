"""The second document of the payment service is consistent, closed, and uses the terms of the
models.

Rules for all documents are in the other modules of this folder.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import specs
from models.payment.lifecycle import STATUSES
from tests.contract.specs.examples import operations as operations_in
from tests.contract.specs.examples import written_examples
from tests.support.documents import resolved

DOCUMENT = specs.load("payment-events")
resolve = partial(resolved, DOCUMENT)
SCHEMAS = DOCUMENT["components"]["schemas"]


def operations() -> Iterator[tuple[str, Mapping[str, Any]]]:
    for method, path, operation, _ in operations_in(DOCUMENT):
        yield f"{method} {path}", operation


def test_every_property_of_lists_and_events_is_required() -> None:
    for name in ("InvoiceList", "EventList", "Event"):
        assert SCHEMAS[name]["required"] == list(SCHEMAS[name]["properties"]), name


def test_uses_the_terms_of_the_models() -> None:
    assert SCHEMAS["InvoiceStatus"]["enum"] == list(STATUSES)


def test_introduction_explains_every_type_of_event() -> None:
    head = DOCUMENT["info"]["description"]
    types = SCHEMAS["EventType"]["enum"]
    assert re.findall(r"^\| `(\w+\.\w+)` \|", head, re.MULTILINE) == types


def test_links_have_an_operation_and_named_parameters() -> None:
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


def test_events_in_examples_match_their_type() -> None:
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
