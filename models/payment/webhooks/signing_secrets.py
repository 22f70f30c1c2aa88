"""The signing secrets of endpoints: the newest, and previous ones until they expire."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

import orjson
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from models.payment.tables import IdempotencyKey
from models.payment.webhooks.tables import WebhookSecret
from models.payment.webhooks.vault import WebhookVault, purpose_of
from models.webhooks import signing
from specd.db import Db, table_of

SECRETS_MAX = 5
"""The maximum number of secrets that sign together. Another rotation deletes the oldest."""

CREATION = "create_webhook_endpoint"
"""The operation whose stored responses contain a sealed secret."""

_TABLE = table_of(WebhookSecret)


def add_secret(session: Session, vault: WebhookVault, endpoint_id: str) -> str:
    """Return a new secret of the endpoint, sealed."""
    sealed = vault.seal(signing.new_secret(), purpose=purpose_of(endpoint_id))
    session.add(WebhookSecret(endpoint_id=endpoint_id, sealed=sealed, expires_at=None))
    session.flush()
    return sealed


def rotate(
    session: Session, vault: WebhookVault, endpoint_id: str, *, grace: timedelta, now: datetime
) -> str:
    """Return a new secret, sealed. Previous secrets sign for at most `grace`."""
    forget_secrets(session, endpoint_id, expired_at=now)
    ends_at = now + grace
    session.execute(
        update(_TABLE)
        .where(
            _TABLE.c.endpoint_id == endpoint_id,
            _TABLE.c.expires_at.is_(None) | (_TABLE.c.expires_at > ends_at),
        )
        .values(expires_at=ends_at)
    )
    sealed = add_secret(session, vault, endpoint_id)
    newest = select(_TABLE.c.id).where(_TABLE.c.endpoint_id == endpoint_id)
    newest = newest.order_by(_TABLE.c.id.desc()).limit(SECRETS_MAX)
    session.execute(
        delete(_TABLE).where(_TABLE.c.endpoint_id == endpoint_id, _TABLE.c.id.not_in(newest))
    )
    return sealed


def forget_secrets(
    session: Session, endpoint_id: str, *, expired_at: datetime | None = None
) -> None:
    """Delete the endpoint's secrets: those that have expired by `expired_at`, or all."""
    gone = delete(_TABLE).where(_TABLE.c.endpoint_id == endpoint_id)
    if expired_at is not None:
        gone = gone.where(_TABLE.c.expires_at <= expired_at)
    session.execute(gone)


def find_sealed(
    db: Db, endpoint_ids: Collection[str], *, now: datetime
) -> Mapping[str, Sequence[str]]:
    """Return the sealed secrets that sign now, newest first, by endpoint."""
    secrets: dict[str, list[str]] = defaultdict(list)
    query = (
        select(_TABLE.c.endpoint_id, _TABLE.c.sealed)
        .where(
            _TABLE.c.endpoint_id.in_(sorted(endpoint_ids)),
            _TABLE.c.expires_at.is_(None) | (_TABLE.c.expires_at > now),
        )
        .order_by(_TABLE.c.id.desc())
    )
    for endpoint_id, sealed in db.execute(query):
        secrets[endpoint_id].append(sealed)
    return secrets


def open_sealed(vault: WebhookVault, endpoint_id: str, sealed: Sequence[str]) -> Sequence[str]:
    """Return the secrets, except those that were sealed under an unknown secret of the service."""
    opened = (vault.open(text, purpose=purpose_of(endpoint_id)) for text in sealed)
    return tuple(secret for secret in opened if secret is not None)


def reseal(session: Session, vault: WebhookVault) -> int:
    """Seal all secrets under the current secret of the service, also those in responses that are
    stored for idempotency keys. Return how many secrets of endpoints changed.
    """
    changed = 0
    for row in session.scalars(select(WebhookSecret).with_for_update()):
        resealed = _resealed(vault, row.endpoint_id, row.sealed)
        if resealed != row.sealed:
            row.sealed = resealed
            changed += 1
    created = select(IdempotencyKey).where(
        IdempotencyKey.operation == CREATION, IdempotencyKey.status == 201
    )
    for key in session.scalars(created.with_for_update()):
        body = orjson.loads(key.body)
        body["secret"] = _resealed(vault, body["id"], body["secret"])
        key.body = orjson.dumps(body)
    session.flush()
    return changed


def _resealed(vault: WebhookVault, endpoint_id: str, sealed: str) -> str:
    """Return a secret sealed under the current secret of the service. If it was sealed under an
    unknown one, return it as it is.
    """
    purpose = purpose_of(endpoint_id)
    if vault.is_present(sealed, purpose=purpose):
        return sealed
    text = vault.open(sealed, purpose=purpose)
    return sealed if text is None else vault.seal(text, purpose=purpose)
