"""Every endpoint that Zulip clients call is in the document, listed by client as written in its
source. `tests/clients` runs the clients.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import specs

DOCUMENT = specs.load("chat")
ENDPOINTS: Mapping[str, str] = {
    "zulip-term 0.7.0": """
        GET /server_settings
        POST /fetch_api_key
        POST /register
        GET,DELETE /events
        GET,POST /messages
        GET,PATCH /messages/{}
        GET /messages/{}/history
        POST,DELETE /messages/{}/reactions
        POST /messages/flags
        POST /typing
        POST /users/me/presence
        POST /users/me/subscriptions/properties
        GET /users/me/{}/topics
        GET /streams/{}/email_address
    """,
    "zulip-flutter of August 2026": """
        GET /server_settings
        POST /fetch_api_key
        POST /register
        GET /events
        GET /users/me
        POST /users/me/presence
        POST /users/me/status
        POST,DELETE /users/me/subscriptions
        PATCH /users/me/subscriptions/muted_topics
        POST /users/me/subscriptions/properties
        GET /users/me/{}/topics
        POST /user_topics
        PATCH /settings
        GET,POST /messages
        GET,PATCH,DELETE /messages/{}
        POST,DELETE /messages/{}/reactions
        GET /messages/{}/read_receipts
        POST /messages/{}/report
        POST /messages/flags
        POST /messages/flags/narrow
        POST /submessage
        POST /typing
        POST /saved_snippets
        POST /user_uploads
        GET /user_uploads/{}/{}
        POST /register_client_device
        POST /remove_client_device
        POST /mobile_push/register
        POST,DELETE /users/me/android_gcm_reg_id
        POST,DELETE /users/me/apns_device_token
    """,
    "zulip-js 2.1.0": """
        GET /server_settings
        POST /fetch_api_key
        POST /register
        GET,DELETE /events
        GET,POST /users
        GET /users/me
        GET /users/me/alert_words
        GET,POST /users/me/pointer
        GET,POST,DELETE /users/me/subscriptions
        GET /users/me/{}/topics
        GET,POST /messages
        GET,PATCH,DELETE /messages/{}
        GET /messages/{}/history
        POST,DELETE /messages/{}/reactions
        POST /messages/flags
        POST /messages/render
        GET /streams
        DELETE /streams/{}
        GET /get_stream_id
        POST /typing
        GET /realm/emoji
        GET /realm/filters
    """,
    "zulip_bots 0.9.1": """
        GET /server_settings
        POST /register
        GET /events
        GET /users/me
        POST /messages
        PATCH /messages/{}
        POST /messages/{}/reactions
        GET,PUT /bot_storage
        POST /user_uploads
    """,
}
NEVER: Mapping[str, str] = {
    "GET /realm/filters": "Feature level 54 has removed it.",
    "GET /users/me/pointer": "Feature level 23 has removed it.",
    "POST /users/me/pointer": "Feature level 23 has removed it.",
    # zulip-flutter calls these if the feature level is below 468.
    "POST /users/me/android_gcm_reg_id": "The document's tag mobile_push says why.",
    "DELETE /users/me/android_gcm_reg_id": "The document's tag mobile_push says why.",
    "POST /users/me/apns_device_token": "The document's tag mobile_push says why.",
    "DELETE /users/me/apns_device_token": "The document's tag mobile_push says why.",
}
"""Unsupported endpoints -> the reason."""


def called() -> Iterator[Any]:
    for client, lines in ENDPOINTS.items():
        for line in lines.split("\n"):
            methods, _, path = line.strip().partition(" ")
            for method in filter(None, methods.split(",")):
                yield pytest.param(f"{method} {path}", id=f"{client}: {method} {path}")


def served() -> set[str]:
    return {
        f"{method.upper()} {re.sub('{[^}]*}', '{}', path)}"
        for path, item in DOCUMENT["paths"].items()
        for method in item
    }


SERVED = served()


@pytest.mark.parametrize("endpoint", list(called()))
def test_endpoint_of_a_client_is_in_the_document(endpoint: str) -> None:
    assert (endpoint in SERVED) != (endpoint in NEVER)


def test_endpoints_listed_as_missing_are_called_by_clients() -> None:
    assert NEVER.keys() <= {each.values[0] for each in called()}


def test_document_lists_unsupported_endpoints() -> None:
    (push,) = [tag for tag in DOCUMENT["tags"] if tag["name"] == "mobile_push"]
    assert "`/users/me/android_gcm_reg_id`" in push["description"]
    assert "`/users/me/apns_device_token`" in push["description"]
