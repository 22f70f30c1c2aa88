"""The invoices and payments of a project as lines of CSV (RFC 4180) for bookkeeping.

Amounts are in units of the token; the columns `..._atoms` contain them exactly, in atoms. Times are
UTC.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from sqlalchemy import Connection

from models.payment.invoice_list import InvoiceFilter, list_invoices
from models.payment.invoice_view import InvoiceView
from models.payment.lifecycle import ORPHANED
from models.payment.money import format_units
from models.payment.receipts import Position, Receipt, ReceiptFilter, list_receipts

AT_ONCE = 100
"""Invoices or payments per database read."""
BOM = "\ufeff"
"""Spreadsheets read a file as UTF-8 if it begins with this mark."""
_FORMULA = re.compile(r"[\t\r\n]|\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")
"""Text that a spreadsheet would read as the start of a formula, also after white space (OWASP, CSV
injection). The last four are full-width forms, which some spreadsheets accept too.
"""
_QUOTED = re.compile(r'[",;\t\r\n]|^\s|\s$')
"""Cells that match are quoted. Semicolons separate cells where the decimal sign is a comma."""


def header() -> str:
    """Return the beginning of a file of invoices: the byte order mark and the column names."""
    return BOM + _line(COLUMNS)


def payments_header() -> str:
    """Return the beginning of a file of payments: the byte order mark and the column names."""
    return BOM + _line(PAYMENT_COLUMNS)


def line_of(view: InvoiceView) -> str:
    """Return the line of an invoice."""
    return _line(write(view) for write in COLUMNS.values())


def payment_line_of(receipt: Receipt) -> str:
    """Return the line of a payment."""
    return _line(write(receipt) for write in PAYMENT_COLUMNS.values())


def read_lines(
    connection: Connection, wanted: InvoiceFilter, cursor: str | None, *, now: datetime
) -> tuple[str, str | None]:
    """Return the lines of the next invoices of a list and the next cursor, or None at the end.
    Raise `InvalidCursor`.
    """
    page = list_invoices(connection, wanted, cursor=cursor, limit=AT_ONCE, now=now)
    return "".join(map(line_of, page.invoices)), page.next_cursor


def read_payment_lines(
    connection: Connection, wanted: ReceiptFilter, after: Position | None
) -> tuple[str, Position | None]:
    """Return the lines of the next payments of a list and the position of the last one, or None at
    the end.
    """
    receipts = list_receipts(connection, wanted, after=after, limit=AT_ONCE)
    lines = "".join(map(payment_line_of, receipts))
    return lines, None if len(receipts) < AT_ONCE else receipts[-1].position


def _line(values: Iterable[str]) -> str:
    return ",".join(map(_cell, values)) + "\r\n"


def _cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def _inert(text: str) -> str:
    """Return a text that a spreadsheet does not read as a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def _time(at: datetime | None) -> str:
    """Return a time in the form that spreadsheets read."""
    return "" if at is None else at.strftime("%Y-%m-%d %H:%M:%S")


def _transactions(view: InvoiceView) -> str:
    """Return the distinct transactions of the payments that count, separated by spaces."""
    counted = (payment.tx_hash for payment in view.payments if payment.status != ORPHANED)
    return " ".join(dict.fromkeys(counted))


COLUMNS: Mapping[str, Callable[[InvoiceView], str]] = {
    "invoice": lambda view: view.id,
    "order": lambda view: _inert(view.external_order_id),
    "attempt": lambda view: str(view.attempt_no),
    "status": lambda view: view.status,
    "exception": lambda view: view.exception,
    "payment_method": lambda view: _inert(view.payment_method_id),
    "token": lambda view: _inert(view.token_symbol),
    "amount": lambda view: format_units(view.amount, view.decimals),
    "amount_paid": lambda view: format_units(view.amount_paid, view.decimals),
    "amount_pending": lambda view: format_units(view.amount_pending, view.decimals),
    "amount_overpaid": lambda view: format_units(view.amount_overpaid, view.decimals),
    "amount_atoms": lambda view: str(view.amount),
    "amount_paid_atoms": lambda view: str(view.amount_paid),
    "amount_pending_atoms": lambda view: str(view.amount_pending),
    "amount_overpaid_atoms": lambda view: str(view.amount_overpaid),
    "created_at": lambda view: _time(view.created_at),
    "paid_at": lambda view: _time(view.paid_at),
    "canceled_at": lambda view: _time(view.canceled_at),
    "expires_at": lambda view: _time(view.expires_at),
    "chain_id": lambda view: str(view.chain_id),
    "token_address": lambda view: view.token_address,
    "deposit_address": lambda view: view.deposit_address,
    "transactions": _transactions,
    "metadata": lambda view: view.metadata_json or "",
    "resolution": lambda view: view.resolution or "",
    "resolution_note": lambda view: _inert(view.resolution_note or ""),
    "refund_transaction": lambda view: view.refund_tx_hash or "",
    "resolved_at": lambda view: _time(view.resolved_at),
    "amount_tolerated": lambda view: format_units(view.amount_tolerated, view.decimals),
    "amount_tolerated_atoms": lambda view: str(view.amount_tolerated),
    "transfers_left_out": lambda view: str(view.has_left_out).lower(),
}
PAYMENT_COLUMNS: Mapping[str, Callable[[Receipt], str]] = {
    "received_at": lambda receipt: _time(receipt.detected_at),
    "amount": lambda receipt: format_units(receipt.amount, receipt.decimals),
    "amount_atoms": lambda receipt: str(receipt.amount),
    "token": lambda receipt: _inert(receipt.token_symbol),
    "sender": lambda receipt: receipt.from_address,
    "transaction": lambda receipt: receipt.tx_hash,
    "log_index": lambda receipt: str(receipt.log_index),
    "block": lambda receipt: str(receipt.block_number),
    "block_hash": lambda receipt: receipt.block_hash,
    "block_time": lambda receipt: _time(receipt.block_timestamp),
    "status": lambda receipt: receipt.status,
    "late": lambda receipt: "true" if receipt.late else "false",
    "invoice": lambda receipt: receipt.invoice_id,
    "order": lambda receipt: _inert(receipt.external_order_id),
    "attempt": lambda receipt: str(receipt.attempt_no),
    "payment_method": lambda receipt: _inert(receipt.payment_method_id),
    "chain_id": lambda receipt: str(receipt.chain_id),
    "token_address": lambda receipt: receipt.token_address,
    "deposit_address": lambda receipt: receipt.deposit_address,
    "metadata": lambda receipt: receipt.metadata_json or "",
}
