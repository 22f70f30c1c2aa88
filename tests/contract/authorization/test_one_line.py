"""Single-line fields: no operation stores a line break in them.

Every text in a body of the document is tested, except texts with several lines.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

import specs
from models.chat.common.errors import NotOneLine
from models.chat.common.one_line import require_one_line
from tests.contract.authorization.chat_stage import ChatStage
from tests.contract.authorization.policy import ALLOWED, Case, load
from tests.support.contract import operations_of
from tests.support.documents import resolved

LINES = {
    "content",
    "deactivation_notification_comment",
    "description",
    "draft",
    "drafts",
    "encrypted_push_registration",
    "note",
    "old_password",
    "new_password",
    "password",
    "welcome_message_custom_text",
}
"""Texts with several lines, and secrets, which are never quoted."""
CODE = {"pattern", "url_template", "example_input", "reverse_template", "narrow"}
"""Patterns and samples for linkifiers and searches, in which a line break is matched."""
MARK = "0ne"
TAKEN: dict[str, Any] = {
    "alternative_url_templates": [f"https://{MARK}.example/{{n}}"],
    "data": [{"id": "$profile_field", "value": MARK}],
    "domain": f"{MARK}.example",
    "email": f"{MARK}@acme.example",
    "fetch_event_types": [MARK],
    "invitee_emails": f"{MARK}@acme.example",
    "new_email": f"{MARK}@acme.example",
    "profile_data": [{"id": "$profile_field", "value": MARK}],
    "value": MARK,
}
"""Field -> a valid value, if not every text is valid."""
NOT_FREE = {
    "add_reaction": {"emoji_code", "emoji_name"},
    "create_channel": {"message_retention_days"},
    "create_custom_emoji": {"file"},
    "create_playground": {"pygments_language"},  # the older name of a sent field too
    "delete_queue": {"queue_id"},
    "dev_fetch_api_key": {"username"},
    "fetch_api_key": {"username"},
    "jwt_fetch_api_key": {"token"},
    "mark_topic_as_read": {"topic_name"},
    "remove_bot_storage": {"keys"},
    "remove_reaction": {"emoji_code", "emoji_name"},
    "send_message": {"subject", "to"},
    "subscribe": {"message_retention_days", "principals"},
    "unsubscribe": {"principals", "subscriptions"},
    "update_bot": {"service_payload_url"},  # of a bot without one
    "update_channel": {"message_retention_days"},
    "update_message": {"prev_content_sha256"},
    "update_message_flags": {"flag", "op"},
    "update_message_flags_for_narrow": {"anchor", "flag", "op"},
    "update_muted_topic": {"stream"},
    "update_notification_settings": {"default_language", "notification_sound", "timezone"},
    "update_subscriptions": {"delete"},
    "update_own_status": {"emoji_code", "emoji_name"},
    "update_realm": {
        "message_content_delete_limit_seconds",
        "message_content_edit_limit_seconds",
        "message_retention_days",
        "move_messages_between_streams_limit_seconds",
        "move_messages_within_stream_limit_seconds",
    },
    "update_settings": {"default_language", "notification_sound", "timezone"},
    "update_subscription_setting": {"value"},
    "update_subscription_settings": {"subscription_data"},
    "update_user_defaults": {"notification_sound"},
    "update_user_status": {"emoji_code", "emoji_name"},
    "upload_file": {"file"},
    "upload_own_avatar": {"file"},
}
"""Operation -> fields that only accept texts known to the server, or numbers."""
DOCUMENT = specs.load("chat")
OPERATIONS = operations_of(DOCUMENT)


def text_fields(operation_id: str) -> Iterator[str]:
    method, path = OPERATIONS[operation_id]
    operation = DOCUMENT["paths"][path][method.lower()]
    body = resolved(DOCUMENT, operation.get("requestBody", {}))
    for media in body.get("content", {}).values():
        for name, schema in resolved(DOCUMENT, media["schema"]).get("properties", {}).items():
            if name not in LINES | CODE and takes_text(schema):
                yield name


def takes_text(node: Mapping[str, Any]) -> bool:
    """Return whether a schema is, or contains, a free text."""
    node = resolved(DOCUMENT, node)
    if node.get("type") == "string":
        return "enum" not in node
    inner = [*node.get("oneOf", []), *node.get("anyOf", []), *node.get("allOf", [])]
    inner += [*node.get("properties", {}).values(), *([node["items"]] if "items" in node else [])]
    return any(takes_text(part) for part in inner)


def broken(value: Any, text: str) -> Any:
    """Return the value with `text` in place of each text in it."""
    if isinstance(value, str) or value is None:
        return text
    if isinstance(value, Mapping):
        return {
            key: broken(item, text) if isinstance(item, str) else item
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [broken(item, text) for item in value]
    return value


CASES = [case for case in load("chat").cases if case.cells["owner"] == ALLOWED]
TRIED = sorted(
    {
        (case.operation, name): case
        for case in reversed(CASES)
        for name in text_fields(case.operation)
    }.items(),
    key=lambda item: item[0],
)


def test_single_line_fields_are_found() -> None:
    found = {name for (_, name), _ in TRIED}
    assert found >= {
        *("full_name", "name", "topic", "status_text", "subscriptions", "hint", "email", "data"),
        *("profile_data", "empty_topic_display_name", "domain", "client", "syntax_language"),
    }


@pytest.mark.parametrize(
    ("case", "name"),
    [(case, name) for (_, name), case in TRIED],
    ids=[f"{o}-{n}" for (o, n), _ in TRIED],
)
def test_line_breaks_are_never_stored(
    case: Case,
    name: str,
    chat_stage: ChatStage,
    tmp_path: Path,
) -> None:
    """The rejection of a line break counts only if the text is accepted without it."""
    whole = TAKEN.get(name, broken(case.request.get(name), MARK))
    answer = send(chat_stage, case, name, whole)
    if name in NOT_FREE.get(case.operation, ()):
        assert 400 <= answer.status_code < 500, "the field must accept text"
        return
    assert answer.is_success, answer.text
    text = f"{MARK}\r\nline"
    spoilt = with_break(whole, text)
    assert spoilt != whole, "the case tests nothing"
    answer = send(chat_stage, case, name, spoilt)
    assert answer.status_code < 500, answer.text
    stored = "\n".join(dump(chat_stage.place("cell")))
    for written in (text, text.replace("\r\n", "\\r\\n")):
        assert written not in stored, (name, written)


def send(stage: ChatStage, case: Case, name: str, value: Any) -> httpx.Response:
    """Return the response to the owner after sending `value` in a field of the request."""
    laden = replace(case, request={**case.request, name: value})
    return stage.answer(laden, "owner")


def with_break(value: Any, text: str) -> Any:
    """Return the value with `text` in place of each `MARK` in it."""
    if isinstance(value, str):
        return value.replace(MARK, text)
    if isinstance(value, Mapping):
        return {key: with_break(item, text) for key, item in value.items()}
    if isinstance(value, list):
        return [with_break(item, text) for item in value]
    return value


@pytest.mark.parametrize("sign", ["\n", "\r", "\x85", "\u2028", "\u2029", "\0", "\x1b", "\ufffe"])
def test_characters_of_single_line_texts(sign: str) -> None:
    with pytest.raises(NotOneLine):
        require_one_line("name", f"a{sign}b")
    assert require_one_line("name", "Größe \u200d 王") == "Größe \u200d 王"


def dump(file: Path) -> Iterator[str]:
    connection = sqlite3.connect(file)
    try:
        for (table,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall():
            if table.startswith("sqlite_") or "search" in table or "fts" in table:
                continue
            for row in connection.execute(f'SELECT * FROM "{table}"'):
                for value in row:
                    if isinstance(value, str) and MARK in value:
                        yield value
    finally:
        connection.close()
