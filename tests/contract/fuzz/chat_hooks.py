"""Rules of the chat service that OpenAPI 3.0 cannot express, as hooks of schemathesis.

- Form fields whose `encoding` has `application/json` are sent as JSON text. The document defines
  this, but the serializers of schemathesis ignore it: urlencoded, `encoding.contentType` is not
  read; multipart, an array becomes bare items, and is missing if it is empty.
- Valid cases are changed to refer to objects in the database (`chat_facts`), known from earlier
  responses (`chat_seen`), and to have consistent parameters (`chat_sense`).
- A valid request may still be rejected, with 400 as everywhere in this API, because of the data in
  the database: an unknown id, a missing permission, a time in the past. `chat_refusals`
  distinguishes these from rejections of values that the document allows, which are failures.
- An array in a form may be sent as a repeated field, so one item alone is an array.
- A member may read an owner's messages in a public channel and the users of the organization, and
  a deactivated user still exists.

Invalid cases are sent as generated. Operations and checks are not changed.
"""

from __future__ import annotations

import json
import os
from typing import Any
from urllib.parse import urlencode

import schemathesis
from schemathesis import Case, GenerationMode, HookContext, SerializationContext
from schemathesis.core.failures import AcceptedNegativeData, Failure
from schemathesis.core.transport import Response
from schemathesis.openapi.checks import (
    ObjectLevelAuthorizationViolation,
    RejectedPositiveData,
    UseAfterFree,
)
from schemathesis.transport.requests import (
    REQUESTS_TRANSPORT,
    multipart_serializer,
    urlencoded_serializer,
)

import specs
from specd._engine.http.guard import MAX_TARGET
from specd._engine.openapi.structure import lookup
from tests.contract.fuzz.chat_facts import factual
from tests.contract.fuzz.chat_refusals import is_of_the_domain
from tests.contract.fuzz.chat_seen import Seen
from tests.contract.fuzz.users import read_users

JSON = "application/json"
URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
PUBLIC = (
    "/users/{user_id}",
    "/users/{email}",
    "/users/me/{stream_id}/topics",
    "/users/{user_id}/subscriptions/{stream_id}",
    "/streams/{stream_id}",
    "/streams/{stream_id}/members",
    "/messages/{message_id}/read_receipts",
    "/user_groups/{user_group_id}/members",
    "/user_groups/{user_group_id}/members/{user_id}",
    "/user_groups/{user_group_id}/subgroups",
)
OWNER = read_users(os.environ.get("SPECD_FUZZ_USERS", "")).get("first")
SEEN = Seen()
DOCUMENT = specs.load("chat")


@schemathesis.hook
def before_call(context: HookContext, case: Case, kwargs: dict[str, Any]) -> None:
    """Make a valid case refer to existing objects."""
    if case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE:
        factual(case, SEEN)
        if case.operation.definition.raw["operationId"] == "get_events":
            case.query["dont_block"] = "true"  # polls exceed its timeout


@schemathesis.hook
def after_call(context: HookContext, case: Case, response: Response) -> None:
    """Record the objects in a response for the main user, and not for the other user."""
    if response.request.headers.get("Authorization") != OWNER or response.status_code != 200:
        return
    if "json" in response.headers.get("content-type", [""])[0]:
        operation_id = case.operation.definition.raw["operationId"]
        body = case.body if isinstance(case.body, dict) else {}
        SEEN.note(operation_id, {**(case.path_parameters or {}), **body}, response.json())


@REQUESTS_TRANSPORT.serializer(URLENCODED)
def serialize_urlencoded(context: SerializationContext, value: Any) -> dict[str, Any]:
    """Serialize a form according to its `encoding`."""
    body = context.case.body
    if not isinstance(body, dict):
        return urlencoded_serializer(context, value)
    as_json = json_fields(context.case)
    fields: list[tuple[str, str | bytes]] = []
    for name, item in body.items():
        items = item if isinstance(item, list) and name not in as_json else [item]
        fields += [(name, json.dumps(each) if name in as_json else text_of(each)) for each in items]
    return {"data": urlencode(fields)}


@REQUESTS_TRANSPORT.serializer(MULTIPART)
def serialize_multipart(context: SerializationContext, value: Any) -> dict[str, Any]:
    """Serialize a form according to its `encoding`."""
    if isinstance(value, dict):
        as_json = json_fields(context.case)
        value = {n: json.dumps(v) if n in as_json else v for n, v in value.items()}
    return multipart_serializer(context, value)


def text_of(value: Any) -> str:
    """Return a value as text of a plain field."""
    return value if isinstance(value, str) else json.dumps(value)


@schemathesis.hook
def filter_failure(context: HookContext, failure: Failure, case: Case, response: Response) -> bool:
    """Keep all failures except six kinds that are correct behavior of a chat service."""
    if isinstance(failure, AcceptedNegativeData):
        if "Invalid component: positive test case" in failure.message:
            return False  # a file may contain any bytes, so the invalid content is valid
        # In a form, an item without brackets is an array of one: a repeated field, sent once.
        return not any(
            f"in body - {name}:" in failure.message or f" at /properties/{name} " in failure.message
            for name in lone_items(case)
        )
    if isinstance(failure, RejectedPositiveData) and response.status_code == 414:
        return len(response.request.url or "") <= MAX_TARGET  # limits their sum
    if isinstance(failure, RejectedPositiveData) and response.status_code == 400:
        return not is_of_the_domain(response.json(), case.operation.definition.raw["operationId"])
    if isinstance(failure, ObjectLevelAuthorizationViolation):
        # Messages in public channels and the users are visible to all members. Direct messages are
        # not.
        return not _is_public(case, response)
    if isinstance(failure, UseAfterFree):
        # A deactivated user still exists, and administrators can read, rename and restore it.
        return not case.operation.path.startswith("/users/{")
    return True


def lone_items(case: Case) -> set[str]:
    """Return the names of array fields of a form that contain a valid single item."""
    body = case.operation.get_body_for_media_type(case.media_type)
    if body is None or case.media_type == JSON or not isinstance(case.body, dict):
        return set()
    schema = body.definition["schema"]
    fields = resolved(schema, schema).get("properties", {})
    wanted = {n for n, field in fields.items() if resolved(field, schema).get("type") == "array"}
    return {n for n in wanted & case.body.keys() if not isinstance(case.body[n], list | dict)}


def _is_public(case: Case, response: Response) -> bool:
    """Return whether the object is a user, a group, a channel or a part of one. The member is in no
    private channel.
    """
    if response.status_code != 200:
        return False
    message = response.json().get("message")
    is_in_channel = isinstance(message, dict) and message.get("type") == "stream"
    return is_in_channel or case.operation.path in PUBLIC


def resolved(node: Any, body: Any) -> Any:
    """Return a schema after resolving `$ref` in the document, or in the schemas that schemathesis
    keeps for this body.
    """
    while "$ref" in node:
        place = body if node["$ref"].startswith("#/x-bundled/") else DOCUMENT
        node = lookup(place, node["$ref"])
    return node


def json_fields(case: Case) -> set[str]:
    """Return the names of the fields that must be JSON text."""
    body = case.operation.get_body_for_media_type(case.media_type)
    encoding = {} if body is None else body.definition.get("encoding", {})
    return {name for name, how in encoding.items() if how.get("contentType") == JSON}
