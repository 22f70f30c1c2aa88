"""A project's webhook endpoints: create, list, read, change and remove them."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Row, func, select, update
from sqlalchemy.orm import Session

from models.payment.errors import TooManyWebhookEndpoints, WebhookEndpointDoesNotExist
from models.payment.tables import Event, Project
from models.payment.webhooks import signing_secrets
from models.payment.webhooks.tables import WebhookDelivery, WebhookEndpoint
from models.payment.webhooks.vault import WebhookVault
from models.ranges import IndexRange, without_index
from models.rows import columns_of, row_of
from specd.db import Db

ALL = "*"
"""Every type of event, including types added later."""
ENABLED, DISABLED = "enabled", "disabled"
GONE, FAILING = "gone", "failing"
"""Why the service disabled an endpoint: it returned 410, or every attempt failed for five days."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An endpoint without its secrets. `disabled_reason` is why the service disabled it, or None if
    it is enabled or its project disabled it. `has_missed_events` means that it has just been
    enabled again, and events after its cursor have expired.
    """

    id: str
    url: str
    event_types: tuple[str, ...]
    description: str
    status: str
    disabled_reason: str | None
    created_at: datetime
    updated_at: datetime
    has_missed_events: bool = False


_LISTED = IndexRange([WebhookEndpoint.project_id], [WebhookEndpoint.created_at, WebhookEndpoint.id])
_COLUMNS = columns_of(Endpoint, WebhookEndpoint)


def create_endpoint(
    session: Session,
    vault: WebhookVault,
    *,
    project_id: str,
    url: str,
    event_types: Sequence[str],
    description: str,
    quota: int,
    now: datetime,
    endpoint_id: str | None = None,
) -> tuple[Endpoint, str]:
    """Return a new endpoint, which receives events from now on, and its sealed secret. Its id is
    new unless the caller gives one.

    `url` must have been checked. Raise `TooManyWebhookEndpoints`.
    """
    session.execute(  # two simultaneous creations count each other
        select(Project.id).where(Project.id == project_id).with_for_update(key_share=True)
    )
    mine = (WebhookEndpoint.project_id == project_id) & WebhookEndpoint.deleted_at.is_(None)
    if session.execute(select(func.count()).where(mine)).scalar_one() >= quota:
        raise TooManyWebhookEndpoints(quota=quota)
    newest = select(func.max(Event.id)).where(Event.project_id == project_id)
    row = WebhookEndpoint(
        id=endpoint_id or str(uuid.uuid4()),
        project_id=project_id,
        url=url,
        event_types=_written(event_types),
        description=description,
        status=ENABLED,
        cursor=session.execute(newest).scalar() or 0,
        created_at=now,
        updated_at=now,
    )
    session.add(row)
    session.flush()
    return view_of(row), signing_secrets.add_secret(session, vault, row.id)


def list_endpoints(db: Db, *, project_id: str) -> Sequence[Endpoint]:
    """Return all endpoints of the project, the oldest first."""
    query = select(*_COLUMNS).where(
        _LISTED.rows(project_id), without_index(WebhookEndpoint.deleted_at).is_(None)
    )
    rows = db.execute(query.order_by(*_LISTED.ascending))
    return [view_of(row) for row in rows]


def access_endpoint(db: Db, *, project_id: str, endpoint_id: str) -> Endpoint:
    """Return the endpoint. Raise `WebhookEndpointDoesNotExist` if the id is unknown, removed, or of
    another project.
    """
    row = db.execute(select(*_COLUMNS).where(*_is_this(project_id, endpoint_id))).first()
    if row is None:
        raise WebhookEndpointDoesNotExist()
    return view_of(row)


def access_row(session: Session, *, project_id: str, endpoint_id: str) -> WebhookEndpoint:
    """Return the endpoint's row, locked until the unit ends. Raise as `access_endpoint`."""
    row = session.scalars(
        select(WebhookEndpoint).where(*_is_this(project_id, endpoint_id)).with_for_update()
    ).first()
    if row is None:
        raise WebhookEndpointDoesNotExist()
    return row


def change_endpoint(
    session: Session,
    *,
    project_id: str,
    endpoint_id: str,
    changes: Mapping[str, object],
    now: datetime,
) -> Endpoint:
    """Change the given properties: `url`, `event_types`, `description`, `status`.

    Messages that waited while the endpoint was disabled are sent once it is enabled. Messages of
    types that are no longer in `event_types` are not sent. Raise `WebhookEndpointDoesNotExist`.
    """
    row = access_row(session, project_id=project_id, endpoint_id=endpoint_id)
    before = view_of(row)
    for name, value in changes.items():
        setattr(row, name, _written(value) if isinstance(value, list) else value)
    if "status" in changes:
        row.disabled_reason = None
    if row.status != before.status or row.url != before.url:
        row.failing_since = row.paused_until = None
    after = view_of(row)
    if after != before:
        row.updated_at = now
        after = replace(after, updated_at=now)
    session.flush()
    if ALL not in after.event_types and set(before.event_types) - set(after.event_types):
        _look_at_unwanted(session, after, now)
    is_enabled_again = after.status == ENABLED and before.status != ENABLED
    return replace(after, has_missed_events=is_enabled_again and _has_missed_events(session, row))


def _has_missed_events(session: Session, row: WebhookEndpoint) -> bool:
    gone = select(Project.events_gone_until).where(Project.id == row.project_id)
    return (session.execute(gone).scalar_one() or 0) > row.cursor


def _look_at_unwanted(session: Session, endpoint: Endpoint, now: datetime) -> None:
    """Make the scheduled deliveries of types that the endpoint no longer subscribes to due, so that
    a worker closes them instead of sending them (`queue.pick`).
    """
    wanted = select(Event.id).where(
        Event.id == WebhookDelivery.event_id, Event.type.in_(endpoint.event_types)
    )
    session.execute(
        update(WebhookDelivery)
        .where(
            WebhookDelivery.endpoint_id == endpoint.id,
            WebhookDelivery.next_try_at > now,
            ~WebhookDelivery.redelivered,
            ~wanted.exists(),
        )
        .values(next_try_at=now)
        .execution_options(synchronize_session=False)
    )


def remove_endpoint(session: Session, *, project_id: str, endpoint_id: str, now: datetime) -> None:
    """Remove the endpoint and its secrets. Raise `WebhookEndpointDoesNotExist`."""
    row = access_row(session, project_id=project_id, endpoint_id=endpoint_id)
    row.deleted_at = now
    row.status, row.url, row.description = DISABLED, "", ""
    signing_secrets.forget_secrets(session, row.id)
    session.flush()


def view_of(row: WebhookEndpoint | Row[*tuple[Any, ...]]) -> Endpoint:
    """Return the endpoint of a row."""
    return row_of(Endpoint, row, event_types=_read(row.event_types), has_missed_events=False)


def is_subscribed(endpoint: WebhookEndpoint, event_type: str) -> bool:
    """Return whether events of this type are sent to the endpoint."""
    return bool({ALL, event_type} & set(_read(endpoint.event_types)))


def is_active(endpoint: WebhookEndpoint) -> bool:
    """Return whether the endpoint is enabled and not removed."""
    return endpoint.status == ENABLED and endpoint.deleted_at is None


def _written(event_types: Sequence[str]) -> str:
    """Return event types as stored: each once, in the given order."""
    return orjson.dumps(list(dict.fromkeys(event_types))).decode()


def _read(event_types: str) -> tuple[str, ...]:
    return tuple(orjson.loads(event_types))


def _is_this(project_id: str, endpoint_id: str) -> tuple[ColumnElement[bool], ...]:
    return (
        WebhookEndpoint.id == endpoint_id.lower(),
        without_index(WebhookEndpoint.project_id) == project_id,
        without_index(WebhookEndpoint.deleted_at).is_(None),
    )
