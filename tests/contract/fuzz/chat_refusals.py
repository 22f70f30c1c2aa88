"""The 400 responses of the chat service that depend on the state, not on the form of a request.

A schema defines which requests are well-formed, but not which channels exist and what users may do.
The sentences come from models/chat, so new ones are included automatically. Rules that a document
can express (a type, a length, a range) are excluded.
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
"""Errors about a single parameter, which a document must exclude."""


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
"""NUL matches `type: string` and is rejected by databases. A `pattern` for every text would clutter
the document."""

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
    # Required only without `message_ids`, a condition that OpenAPI 3.0 cannot express.
    "list_messages": re.compile("Missing '(anchor|num_after|num_before)' argument"),
    # Required for only one `bot_type`.
    "create_bot": re.compile("Missing 'payload_url' argument"),
    # Each is required for only one `type`.
    "set_typing_status": re.compile("Missing '(stream_id|to)' argument"),
    # The first is for a link, the others are for an invitation.
    "accept_invitation": re.compile("Missing '(email|full_name|password)' argument"),
    # Either this or `stream`.
    "update_muted_topic": re.compile("Missing 'stream_id' argument"),
    # Either this or its older name.
    "create_playground": re.compile("Missing 'syntax_language' argument"),
    # The IANA list changes several times a year.
    "update_settings": TIMEZONE,
    "update_notification_settings": TIMEZONE,
    # The valid values of `value` depend on `property`.
    "update_subscription_setting": OF_PROPERTY,
    "update_subscription_settings": OF_PROPERTY,
    # The valid values of `value` depend on the type of the field in the organization.
    "update_own_profile_data": FIELD_VALUE,
    "update_user": FIELD_VALUE,
    # Its contents depend on `field_type`.
    "create_profile_field": FIELD_DATA,
    "update_profile_field": FIELD_DATA,
}
"""operationId -> errors that depend on a second parameter, or on an external list."""


def is_of_the_domain(body: Mapping[str, Any], operation_id: str) -> bool:
    """Return whether this error is about data in the database, not about the form of a value."""
    msg = body["msg"]
    conditional = CONDITIONAL.get(operation_id)
    if NO_TEXT.fullmatch(msg) or (conditional is not None and conditional.fullmatch(msg)):
        return True
    if "errors" in body:  # URL templates, regexes and used names, which schemas cannot express
        return True
    return any(pattern.fullmatch(msg) for pattern in PATTERNS)
