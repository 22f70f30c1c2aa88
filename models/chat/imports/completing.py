"""Columns that an archive does not contain: new keys and secrets, and values derived from other
columns.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

import orjson

from models.chat.accounts.resealing import invitation_purpose
from models.chat.alert_words import first_part
from models.chat.common.name_keys import key_of
from models.chat.common.webhook_secrets import purpose_of
from models.chat.errors import ChatError
from models.chat.imports import references
from models.chat.imports.target import Line, Row, Target
from models.chat.invitations.records import digest_of, make_token
from models.chat.messages.conversations import key_of as conversation_key_of
from models.chat.messages.flags import STARRED
from models.chat.navigation_views import check_view_name
from models.chat.organization.domains import check_domain
from models.chat.organization.linkifier_rules import LinkifierFacts, check_linkifier
from models.chat.organization.playgrounds import find_problems
from models.chat.organization.settings import check_choices
from models.chat.people.emails import check_email
from models.chat.people.full_names import check_full_name
from models.chat.profiles.field_data import check_field_data
from models.chat.profiles.values import FieldType
from models.chat.tables import User
from models.webhooks import signing

T = TypeVar("T")
R = TypeVar("R")
NEVER = datetime(9999, 1, 1, tzinfo=UTC)
"""The next try of a scheduled message that is not sent until the operator releases it."""
FOREVER = -1
Complete = Callable[[Row, Line, Target, Sequence[int]], Row]
"""Returns additional values of a row. The last argument contains ids from related lines of another
file.
"""


def _realm(row: Row, line: Line, target: Target, beside: Sequence[int]) -> Row:
    _as_the_api_does(check_choices, row)
    return {"name": target.name or row["name"], "host": hidden_host(target.texts.new_host)}


def _user(row: Row, line: Line, target: Target, beside: Sequence[int]) -> Row:
    email = row["delivery_email"]
    if row["bot_type"] is None:
        _as_the_api_does(check_email, email)
    check_name = partial(check_full_name, is_system_bot=row["is_system_bot"])
    _as_the_api_does(check_name, row["full_name"])
    if row["bot_type"] is not None:  # the email address of a bot is at the organization's host
        local, _, host = email.rpartition("@")
        if host == target.texts.old_host:
            email = f"{local}@{target.texts.new_host}"
    made = User()
    target.keys.renew(made)
    return {
        "delivery_email": email,
        "email_key": email.casefold(),
        "password_hash": target.password_hashes.get(line["id"]),
        "api_key_nonce": made.api_key_nonce,
        "api_key_sha256": made.api_key_sha256,
    }


def _invitation(row: Row, line: Line, target: Target, beside: Sequence[int]) -> Row:
    token = make_token()
    digest = digest_of(token)
    is_link = row["email"] is None
    sealed = target.vault.seal(token, purpose=invitation_purpose(digest)) if is_link else None
    key = None if is_link else row["email"].casefold()
    return {"email_key": key, "token_sha256": digest, "sealed_token": sealed}


def _outgoing_webhook(row: Row, line: Line, target: Target, beside: Sequence[int]) -> Row:
    purpose = purpose_of(row["user_id"])
    return {"sealed_secret": target.vault.seal(signing.new_secret(), purpose=purpose)}


def _conversation(row: Row, line: Line, target: Target, beside: Sequence[int]) -> Row:
    """`beside` contains the new ids of the conversation's users."""
    if not beside:
        raise ValueError("has no users")
    return {"key": conversation_key_of(beside)}


def _linkifier(row: Row, line: Line, target: Target, beside: Sequence[int]) -> Row:
    templates = orjson.loads(row["alternative_url_templates"])
    if not isinstance(templates, list) or any(type(each) is not str for each in templates):
        raise ValueError("alternative_url_templates is no list of texts")
    facts = LinkifierFacts(
        pattern=row["pattern"],
        url_template=row["url_template"],
        example_input=row["example_input"],
        reverse_template=row["reverse_template"],
        alternative_url_templates=templates,
    )
    if check_linkifier(facts).failure is not None:
        raise ValueError("is no linkifier that works")
    return {}


def _playground(row: Row, line: Line, target: Target, beside: Sequence[int]) -> Row:
    problems = find_problems(row["name"], row["syntax_language"], row["url_template"])
    for field, texts in problems.items():
        raise ValueError(f"{field}: {texts[0]}")
    return {}


def _profile_field(row: Row, line: Line, target: Target, beside: Sequence[int]) -> Row:
    if row["type"] in (FieldType.DROPDOWN, FieldType.EXTERNAL_ACCOUNT):
        data = orjson.loads(row["field_data"] or "{}")
        _as_the_api_does(partial(check_field_data, FieldType(row["type"])), data)
    return {}


def _domain(row: Row, line: Line, target: Target, beside: Sequence[int]) -> Row:
    _as_the_api_does(check_domain, row["domain"])
    return {}


def _as_the_api_does(check: Callable[[T], R], value: T) -> R:
    """Return the value as the API would store it. Raise `ValueError` if the API would reject it."""
    try:
        return check(value)
    except ChatError as error:
        raise ValueError(str(error)) from None


def _emoji_code(row: Row, line: Line, target: Target, beside: Sequence[int]) -> Row:
    """Convert the code of a custom emoji, which is its id."""
    if row["reaction_type"] != "realm_emoji":
        return {}
    code = row["emoji_code"]
    if not code.isascii() or not code.isdigit():
        raise ValueError("emoji_code is no id of a custom emoji")
    return {"emoji_code": str(target.ids.find_or_nobody("realm_emoji", int(code[:20])))}


def _profile_value(row: Row, line: Line, target: Target, beside: Sequence[int]) -> Row:
    """Convert the value of a field that contains user ids."""
    if target.field_types.get(line["field_id"]) == FieldType.USERS:
        return {"value": references.new_list(target.ids, "user", line["value"])}
    return {}


def _navigation_view(row: Row, line: Line, target: Target, beside: Sequence[int]) -> Row:
    if not row["fragment"].strip():
        raise ValueError("fragment is empty")
    return {"name": _as_the_api_does(partial(check_view_name, row["fragment"]), row["name"])}


def _name_key(row: Row, line: Line, target: Target, beside: Sequence[int]) -> Row:
    name = row["name"]
    return {"name_key": None if name is None else key_of(name)}


def _topic_key(row: Row, line: Line, target: Target, beside: Sequence[int]) -> Row:
    return {"topic_key": key_of(row["topic"])}


def _alert_word(row: Row, line: Line, target: Target, beside: Sequence[int]) -> Row:
    key = key_of(row["word"].strip())
    if not key:
        raise ValueError("word is empty")
    return {"word_key": key, "first_part": first_part(key)}


def _audit_log(row: Row, line: Line, target: Target, beside: Sequence[int]) -> Row:
    facts = references.new_facts(target.ids, row["kind"], row["facts"])
    return {"facts": facts, "key_id": None, "address": None, "request_id": None}


COMPLETE: Mapping[str, Complete] = {
    "alert_word": _alert_word,
    "attachment": lambda row, line, target, beside: {"deleted_at": None},
    "audit_log": _audit_log,
    "bot_storage": lambda row, *_: {"size": len(row["key"]) + len(row["value"])},
    "channel": _name_key,
    "channel_folder": _name_key,
    "conversation": _conversation,
    "invitation": _invitation,
    "linkifier": _linkifier,
    "message": _topic_key,
    "navigation_view": _navigation_view,
    "outgoing_webhook": _outgoing_webhook,
    "playground": _playground,
    "profile_field": _profile_field,
    "profile_value": _profile_value,
    "reaction": _emoji_code,
    "realm": _realm,
    "realm_domain": _domain,
    "scheduled_message": lambda *_: {"attempts": 0},
    "user": _user,
    "user_group": _name_key,
    "user_status": _emoji_code,
    "user_topic": _topic_key,
}


def hidden_host(host: str) -> str:
    """Return a host that no request can reach: request hosts are looked up in lower case."""
    return f"I {host}"


HELD: Mapping[str, Mapping[str, object]] = {
    "realm": {"message_retention_days": FOREVER},
    "channel": {"message_retention_days": None},
    "attachment": {"detached_at": None},
    "scheduled_message": {"next_try_at": NEVER},
}
"""Columns that trigger workers, with their values until the import is finished."""


def stars_apart(copies: Sequence[Row]) -> tuple[Sequence[Row], list[Row]]:
    """Return the message copies without the star flag, and the rows of `StarredMessage`."""
    stars = [
        {"user_id": row["user_id"], "message_id": row["message_id"]}
        for row in copies
        if row["flags"] & STARRED
    ]
    if not stars:
        return copies, stars
    return [{**row, "flags": row["flags"] & ~STARRED} for row in copies], stars
