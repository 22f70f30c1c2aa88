"""Differences of the oracles from us for forms, with reasons. Registered next to `oracles`."""

import json
import re

from tests.contract.differential import views
from tests.contract.differential.generate import JSON, MULTIPART, Request
from tests.contract.differential.oracles import DIES, HARSHER, MILDER, Document, differs


def odd_form(request: Request, document: Document) -> bool:
    """Return whether a field sent as JSON is malformed, repeated, or has a wrong type."""
    schema, encoding = views.form_schema(request, document)
    fields = views.form_fields(request)
    again = views.repeated([name for name, _ in fields])
    for name, text in fields:
        wants = views.resolve(schema.get("properties", {}).get(name, {}), document)
        if encoding.get(name, {}).get("contentType") != JSON:
            continue
        try:
            value = json.loads(text)
        except ValueError:
            return True
        if name in again or isinstance(value, list) != (wants.get("type") == "array"):
            return True
        if wants.get("type") == "boolean" and not isinstance(value, bool):
            return True
        items = [*(value if isinstance(value, list) else ()), *(v for _, v in views.members(value))]
        if any(type(item) is not int for item in items):
            return True
    return False


@differs(
    "stock",
    verdicts=DIES + HARSHER + MILDER,
    reason="JSON in a form field is decoded without care: JSONDecodeError, TypeError, and "
    "repeated fields joined by commas.",
)
def form_field_of_odd_json(request: Request, document: Document) -> bool:
    return odd_form(request, document)


@differs(
    "stock",
    "core",
    verdicts=HARSHER + MILDER + DIES,
    reason="a repeated field of a form is joined by commas (OpenAPIURIParser.resolve_form).",
)
def repeated_form_field(request: Request, document: Document) -> bool:
    return bool(views.repeated([name for name, _ in views.form_fields(request)]))


def array_fields(request: Request, document: Document) -> list[tuple[str, bool]]:
    """Return the texts of array fields of a form, and whether JSON was expected."""
    schema, encoding = views.form_schema(request, document)
    kinds = {
        name: views.resolve(item, document).get("type")
        for name, item in schema.get("properties", {}).items()
    }
    return [
        (text, encoding.get(name, {}).get("contentType") == JSON)
        for name, text in views.form_fields(request)
        if kinds.get(name) == "array"
    ]


@differs(
    "stock",
    verdicts=MILDER + HARSHER,
    reason="an array in a form is split at commas (OpenAPIURIParser.resolve_form); RFC 6570's "
    "exploded form, the default in OpenAPI, repeats the key.",
)
def comma_in_an_array_field(request: Request, document: Document) -> bool:
    return any("," in text and not is_json for text, is_json in array_fields(request, document))


@differs(
    "core",
    verdicts=HARSHER,
    reason="generated clients repeat the key of an array, JSON or not; one item is one key, which "
    "we take for a list of one.",
)
def lone_item_of_an_array(request: Request, document: Document) -> bool:
    return any(
        is_json and not text.lstrip().startswith("[")
        for text, is_json in array_fields(request, document)
    )


@differs(
    "stock",
    "core",
    verdicts=HARSHER + DIES + MILDER,
    reason="multipart without the boundary that the body has cannot be read; stock reads it "
    "even where the operation takes no body.",
)
def multipart_without_its_boundary(request: Request, document: Document) -> bool:
    boundary = "boundary=frontier" in (request.content_type or "")
    return views.media_type(request) == MULTIPART and not boundary


@differs(
    "stock",
    "core",
    verdicts=DIES + MILDER + HARSHER,
    reason="malformed multipart: parsers may keep different parts of it.",
)
def malformed_multipart(request: Request, document: Document) -> bool:
    first, *parts = request.body.split(b"--frontier")
    part = rb'(?s)\r\nContent-Disposition: form-data; name="[^"\r\n]*"\r\n\r\n.*\r\n'
    whole = not first and parts[-1:] == [b"--\r\n"]
    whole = whole and all(re.fullmatch(part, item) for item in parts[:-1])
    return views.media_type(request) == MULTIPART and not whole


@differs(
    "core",
    verdicts=MILDER,
    reason="undeclared form fields are ignored, additionalProperties or not.",
)
def undeclared_form_field(request: Request, document: Document) -> bool:
    schema, _ = views.form_schema(request, document)
    known = schema.get("properties", {})
    return any(name not in known for name, _ in views.form_fields(request))


@differs(
    "core",
    verdicts=HARSHER,
    reason="in multipart, a JSON array is one item of an array, and an absent array is []: "
    "encoding.contentType is applied to each value, not to the field.",
)
def array_in_multipart(request: Request, document: Document) -> bool:
    schema, _ = views.form_schema(request, document)
    kinds = [views.resolve(i, document).get("type") for i in schema.get("properties", {}).values()]
    return views.media_type(request) == MULTIPART and "array" in kinds
