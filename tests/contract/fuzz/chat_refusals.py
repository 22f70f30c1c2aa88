"""Which 400s of the chat service speak of the state of things, not of the shape of a request.

A schema promises which requests are well formed, not which channels exist and who may do what. The
sentences come from models/chat, so a new one is known here as soon as it is there.
What a document could have said (a type, a length, a range) is not among them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from models.chat.channels.errors import InvalidColor
from models.chat.common.errors import (
    ConfusingParameters,
    InvalidChoice,
    InvalidParameter,
    MissingParameter,
)
from specd._error_table import find_refusals

SHAPE = (ConfusingParameters, InvalidChoice, InvalidColor, InvalidParameter, MissingParameter)
"""Errors about one parameter alone: a document can, and shall, rule these out."""


def _patterns() -> list[re.Pattern[str]]:
    patterns = []
    for kind in find_refusals(["models.chat", "handlers.chat"]):
        is_of_models = kind.__module__.startswith("models.")
        if not is_of_models or issubclass(kind, SHAPE) or "sentence" not in vars(kind):
            continue
        literal = [re.escape(text) for text in re.split(r"{[^}]*}", kind.sentence)]
        if any(re.search(r"[a-z]{3}", text) for text in literal):
            patterns.append(re.compile("(.*)".join(literal), re.DOTALL))
    return patterns


PATTERNS = _patterns()

NO_TEXT = re.compile(r".* must not (contain null bytes|hold a NUL character)", re.DOTALL)
"""NUL fits `type: string` and no database; a `pattern` on every text would drown the document."""

FIELD_DATA = re.compile(
    r".*field_data.*|Field must .*|name is too long .*|'value' cannot be blank\.|Unexpected arg.*"
)
FIELD_VALUE = re.compile(
    r".* is (not a (string|date|URL)|too long \(limit: [0-9]+ characters\))|User IDs is not a list",
    re.DOTALL,
)
TIMEZONE = re.compile("timezone is not a recognized time zone")
OF_PROPERTY = re.compile(r".*is not (a boolean|a valid hex color code)")
CONDITIONAL = {
    # Required only without `message_ids`; OpenAPI 3.0 knows no condition between parameters.
    "list_messages": re.compile("Missing '(anchor|num_after|num_before)' argument"),
    # Required for one `bot_type` only.
    "create_bot": re.compile("Missing 'payload_url' argument"),
    # Each is required for one `type` only.
    "set_typing_status": re.compile("Missing '(stream_id|to)' argument"),
    # The first for a link, the others for an invitation.
    "accept_invitation": re.compile("Missing '(email|full_name|password)' argument"),
    # Either this or `stream`.
    "update_muted_topic": re.compile("Missing 'stream_id' argument"),
    # Either this or its older name.
    "create_playground": re.compile("Missing 'syntax_language' argument"),
    # The IANA's list changes several times a year.
    "update_settings": TIMEZONE,
    "update_notification_settings": TIMEZONE,
    # What `value` may be hangs on `property`.
    "update_subscription_setting": OF_PROPERTY,
    "update_subscription_settings": OF_PROPERTY,
    # What `value` may be hangs on the field's type, which the organization chose.
    "update_own_profile_data": FIELD_VALUE,
    "update_user": FIELD_VALUE,
    # What it holds hangs on `field_type`.
    "create_profile_field": FIELD_DATA,
    "update_profile_field": FIELD_DATA,
}
"""operationId -> refusals that hang on a second parameter, or on a list nobody writes down."""


def is_of_the_domain(body: Mapping[str, Any], operation_id: str) -> bool:
    """Does this error say what the database holds, rather than what a value looks like?"""
    msg = body["msg"]
    conditional = CONDITIONAL.get(operation_id)
    if NO_TEXT.fullmatch(msg) or (conditional is not None and conditional.fullmatch(msg)):
        return True
    if "errors" in body:  # URL templates, regexes and names taken: no schema says those
        return True
    return any(pattern.fullmatch(msg) for pattern in PATTERNS)
