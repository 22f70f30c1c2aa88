"""The payment document contains the original interface description, is consistent, and has valid
examples.
"""

import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from openapi_schema_validator import OAS30ReadValidator, OAS30WriteValidator
from openapi_spec_validator import validate

import specs
from models.payment.errors import InvalidAmount
from models.payment.lifecycle import EXCEPTIONS, PAYMENT_STATUSES, STATUSES
from models.payment.methods import LARGEST_CHAIN_ID, MAX_CONFIRMATIONS
from models.payment.money import parse_amount
from specd._engine.document.compiler import is_handler
from tests.support.contract import operations_of
from tests.support.documents import resolved, walk
from tests.support.payment.states import STATES
from tests.support.served import served

ROOT = Path(__file__).parent.parent.parent.parent
DOCUMENT = specs.load("payment")
resolve = partial(resolved, DOCUMENT)
SCHEMAS = DOCUMENT["components"]["schemas"]

# (method, path) -> (operationId, tag, success status), verbatim from the original interface
# description.
SEED = {
    ("get", "/v1/payment-methods"): ("list_payment_methods", "payment_methods", "200"),
    ("post", "/v1/invoices"): ("create_invoice", "invoices", "201"),
    ("get", "/v1/invoices/{id}"): ("get_invoice", "invoices", "200"),
    ("post", "/v1/invoices/{id}/cancel"): ("cancel_invoice", "invoices", "200"),
    ("post", "/v1/invoices/{id}/checkout-sessions"): (
        "create_checkout_session",
        "checkout_sessions",
        "201",
    ),
}
OPTIONAL: dict[str, list[str]] = {
    "Invoice": [
        "expiry_final",
        "derivation_path",
        "payments_omitted",
        "warnings",
        "amount_tolerated",
        "transfers_left_out",
        "metadata",
        "resolution",
    ],
    "Resolution": ["refund_tx_hash"],
    "AttemptWarning": [],
    "Payment": [],
    "Route": [],
    "CheckoutSession": ["success_url", "cancel_url"],
    "ErrorResponse": [],
    "PaymentMethods": [],
}
"""Object of a response -> its optional properties, which follow the required ones."""
SEED_ERRORS = {"401", "404", "409", "422", "500", "503"}
METHODS = ("get", "put", "post", "delete", "patch")


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in DOCUMENT["paths"].items():
        for method in METHODS:
            if method in item:
                yield method, path, item[method]


def schemas() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every schema anywhere: those with a type, outside examples."""
    for place, node in walk(DOCUMENT):
        if "/securitySchemes/" in place or "/example" in place:
            continue
        if isinstance(node, Mapping) and isinstance(node.get("type"), str):
            yield place, node


def media_examples() -> Iterator[tuple[str, dict[str, Any], str, Any]]:
    """Yield (place, schema, direction, example) of every request and response body."""
    for method, path, operation in operations():
        bodies = [("request", operation.get("requestBody", {}))]
        bodies += [(status, resolve(r)) for status, r in operation["responses"].items()]
        for name, body in bodies:
            for media in body.get("content", {}).values():
                for key, example in media["examples"].items():
                    place = f"{method} {path} {name} {key}"
                    yield place, media["schema"], name, resolve(example)["value"]


def test_is_valid_openapi() -> None:
    validate(DOCUMENT)


class TestSeed:
    def test_has_exactly_the_five_operations(self) -> None:
        found = {
            (method, path): (
                operation["operationId"],
                *operation["tags"],
                min(operation["responses"]),
            )
            for method, path, operation in operations()
        }
        assert found == SEED

    def test_lists_the_given_errors_for_operations_1_to_4(self) -> None:
        for _, _, operation in operations():
            assert operation["responses"].keys() >= SEED_ERRORS, operation["operationId"]

    def test_has_the_given_version_and_security(self) -> None:
        assert DOCUMENT["info"]["version"] == "0.2.1"
        assert DOCUMENT["security"] == [{"bearerAuth": []}]
        scheme = DOCUMENT["components"]["securitySchemes"]["bearerAuth"]
        assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")

    def test_constrains_the_creation_request_as_given(self) -> None:
        schema = SCHEMAS["InvoiceCreation"]
        facts = {
            name: {k: v for k, v in p.items() if k != "description"}
            for name, p in schema["properties"].items()
        }
        assert schema["additionalProperties"] is False
        assert sorted(schema["required"]) == sorted(facts)
        # The pattern matches all text that a database can store.
        pattern = facts["external_order_id"].pop("pattern")
        assert facts["external_order_id"] == {"type": "string", "minLength": 1, "maxLength": 150}
        texts = {
            "order-1": True,
            "ordre n° 1\n\U0001f600": True,
            "\u0000": False,
            "a\u0000b": False,
        }
        assert {t: re.search(pattern, t) is not None for t in texts} == texts
        assert (facts["attempt_no"]["minimum"], facts["attempt_no"]["maximum"]) == (1, 2147483647)
        assert facts["amount"]["pattern"] == r"^(0|[1-9][0-9]{0,71})(\.[0-9]{1,6})?$"

    def test_requires_the_key_as_given(self) -> None:
        needing = {
            operation["operationId"]
            for _, _, operation in operations()
            for parameter in map(resolve, operation.get("parameters", ()))
            if parameter["name"] == "Idempotency-Key" and parameter["required"]
        }
        assert needing == {"create_invoice", "cancel_invoice"}
        pattern = DOCUMENT["components"]["parameters"]["IdempotencyKey"]["schema"]["pattern"]
        assert pattern == "^[A-Za-z0-9._:-]{8,100}$"

    def test_session_has_the_given_fields(self) -> None:
        fields = ["invoice_id", "checkout_token", "checkout_url", "expires_at"]
        assert SCHEMAS["CheckoutSession"]["required"] == fields
        assert list(SCHEMAS["CheckoutSession"]["properties"])[: len(fields)] == fields


class TestHandlers:
    def test_every_operation_is_the_function_of_its_name(self) -> None:
        for _, _, operation in operations():
            module = importlib.import_module(f"handlers.payment.{operation['tags'][0]}")
            function = getattr(module, operation["operationId"])
            first = (inspect.getdoc(function) or "").splitlines()[0]
            assert first == operation["summary"] + ".", "docstring and summary must be the same"

    def test_every_handler_has_an_operation(self) -> None:
        named = set(operations_of(served("payment")))
        tags = {tag["name"] for tag in served("payment")["tags"]}
        found = {
            name
            for tag in tags
            for name, value in vars(importlib.import_module(f"handlers.payment.{tag}")).items()
            if is_handler(value, f"handlers.payment.{tag}")
        }
        assert found == named

    def test_every_handler_module_has_tests(self) -> None:
        handlers = {path.stem for path in (ROOT / "handlers/payment").rglob("*.py")}
        tests = {path.stem for path in (ROOT / "tests/handlers/payment").glob("test_*.py")}
        plumbing = {"__init__", "context", "render", "wiring"}  # all tests use them
        plumbing |= {"failures", "types"}  # tests/contract/failures, tests/cli/test_types.py
        assert {f"test_{name}" for name in handlers - plumbing} <= tests

    def test_every_tag_is_used_and_described(self) -> None:
        used = {tag for _, _, operation in operations() for tag in operation["tags"]}
        assert {tag["name"] for tag in DOCUMENT["tags"] if tag["description"]} == used


class TestShapes:
    def test_every_object_is_flat(self) -> None:
        combined = {p for p, _ in walk(DOCUMENT["components"]["schemas"]) if "allOf" in p}
        assert combined == set()

    def test_every_integer_has_bounds(self) -> None:
        for place, schema in schemas():
            if schema["type"] == "integer" and "enum" not in schema:
                assert {"minimum", "maximum"} <= schema.keys(), place
                assert -(2**53) < schema["minimum"] <= schema["maximum"] < 2**53, place

    def test_every_pattern_is_anchored(self) -> None:
        for place, schema in schemas():
            if "pattern" in schema:
                assert re.fullmatch(r"\^.*\$", schema["pattern"]), place

    def test_every_property_is_required_and_null_only_if_documented(self) -> None:
        for name, optional in OPTIONAL.items():
            names = SCHEMAS[name]["required"] + optional
            assert names == list(SCHEMAS[name]["properties"]), name
        nullable = {place for place, schema in schemas() if schema.get("nullable")}
        assert nullable == {"#/components/schemas/TimeOrNull"}

    def test_lists_every_state_of_an_invoice(self) -> None:
        head = DOCUMENT["info"]["description"].partition("These are all pairs:")[2]
        rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| \w.*\.  ?\|$", head, re.MULTILINE)
        assert len(rows) == len(set(rows))
        assert set(rows) == STATES

    def test_uses_the_terms_of_the_models(self) -> None:
        assert SCHEMAS["InvoiceStatus"]["enum"] == list(STATUSES)
        assert SCHEMAS["InvoiceException"]["enum"] == list(EXCEPTIONS)
        assert SCHEMAS["PaymentStatus"]["enum"] == list(PAYMENT_STATUSES)
        assert SCHEMAS["ChainId"]["maximum"] == LARGEST_CHAIN_ID
        assert SCHEMAS["ConfirmationsRequired"]["maximum"] == MAX_CONFIRMATIONS


class TestAnswers:
    def test_every_error_is_the_error_record_in_json(self) -> None:
        for _, path, operation in operations():
            for status, node in operation["responses"].items():
                if status[0] in "45":
                    content = resolve(node)["content"]
                    assert list(content) == ["application/json"], (path, status)
                    assert content["application/json"]["schema"]["$ref"].endswith("/ErrorResponse")

    def test_every_response_documents_its_headers(self) -> None:
        for _, path, operation in operations():
            for status, node in operation["responses"].items():
                headers = resolve(node)["headers"]
                assert {"Request-Id", "RateLimit", "RateLimit-Policy"} <= headers.keys(), (
                    path,
                    status,
                )
                assert ("WWW-Authenticate" in headers) == (status == "401")
                if status in ("429", "503"):
                    assert resolve(headers["Retry-After"])["required"], (path, status)

    def test_links_have_an_operation_and_named_parameters(self) -> None:
        ids = {operation["operationId"] for _, _, operation in operations()}
        linked: dict[str, set[str]] = {}
        for _, _, operation in operations():
            for node in operation["responses"].values():
                for link in map(resolve, resolve(node).get("links", {}).values()):
                    linked.setdefault(operation["operationId"], set()).add(link["operationId"])
        assert set().union(*linked.values()) <= ids
        assert linked["create_invoice"] == {
            "get_invoice",
            "cancel_invoice",
            "create_checkout_session",
        }


class TestExamples:
    def test_every_body_has_named_examples(self) -> None:
        for _, path, operation in operations():
            bodies = [operation.get("requestBody", {})]
            bodies += [resolve(node) for node in operation["responses"].values()]
            for body in bodies:
                for media in body.get("content", {}).values():
                    assert media.get("examples"), path

    @pytest.mark.parametrize(
        ("schema", "direction", "example"),
        [pytest.param(*rest, id=place) for place, *rest in media_examples()],
    )
    def test_every_example_is_valid(
        self, schema: dict[str, Any], direction: str, example: Any
    ) -> None:
        validator = OAS30WriteValidator if direction == "request" else OAS30ReadValidator
        validator({**schema, "components": DOCUMENT["components"]}).validate(example)

    def test_parameter_examples_are_valid(self) -> None:
        for place, node in walk(DOCUMENT):
            if isinstance(node, Mapping) and node.get("in") in ("path", "header", "query"):
                shown = [each["value"] for each in node.get("examples", {}).values()]
                shown += [node["example"]] if "example" in node else []
                for example in shown:
                    OAS30WriteValidator(node["schema"]).validate(example)
                assert shown, place

    def test_header_examples_are_valid(self) -> None:
        for name, header in DOCUMENT["components"]["headers"].items():
            OAS30ReadValidator(header["schema"]).validate(header["example"])
            assert header["description"], name

    def test_every_error_code_has_an_example(self) -> None:
        shown = {
            example["code"] for _, _, direction, example in media_examples() if direction[0] in "45"
        }
        assert shown == set(SCHEMAS["ErrorCode"]["enum"]) - {"method_not_allowed"}

    def test_invoices_in_examples_have_consistent_amounts(self) -> None:
        checked = 0
        for place, schema, _, example in media_examples():
            if schema["$ref"].endswith("/Invoice"):
                checked += 1
                amounts = {k[7:]: int(v) for k, v in example.items() if k.startswith("amount_")}
                received = amounts["paid"] + amounts["pending"]
                counted = [
                    int(p["amount"]) for p in example["payments"] if p["status"] != "orphaned"
                ]
                assert sum(counted) == received, place
                assert amounts["remaining"] == max(0, int(example["amount"]) - received), place
                assert amounts["overpaid"] == max(0, received - int(example["amount"])), place
        assert checked

    def test_requested_amounts_in_examples_can_be_paid(self) -> None:
        asked = {
            place: parse_amount(example["amount"])
            for place, _, direction, example in media_examples()
            if direction == "request" and "amount" in example
        }
        assert asked
        assert min(asked.values()) > 0, asked

    def test_largest_amount_matches_the_errors(self) -> None:
        (largest,) = re.findall(r"[0-9]{72}\.[0-9]{6}", str(InvalidAmount()))
        assert parse_amount(largest) == 2**256 - 1
        assert largest in SCHEMAS["InvoiceCreation"]["properties"]["amount"]["description"]
