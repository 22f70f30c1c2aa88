"""Columns and tables that only a move between installations with one secret transfers: credentials,
sealed texts and responses stored for retries.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import Column, Table

from models.chat.accounts.resealing import SEALED
from models.chat.common.vault import Vault
from models.chat.exports.scope import FULL_WITHOUT_CONSENT, Scope
from models.chat.exports.tables import Part
from models.chat.imports import references
from models.chat.imports.rows import TABLES, parts_of
from models.chat.imports.target import Line, Row, Target
from models.chat.tables import (
    AuditLog,
    BrowserSession,
    ClientDevice,
    EmailChange,
    IdempotencyKey,
    Invitation,
    JwtConfiguration,
    MessageRemoval,
    OutgoingDelivery,
    OutgoingWebhook,
    Topic,
    User,
    VendorToken,
)
from models.json import Json
from specd.db import UtcMs, table_of

KEPT_PARTS = (
    Part("user_credentials", User, ("id", "password_hash", "api_key_nonce", "api_key_sha256"),
         lambda scope: User.realm_id == scope.realm_id),
    Part("invitation_token", Invitation, ("id", "token_sha256", "sealed_token"),
         lambda scope: Invitation.realm_id == scope.realm_id),
    Part("outgoing_webhook_secret", OutgoingWebhook, ("user_id", "sealed_secret"),
         lambda scope: scope.is_user(OutgoingWebhook.user_id), ("user_id",)),
    Part("audit_log_origin", AuditLog, ("id", "key_id", "address", "request_id"),
         lambda scope: AuditLog.realm_id == scope.realm_id),
    Part("topic", Topic, ("channel_id", "topic_key", "name", "max_id"),
         lambda scope: scope.in_channel(Topic.channel_id), ("channel_id", "topic_key")),
    Part("jwt_configuration", JwtConfiguration,
         ("realm_id", "sealed_key", "algorithms", "audience", "max_age_s"),
         lambda scope: JwtConfiguration.realm_id == scope.realm_id, ("realm_id",)),
    Part("browser_session", BrowserSession,
         ("id", "user_id", "token_sha256", "user_agent", "created_at", "last_used_at", "ends_at"),
         lambda scope: scope.is_user(BrowserSession.user_id)),
    Part("email_change", EmailChange,
         ("id", "user_id", "new_email", "token_sha256", "created_at", "expires_at"),
         lambda scope: scope.is_user(EmailChange.user_id)),
    Part("client_device", ClientDevice,
         ("id", "user_id", "registered_at", "sealed_push_key", "push_key_id", "push_token_kind",
          "push_token_id", "pending_push_token_id", "push_token_changed_at", "push_error_code"),
         lambda scope: scope.is_user(ClientDevice.user_id)),
    Part("vendor_token", VendorToken,
         ("user_id", "vendor_user_id", "sealed_tokens", "generation", "expires_at",
          "refreshing_until"),
         lambda scope: scope.is_user(VendorToken.user_id), ("user_id",)),
    Part("idempotency_key", IdempotencyKey,
         ("user_id", "key", "operation", "fingerprint", "status", "body", "created_at"),
         lambda scope: scope.is_user(IdempotencyKey.user_id), ("user_id", "key")),
)  # fmt: skip
"""Columns in addition to those of an archive, and complete tables."""
LAST_PARTS = (
    Part("message_removal", MessageRemoval,
         ("id", "realm_id", "sender_id", "channel_id", "topic", "actor_id", "public_channels",
          "private_channels", "direct", "after_id", "until_id", "removed"),
         lambda scope: MessageRemoval.realm_id == scope.realm_id),
    Part("outgoing_delivery", OutgoingDelivery,
         ("id", "realm_id", "bot_id", "message_id", "cause", "attempts", "next_try_at",
          "created_at", "traceparent"),
         lambda scope: OutgoingDelivery.realm_id == scope.realm_id),
)  # fmt: skip
"""Rows on which workers act immediately. They are copied in the unit of work that shows the
organization.
"""
KEPT_TABLES = tuple(
    table
    for table in dict.fromkeys(table_of(part.table) for part in KEPT_PARTS)
    if table not in TABLES
)
"""Each of them refers only to tables of archives."""
KEPT_WITH_IDS = (
    *(str(table.name) for table in KEPT_TABLES if "id" in table.c),
    *(part.table.__tablename__ for part in LAST_PARTS),
)
_MESSAGE_IDS = {
    ("topic", "max_id"),
    ("message_removal", "after_id"),
    ("message_removal", "until_id"),
}
"""Columns with the id of a message that may be missing: the nearest earlier one replaces it."""
_Reseal = tuple[str, Callable[..., str]]
_RESEAL: Mapping[tuple[str, str], _Reseal] = {
    (str(column.table.name), column.name): (value.name, purpose_of)
    for column, _, value, purpose_of in SEALED
}


def kept_parts_of(table: Table) -> tuple[Part, ...]:
    """Return the parts of a table that only a move copies."""
    return tuple(part for part in KEPT_PARTS if table_of(part.table) is table)


def all_parts_of(table: Table) -> tuple[Part, ...]:
    """Return all parts of a table that a move copies, an archive's parts first."""
    return (*parts_of(table), *kept_parts_of(table))


def make_kept(part: Part, line: Line, target: Target) -> Row:
    """Return the values of a line. Raise ValueError for a reference to a missing row.

    The source is another specd installation, so its texts need no check.
    """
    table = table_of(part.table)
    row: Row = {name: _value(table.c[name], line[name], target) for name in part.columns}
    for name in part.columns:
        reseal = _RESEAL.get((table.name, name))
        if reseal is not None and row[name] is not None:
            of, purpose_of = reseal
            before, after = purpose_of(line[of]), purpose_of(row[of])
            row[name] = _sealed_again(target.vault, str(row[name]), before, after)
    if part.table is IdempotencyKey:
        row["body"] = _new_answer(str(line["operation"]), str(line["body"]), target)
    return row


def _value(column: Column[Any], value: Json, target: Target) -> Json:
    if value is None:
        return None
    if isinstance(column.type, UtcMs):
        return datetime.fromisoformat(value)
    if (column.table.name, column.name) in _MESSAGE_IDS:
        return target.ids.nearest("message", value)
    if column.name == "id":
        return target.ids.finder(column.table.name)([value])[0]
    referred = references.table_of_column(column)
    if referred is None:
        return value
    if column.foreign_keys:
        return target.ids.finder(referred)([value])[0]
    return target.ids.find_or_nobody(referred, value)


def _sealed_again(vault: Vault, sealed: str, before: str, after: str) -> str:
    """Return the text sealed for its new owner, or unchanged if it cannot be opened."""
    if before == after:
        return sealed
    text = vault.open(sealed, purpose=before)
    return sealed if text is None else vault.seal(text, purpose=after)


def _new_answer(operation: str, body: str, target: Target) -> bytes:
    """Return a response that is stored for retries, with the new ids."""
    if not body:
        return b""
    answer = orjson.loads(body)
    for name, value in answer.items():
        table = "message" if (operation, name) == ("send_message", "id") else None
        answer[name] = references.new_value(
            target.ids, table or references.table_named(name), value
        )
    return orjson.dumps(answer, option=orjson.OPT_APPEND_NEWLINE if body[-1] == "\n" else None)


def scope_of(realm_id: int) -> Scope:
    """Return a scope that contains everything in an organization."""
    return Scope(realm_id, FULL_WITHOUT_CONSENT)
