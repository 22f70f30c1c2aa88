"""An invoice at one moment, with its totals, its payments and the status by the clock."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Any

import orjson
from sqlalchemy import Connection, bindparam, select

from models.payment import lifecycle
from models.payment.addresses import write_derivation_path
from models.payment.errors import InvoiceDoesNotExist
from models.payment.tables import ChainHead, Invoice, Payment, Project
from models.rows import names_of
from specd.db import Db, Query, table_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentView:
    """One transfer. `confirmations` includes its block and is 0 for an orphaned payment."""

    id: int
    tx_hash: str
    log_index: int
    block_number: int
    block_hash: str
    from_address: str
    amount: int
    confirmations: int
    status: str
    late: bool
    detected_at: datetime


@dataclass(frozen=True, slots=True)
class Resolution:
    """How a merchant closed an invoice. The hash is 0x + 64 lower-case hex digits."""

    reason: str
    note: str
    refund_tx_hash: str | None
    resolved_at: datetime


@dataclass(frozen=True, slots=True)
class AttemptWarning:
    """A warning about an earlier attempt at the order, for the creator of an invoice."""

    code: str
    message: str
    invoice_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InvoiceView:
    """An invoice for a reader. Amounts are in atoms, times are aware UTC, and `status` is the
    status at the reader's time.

    `expiry_final` is true if the invoice expired by the chain, not only by the clock. `xpub` is the
    project's. `warnings` are set only when the invoice is created. `metadata_json` is an object of
    texts, or None if there is no metadata. `resolution` is the reason, or None if the invoice is
    not resolved. `has_left_out` is true if small transfers were left out because there were too
    many.
    """

    id: str
    external_order_id: str
    attempt_no: int
    status: str
    exception: str
    payment_method_id: str
    amount: int
    amount_paid: int
    amount_pending: int
    chain_id: int
    chain_name: str
    token_address: str
    token_symbol: str
    decimals: int
    deposit_address: str
    address_index: int
    confirmations_required: int
    created_at: datetime
    updated_at: datetime
    expires_at: datetime
    monitoring_ends_at: datetime
    paid_at: datetime | None
    canceled_at: datetime | None
    xpub: str
    tolerance_ppm: int = 0
    metadata_json: str | None = None
    resolution: str | None = None
    resolution_note: str | None = None
    refund_tx_hash: str | None = None
    resolved_at: datetime | None = None
    has_left_out: bool = False
    expiry_final: bool = False
    payments: tuple[PaymentView, ...] = ()
    warnings: tuple[AttemptWarning, ...] = ()

    @property
    def amount_remaining(self) -> int:
        """The atoms still missing after paid and pending payments."""
        return max(0, self.amount - self.amount_paid - self.amount_pending)

    @property
    def amount_overpaid(self) -> int:
        return max(0, self.amount_paid + self.amount_pending - self.amount)

    @property
    def amount_tolerated(self) -> int:
        """The missing atoms that the tolerance covers, or 0 if it does not apply."""
        return self.amount_remaining if self.status in lifecycle.RECEIVED else 0

    @property
    def confirmations(self) -> int:
        """The confirmations of the newest payment that counts, or 0 if there is none."""
        return min(
            (p.confirmations for p in self.payments if p.status != lifecycle.ORPHANED), default=0
        )

    @property
    def metadata(self) -> dict[str, str]:
        """The merchant's metadata; empty if there is none."""
        its: dict[str, str] = orjson.loads(self.metadata_json or "{}")
        return its

    @property
    def resolved(self) -> Resolution | None:
        """How the merchant closed the invoice, or None if it is not closed."""
        if self.resolution is None or self.resolved_at is None:
            return None
        note = self.resolution_note or ""
        return Resolution(self.resolution, note, self.refund_tx_hash, self.resolved_at)

    @property
    def derivation_path(self) -> str:
        """The derivation path of the deposit address in the project's wallet."""
        return write_derivation_path(self.xpub, self.address_index)

    @property
    def payment_uri(self) -> str:
        """An EIP-681 transfer request for the full amount, regardless of payments."""
        return (
            f"ethereum:{self.token_address}@{self.chain_id}/transfer"
            f"?address={self.deposit_address}&uint256={self.amount}"
        )


_invoice = table_of(Invoice)
_payment = table_of(Payment)
_head = table_of(ChainHead)
_project = table_of(Project)

INVOICE_NAMES = [name for name in names_of(InvoiceView) if name in _invoice.c]
_NAMES = [*INVOICE_NAMES, "xpub"]
_INVOICE_COLUMNS = [*(_invoice.c[name] for name in INVOICE_NAMES), _project.c.xpub]
_WIDTH = len(_INVOICE_COLUMNS)
_PAYMENT_NAMES = [name for name in names_of(PaymentView) if name in _payment.c]
_READ_ALL = select(
    *_INVOICE_COLUMNS,
    _head.c.head_number,
    *(_payment.c[name] for name in _PAYMENT_NAMES),
).select_from(
    _invoice.join(_project, _project.c.id == _invoice.c.project_id)
    .outerjoin(_payment, _payment.c.invoice_id == _invoice.c.id)
    .outerjoin(_head, _head.c.chain_id == _invoice.c.chain_id)
)
_IN_ORDER = (_payment.c.block_number, _payment.c.log_index, _payment.c.id)
_ONE = _READ_ALL.where(_invoice.c.id == bindparam("invoice_id")).order_by(*_IN_ORDER)
_READ = Query(_ONE)
_READ_SOME = _READ_ALL.where(_invoice.c.id.in_(bindparam("invoice_ids", expanding=True))).order_by(
    _invoice.c.id, *_IN_ORDER
)
_READ_OF_PROJECT = Query(_ONE.where(_invoice.c.project_id == bindparam("project_id")))


def access_invoice(db: Db, *, project_id: str, invoice_id: str, now: datetime) -> InvoiceView:
    """Return the invoice, its payments and its confirmations, all at the same moment.

    Raise `InvoiceDoesNotExist` for an unknown id and for another project's id alike.
    """
    rows = _READ_OF_PROJECT.all(db, {"invoice_id": invoice_id.lower(), "project_id": project_id})
    if not rows:
        raise InvoiceDoesNotExist()
    return _view(rows, now)


def find_any_invoice(
    connection: Connection, *, invoice_id: str, now: datetime
) -> InvoiceView | None:
    """Return an invoice of any project, or None. For the checkout page and the operator."""
    rows = _READ.all(connection, {"invoice_id": invoice_id.lower()})
    return _view(rows, now) if rows else None


def read_settled(connection: Connection, invoice_id: str, *, head_number: int) -> InvoiceView:
    """Return the invoice as a settlement in this unit of work has stored it, at the chain's head
    that the settlement used. The clock does not change its status.
    """
    rows = _READ.all(connection, {"invoice_id": invoice_id})
    return _view(rows, None, head_number=head_number)


def read_invoices(
    connection: Connection, invoice_ids: Sequence[str], *, now: datetime
) -> list[InvoiceView]:
    """Return these invoices of any project, in no particular order, with one statement."""
    if not invoice_ids:
        return []
    rows = connection.execute(_READ_SOME, {"invoice_ids": list(invoice_ids)})
    return [_view(list(its), now) for _, its in groupby(rows, key=lambda row: row[0])]


def _view(
    rows: Sequence[tuple[Any, ...]], now: datetime | None, *, head_number: int | None = None
) -> InvoiceView:
    """The clock is ignored if `now` is None. `head_number` replaces the stored one."""
    if head_number is None:
        head_number = rows[0][_WIDTH]
    joined = (dict(zip(_PAYMENT_NAMES, row[_WIDTH + 1 :], strict=True)) for row in rows)
    payments = tuple(_view_payment(its, head_number) for its in joined if its["id"] is not None)
    values = dict(zip(_NAMES, rows[0][:_WIDTH], strict=True))
    is_final = values["status"] == lifecycle.EXPIRED
    view = InvoiceView(**values, expiry_final=is_final, payments=payments)
    status = view.status if now is None else lifecycle.status_at(view, now)
    if status == view.status:
        return view
    return replace(view, status=status, updated_at=max(view.updated_at, view.expires_at))


def _view_payment(values: dict[str, Any], head_number: int | None) -> PaymentView:
    confirmations = 0
    if head_number is not None and values["status"] != lifecycle.ORPHANED:
        confirmations = max(0, head_number - values["block_number"] + 1)
    return PaymentView(**values, confirmations=confirmations)
