"""What invoices must be, counted afresh from a chain's blocks: the judge of every storm.

Deliberately shares no code with the watcher and the state machine.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Protocol

from adapters.chain.reader import Transfer
from tests.workers.ledger import Books, State


class Facts(Protocol):
    """What an invoice asks for; the table's row and the API's view both fit."""

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
    """(status, atoms confirmed, atoms pending) of an invoice that nobody canceled.

    `transfers` are those of the canonical chain, which is read up to `head`; the clock is taken to
    be past the invoice's expiry exactly when the chain is.
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
    """A stored state in the same terms."""
    return state.status, state.paid, state.pending


def differences(
    books: Books,
    invoices: Iterable[Facts],
    transfers: Iterable[Transfer],
    stamps: Mapping[int, datetime],
    *,
    head: int,
) -> dict[str, tuple[tuple[str, int, int], tuple[str, int, int]]]:
    """Invoice id -> (stored, recounted), where the two differ."""
    on_chain = list(transfers)
    wrong = {}
    for invoice in invoices:
        stored = told(books.state(invoice))
        right = recount(invoice, on_chain, stamps, head=head)
        if stored != right:
            wrong[invoice.id] = (stored, right)
    return wrong
