"""Creates invoices: checks an order and writes its invoice with few statements.

`invoice_view` reads invoices; `settlement` changes their status.
"""

import uuid
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import and_, bindparam, insert, or_, select, update
from sqlalchemy.orm import Session

from models.payment import event_log, lifecycle
from models.payment.addresses import derive_deposit_address
from models.payment.errors import OrderAttemptExists, PaymentMethodNotAllowed
from models.payment.events import InvoiceCreated
from models.payment.invoice_view import INVOICE_NAMES, AttemptWarning, InvoiceView
from models.payment.money import parse_amount
from models.payment.tables import (
    UNREAD,
    ChainHead,
    Invoice,
    InvoiceEvent,
    PaymentMethod,
    Project,
    Wallet,
)
from models.rows import columns_of, row_of
from specd.db import Change, Db, Query, table_of


@dataclass(frozen=True, slots=True)
class Order:
    """An order that passed the checks, with the values of its invoice. `amount` is in atoms."""

    project_id: str
    external_order_id: str
    attempt_no: int
    payment_method_id: str
    amount: int
    chain_id: int
    chain_name: str
    token_address: str
    token_symbol: str
    decimals: int
    confirmations_required: int
    tolerance_ppm: int
    checkpoint_number: int | None
    checkpoint_timestamp: datetime | None
    head_number: int | None
    head_hash: str | None
    head_seen_at: datetime | None
    existing_invoice_id: str | None


_method = table_of(PaymentMethod)
_invoice = table_of(Invoice)
_head = table_of(ChainHead)
_project = table_of(Project)
_wallet = table_of(Wallet)

# Locked until the unit of work ends, so that the invoice is stored before a watcher moves the
# checkpoint. A reorganization that the watcher finds later then includes this invoice.
_its_head = (
    select(*columns_of(Order, _head))
    .where(
        _head.c.chain_id
        == select(_method.c.chain_id)
        .where(
            _method.c.project_id == bindparam("project_id"),
            _method.c.id == bindparam("payment_method_id"),
        )
        .scalar_subquery()
    )
    .with_for_update(read=True)
    .subquery("its_head")
)
_FACTS_OF_ORDER = (
    select(
        *columns_of(Order, _method),
        *(column for column in _its_head.c if column.name != "chain_id"),
        _invoice.c.id.label("existing_invoice_id"),
        select(_project.c.tolerance_ppm)
        .where(_project.c.id == bindparam("project_id"))
        .scalar_subquery()
        .label("tolerance_ppm"),
    )
    .select_from(
        _method.outerjoin(_its_head, _its_head.c.chain_id == _method.c.chain_id).outerjoin(
            _invoice,
            and_(
                _invoice.c.project_id == _method.c.project_id,
                _invoice.c.external_order_id == bindparam("external_order_id"),
                _invoice.c.attempt_no == bindparam("attempt_no"),
            ),
        )
    )
    .where(
        _method.c.project_id == bindparam("project_id"),
        _method.c.id == bindparam("payment_method_id"),
        _method.c.disabled_at.is_(None),
    )
)
_ORDER = Query(_FACTS_OF_ORDER)
_ORDER_NAMES = _FACTS_OF_ORDER.selected_columns.keys()
MAX_WARNINGS = 10
_EARLIER = Query(
    select(_invoice.c.id, _invoice.c.attempt_no, _invoice.c.status, _invoice.c.expires_at)
    .where(
        _invoice.c.project_id == bindparam("project_id"),
        _invoice.c.external_order_id == bindparam("external_order_id"),
        _invoice.c.attempt_no < bindparam("attempt_no"),
        or_(*(_invoice.c.status == each for each in (*lifecycle.UNDECIDED, lifecycle.PAID))),
    )
    .order_by(_invoice.c.attempt_no.desc())
    .limit(MAX_WARNINGS)
)
_NEXT_ADDRESS = Query(
    update(_wallet)
    .where(_wallet.c.xpub == bindparam("its_xpub"))
    .values(next_address_index=_wallet.c.next_address_index + 1)
    .returning(Wallet.next_address_index)
)
_INSERT = Change(insert(_invoice))
_INSERT_EVENT = Change(insert(table_of(InvoiceEvent)))
_FRESHNESS = Query(
    select(_method.c.chain_id, _head.c.head_seen_at)
    .select_from(_method.outerjoin(_head, _head.c.chain_id == _method.c.chain_id))
    .where(
        _method.c.project_id == bindparam("project_id"),
        _method.c.id == bindparam("payment_method_id"),
    )
)

FRESH = timedelta(seconds=2)
"""If the watcher saw the head at most this long ago, the head counts as the chain's newest block.
The watcher may poll only every 25 s, and that interval must not decide which transfers precede an
invoice.
"""


@dataclass(frozen=True, slots=True)
class NewestBlock:
    """The block that a chain returned as its newest. `hash` is 0x + 64 lower-case hex digits."""

    number: int
    hash: str


def find_unwatched_chain(
    db: Db, *, project_id: str, payment_method_id: str, now: datetime
) -> int | None:
    """Return the chain of a payment method if no watcher has seen its head recently, else None."""
    facts = {"project_id": project_id, "payment_method_id": payment_method_id}
    row = _FRESHNESS.first(db, facts)
    if row is None:
        return None
    chain_id, seen_at = row
    return None if seen_at is not None and now - seen_at <= FRESH else chain_id


def check_order(
    session: Session,
    *,
    project_id: str,
    external_order_id: str,
    attempt_no: int,
    amount: str,
    payment_method_id: str,
) -> Order:
    """Return the checked order. Nothing is written. Raise `InvalidAmount` or
    `PaymentMethodNotAllowed`.
    """
    atoms = parse_amount(amount)
    facts: dict[str, Any] = {
        "project_id": project_id,
        "external_order_id": external_order_id,
        "attempt_no": attempt_no,
        "payment_method_id": payment_method_id,
    }
    row = _ORDER.first(session, facts)
    if row is None:
        raise PaymentMethodNotAllowed()
    facts |= dict(zip(_ORDER_NAMES, row, strict=True))
    return Order(**facts, amount=atoms)


def create_invoice(
    session: Session,
    order: Order,
    *,
    xpub: str,
    lifetime: timedelta,
    monitoring: timedelta,
    now: datetime,
    newest: NewestBlock | None = None,
    invoice_id: str | None = None,
) -> InvoiceView:
    """Write the order's invoice with the next deposit address, and its first event. Its id is new
    unless the caller gives one.

    `newest` is the chain's newest block if an endpoint has just returned it. Transfers up to that
    block do not pay the invoice.

    Raise `OrderAttemptExists`. If the same attempt is created twice simultaneously, the second
    insert violates the unique constraint; its unit of work runs again and finds the first invoice.
    So a rejected request never uses up an address.
    """
    if order.existing_invoice_id is not None:
        raise OrderAttemptExists(invoice_id=order.existing_invoice_id)
    if order.head_hash is not None and order.head_number is not None:
        seen = NewestBlock(order.head_number, order.head_hash)
        # An endpoint may lag behind the head that the watcher has seen.
        newest = seen if newest is None else max(newest, seen, key=lambda block: block.number)
    if newest is not None and newest.number <= (order.checkpoint_number or -1):
        newest = None
    (after,) = _NEXT_ADDRESS.one(session, {"its_xpub": xpub})
    index = after - 1
    view = row_of(
        InvoiceView,
        order,
        id=invoice_id or str(uuid.uuid4()),
        status=lifecycle.UNPAID,
        exception=lifecycle.NONE,
        amount_paid=0,
        amount_pending=0,
        deposit_address=derive_deposit_address(xpub, index),
        address_index=index,
        created_at=now,
        updated_at=now,
        expires_at=now + lifetime,
        monitoring_ends_at=now + lifetime + monitoring,
        paid_at=None,
        canceled_at=None,
        xpub=xpub,
        metadata_json=None,
        resolution=None,
        resolution_note=None,
        refund_tx_hash=None,
        resolved_at=None,
        has_left_out=False,
        expiry_final=False,
        payments=(),
        warnings=(),
    )
    row = {name: getattr(view, name) for name in INVOICE_NAMES}
    row |= {
        "project_id": order.project_id,
        "creation_block": order.checkpoint_number,
        "creation_time": order.checkpoint_timestamp,
        "creation_head": None if newest is None else newest.number,
        "creation_head_hash": None if newest is None else newest.hash,
        "catch_up_block": UNREAD,
        "rereads": 0,
    }
    _INSERT.run(session, row)
    _INSERT_EVENT.run(session, _created(view))
    event_log.append(session, order.project_id, InvoiceCreated(view), now=now)
    return replace(view, warnings=_find_warnings(session, order, now))


def _find_warnings(session: Session, order: Order, now: datetime) -> tuple[AttemptWarning, ...]:
    """Return warnings about up to `MAX_WARNINGS` earlier attempts that are paid or can still be
    paid, newest first.

    An attempt that has expired only by the clock can still be paid, because its payment may be in a
    block that has not been read yet.
    """
    if order.attempt_no == 1:
        return ()
    values = {
        "project_id": order.project_id,
        "external_order_id": order.external_order_id,
        "attempt_no": order.attempt_no,
    }
    return tuple(
        _warn(invoice_id, attempt_no, status, is_over=now > expires_at)
        for invoice_id, attempt_no, status, expires_at in _EARLIER.all(session, values)
    )


def _warn(invoice_id: str, attempt_no: int, status: str, *, is_over: bool) -> AttemptWarning:
    attempt = f"Attempt {attempt_no} at this order"
    if status == lifecycle.PAID:
        message = f"{attempt} is paid; fulfill the order once, even if this attempt is also paid."
        return AttemptWarning("earlier_attempt_paid", message, invoice_id)
    state = status
    if status == lifecycle.UNPAID and is_over:
        state = "expired (not finally)"
    message = f"{attempt} is {state} and may still be paid; fulfill the order once."
    return AttemptWarning("earlier_attempt_open", message, invoice_id)


def _created(view: InvoiceView) -> dict[str, Any]:
    """Return the row of an invoice's first transition."""
    return {
        "invoice_id": view.id,
        "kind": "created",
        "from_status": None,
        "to_status": view.status,
        "exception": view.exception,
        "facts": "{}",
        "at": view.created_at,
    }
