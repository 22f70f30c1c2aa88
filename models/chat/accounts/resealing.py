"""Seal texts again with the server's new secret."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Column, select, update
from sqlalchemy.orm import Session

from models.chat import calls, devices
from models.chat.common import outbox
from models.chat.common.vault import Vault
from models.chat.common.webhook_secrets import purpose_of as webhook_of
from models.chat.identity import jwt_sign_in
from models.chat.tables import (
    ClientDevice,
    Invitation,
    JwtConfiguration,
    Outbox,
    OutgoingWebhook,
    VendorToken,
)
from specd.db import table_of

BATCH = 200


def invitation_purpose(digest: str) -> str:
    """Return the purpose for sealing the token of an invitation link with that digest."""
    return f"invitation link:{digest}"


_jwt, _device, _tokens, _invitation, _mail, _webhook = (
    table_of(model)
    for model in (JwtConfiguration, ClientDevice, VendorToken, Invitation, Outbox, OutgoingWebhook)
)
SEALED: tuple[tuple[Column[str], Column[int], Column[Any], Callable[..., str]], ...] = (
    (_jwt.c.sealed_key, _jwt.c.realm_id, _jwt.c.realm_id, jwt_sign_in.purpose_of),
    (_device.c.sealed_push_key, _device.c.id, _device.c.id, devices.purpose_of),
    (_tokens.c.sealed_tokens, _tokens.c.user_id, _tokens.c.user_id, calls.purpose_of),
    (_webhook.c.sealed_secret, _webhook.c.user_id, _webhook.c.user_id, webhook_of),
    (
        _invitation.c.sealed_token,
        _invitation.c.id,
        _invitation.c.token_sha256,
        invitation_purpose,
    ),
    (_mail.c.body, _mail.c.id, _mail.c.key, outbox.purpose_of),
)
"""Every column of sealed text, with the column of its row's number, the column from which its
purpose follows, and the function that returns the purpose.
"""


def reseal_some(session: Session, vault: Vault, at: int, *, after: int) -> tuple[int, int, int]:
    """Seal again the next rows of `SEALED[at]` after a number that are sealed with an old secret.

    Return the number of resealed rows, the number of rows that no known secret opens, and the last
    number, which is `after` at the end. A row that changes meanwhile has been sealed with the new
    secret.
    """
    column, number, value, purpose_of = SEALED[at]
    rows = select(number, value, column).where(column.is_not(None), number > after)
    if column is _mail.c.body:
        rows = rows.where(_mail.c.is_sealed)
    connection = session.connection()
    resealed = lost = 0
    last = after
    for last, name, sealed in connection.execute(rows.order_by(number).limit(BATCH)).all():
        purpose = purpose_of(name)
        if vault.is_present(sealed, purpose=purpose):
            continue
        text = vault.open(sealed, purpose=purpose)
        if text is None:
            lost += 1
            continue
        again = {column.name: vault.seal(text, purpose=purpose)}
        same = (number == last) & (column == sealed)
        resealed += connection.execute(update(column.table).where(same).values(again)).rowcount
    return resealed, lost, last
