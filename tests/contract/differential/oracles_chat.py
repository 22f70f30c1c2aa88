"""Differences between openapi-core and the chat service, with reasons. Registered in addition to
`oracles`.

Stock connexion is excluded, because it cannot serve this document: `/users/{email}` and
`/users/{user_id}` are the same route for it, so one of them is never reached. It does not read form
fields from a query string, has no method override, and answers an unsupported body with 415.
"""

from __future__ import annotations

from tests.contract.differential import views
from tests.contract.differential.generate import JSON, MULTIPART, URLENCODED, Request
from tests.contract.differential.oracles import HARSHER, MILDER, Document, differs

BASE = "/api/v1"
FORMS = (URLENCODED, MULTIPART, JSON)


MAX_TARGET = 8 * 1024


def is_chat(request: Request) -> bool:
    return request.base_path == BASE


@differs(
    "core",
    verdicts=HARSHER,
    reason="clients of this API send //; duplicate slashes are one (the document's Conventions).",
)
def duplicate_slashes(request: Request, document: Document) -> bool:
    return is_chat(request) and "//" in request.path


@differs(
    "core",
    verdicts=MILDER,
    reason="an address of more than 8 KiB gets 414; no schema limits several parameters together.",
)
def address_too_long(request: Request, document: Document) -> bool:
    return is_chat(request) and len(request.path) + len(request.raw_query) > MAX_TARGET


@differs(
    "core",
    verdicts=HARSHER,
    reason="a body that is not a form is not read, as in Zulip, so its fields are absent.",
)
def body_that_is_no_form(request: Request, document: Document) -> bool:
    return is_chat(request) and views.media_type(request) not in FORMS


@differs(
    "core",
    verdicts=HARSHER,
    reason="a form without fields is an empty one, whatever `required` says of the body: only "
    "fields can be missing.",
)
def empty_form(request: Request, document: Document) -> bool:
    return is_chat(request) and not views.form_fields(request)


@differs(
    "core",
    verdicts=HARSHER,
    reason="real clients send a field that may be text or something else as JSON or as plain text: "
    "if the value is not JSON of another permitted type, it is text.",
)
def text_where_json_is_marked(request: Request, document: Document) -> bool:
    schema, encoding = views.form_schema(request, document)
    sent = {name for name, _ in views.form_fields(request)}
    fields = schema.get("properties", {})
    return is_chat(request) and any(
        name in sent and name in encoding and _may_be_text(fields[name], document)
        for name in fields
    )


@differs(
    "core",
    verdicts=HARSHER,
    reason="openapi-core does not look into `allOf` for the type of a multipart field, and takes "
    "no text for a named enumeration.",
)
def named_enumeration_in_multipart(request: Request, document: Document) -> bool:
    schema, encoding = views.form_schema(request, document)
    sent = {name for name, _ in views.form_fields(request)}
    return views.media_type(request) == MULTIPART and any(
        name in sent - encoding.keys()
        and "type" not in views.resolve(field, document)
        and "allOf" in views.resolve(field, document)
        for name, field in schema.get("properties", {}).items()
    )


@differs(
    "core",
    verdicts=MILDER,
    reason="the key of an incoming webhook is a credential, though it comes as a parameter.",
)
def key_of_an_incoming_webhook(request: Request, document: Document) -> bool:
    names = {name for name, _ in request.query}
    return is_chat(request) and request.template.startswith("/external/") and "api_key" in names


def _may_be_text(schema: Document, document: Document) -> bool:
    schema = views.resolve(schema, document)
    branches = [*schema.get("oneOf", ()), *schema.get("anyOf", ())]
    if schema.get("type") == "array":  # a single item may be sent without brackets
        branches.append(schema["items"])
    return schema.get("type") == "string" or any(_may_be_text(b, document) for b in branches)
