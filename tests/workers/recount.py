"""Expected states of invoices, computed from a chain's blocks, for the check of every storm.

It deliberately shares no code with the watcher and the state machine.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Protocol

from adapters.chain.reader import Transfer
from tests.workers.ledger import Books, State


class Facts(Protocol):
    """The request of an invoice; satisfied by the table's row and the API's view."""

    @property
    def id(self) -> str: ...
    @property
    def amount(self) -> int: ...
    @property
    def token_address(self) -> str: ...
    @property
    def deposit_address(self) -> str: ...
    @property
    def confirmations_required(self) -> int: ...
    @property
    def expires_at(self) -> datetime: ...
    @property
    def monitoring_ends_at(self) -> datetime: ...


def recount(
    invoice: Facts, transfers: Iterable[Transfer], stamps: Mapping[int, datetime], *, head: int
) -> tuple[str, int, int]:
    """Return (status, confirmed atoms, pending atoms) of an invoice that was not canceled.

    `transfers` are those of the canonical chain, which is read up to `head`. The clock is assumed
    to be past the invoice's expiry exactly if the chain is.
    """
    confirmed = pending = on_time = on_time_confirmed = 0
    for each in transfers:
        if each.token != invoice.token_address or each.receiver != invoice.deposit_address:
            continue
        if stamps[each.block_number] > invoice.monitoring_ends_at:
            continue
        is_confirmed = each.block_number <= head + 1 - invoice.confirmations_required
        confirmed += each.amount * is_confirmed
        pending += each.amount * (not is_confirmed)
        if stamps[each.block_number] <= invoice.expires_at:
            on_time += each.amount
            on_time_confirmed += each.amount * is_confirmed
    if on_time_confirmed >= invoice.amount:
        status = "paid"
    elif on_time >= invoice.amount:
        status = "processing"
    else:
        status = "expired" if stamps[head] > invoice.expires_at else "unpaid"
    return status, confirmed, pending


def told(state: State) -> tuple[str, int, int]:
    """Return a stored state in the same form."""
    return state.status, state.paid, state.pending


def differences(
    books: Books,
    invoices: Iterable[Facts],
    transfers: Iterable[Transfer],
    stamps: Mapping[int, datetime],
    *,
    head: int,
) -> dict[str, tuple[tuple[str, int, int], tuple[str, int, int]]]:
    """Return (stored, recounted) by invoice id, where they differ."""
    on_chain = list(transfers)
    wrong = {}
    for invoice in invoices:
        stored = told(books.state(invoice))
        right = recount(invoice, on_chain, stamps, head=head)
        if stored != right:
            wrong[invoice.id] = (stored, right)
    return wrong
