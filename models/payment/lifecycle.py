"""The state machine of an invoice: every way in which a status changes.

    create ──> unpaid ───────────── total >= amount ────────────> processing
                │  ^                                               │  ^   │
                │  └── reorg drops the total (reorged) ────────────┘  │   │ confirmed
                │                                                     │   │ total >= amount
                ├── cancel, nothing detected ──> canceled             │   v
                │                                                     └─ paid
                └── past expires_at, chain read past it ──> expired    (deep reorg: reorged)

| from             | condition                                        | to                        |
|------------------|--------------------------------------------------|---------------------------|
| unpaid           | 0 < on-time total < amount                       | unpaid + partial          |
| unpaid           | on-time total >= amount, not yet confirmed       | processing                |
| processing       | confirmed on-time total >= amount                | paid (+ over if more)     |
| processing       | a reorg drops the total below the amount         | unpaid/expired + reorged  |
| unpaid           | expires_at passed and the checkpoint is past it  | expired (partial kept)    |
| unpaid, untouched| cancel                                           | canceled                  |
| expired, canceled| a payment arrives                                | same status + late        |
| paid             | a reorg deeper than the confirmations            | processing/unpaid + reorged|
| paid             | the same, and expires_at passed                  | expired + reorged          |
| paid, processing | a reorg moves the payment past expires_at        | expired + late             |

"Amount" is that of the invoice minus the tolerance of its project (`find_least`); `over` means more
than the full amount. "Total" is the sum of the payments in blocks that are still part of the chain.
A payment is on time if its block's timestamp is not after `expires_at`, so downtime of the watcher
cannot make it late. On a canceled invoice every payment is late. A late payment counts as received
money and never makes an invoice paid. The status is a function of canonical payments, chain
position and cancel flag: running `settle` twice, or after any order of reorganizations, gives the
same result.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

UNPAID, PROCESSING, PAID, EXPIRED, CANCELED = STATUSES = (
    "unpaid",
    "processing",
    "paid",
    "expired",
    "canceled",
)
UNDECIDED = (UNPAID, PROCESSING)
"""Stored statuses that may still become paid without a reorganization."""
NONE, PARTIAL, OVER, LATE, REORGED = EXCEPTIONS = ("none", "partial", "over", "late", "reorged")
RECEIVED = (PROCESSING, PAID)
"""Statuses of an invoice whose amount has arrived on time, confirmed or not."""
MILLION = 1_000_000
PENDING, CONFIRMED, ORPHANED = PAYMENT_STATUSES = ("pending", "confirmed", "orphaned")


class InvoiceFacts(Protocol):
    """The fields of an invoice that the rules need. The table's rows have them."""

    @property
    def amount(self) -> int: ...
    @property
    def status(self) -> str: ...
    @property
    def exception(self) -> str: ...
    @property
    def confirmations_required(self) -> int: ...
    @property
    def tolerance_ppm(self) -> int: ...
    @property
    def expires_at(self) -> datetime: ...
    @property
    def paid_at(self) -> datetime | None: ...
    @property
    def canceled_at(self) -> datetime | None: ...


class PaymentFacts(Protocol):
    """The fields of a payment that the rules need. The table's rows have them."""

    @property
    def amount(self) -> int: ...
    @property
    def status(self) -> str: ...
    @property
    def tx_hash(self) -> str: ...
    @property
    def block_number(self) -> int: ...
    @property
    def block_hash(self) -> str: ...
    @property
    def block_timestamp(self) -> datetime: ...


@dataclass(frozen=True, slots=True)
class Settlement:
    """The state of an invoice that follows from its payments. Amounts are in atoms."""

    status: str
    exception: str
    amount_paid: int
    amount_pending: int
    paid_at: datetime | None


def settle(
    invoice: InvoiceFacts,
    payments: Iterable[PaymentFacts],
    *,
    head_number: int,
    checkpoint_time: datetime | None,
    now: datetime,
) -> Settlement:
    """Apply the table above, without side effects.

    `head_number` is the chain's newest block. `checkpoint_time` is the timestamp of the newest
    block that the watcher has read. If it is None, nothing has been read and nothing finally
    expires.
    """
    payments = list(payments)
    least = find_least(invoice)
    amount_paid = amount_pending = total = confirmed = 0
    has_late = False
    for payment in payments:
        if payment.status == ORPHANED:
            continue
        settled = is_confirmed(invoice, payment, head_number=head_number)
        amount_paid += payment.amount if settled else 0
        amount_pending += 0 if settled else payment.amount
        if is_late(invoice, payment):
            has_late = True
        else:
            total += payment.amount
            confirmed += payment.amount if settled else 0

    if invoice.canceled_at is not None:
        status, exception = CANCELED, LATE if has_late else NONE
    elif confirmed >= least:
        status, exception = PAID, OVER if amount_paid > invoice.amount else NONE
    elif total >= least:
        status, exception = PROCESSING, REORGED if _was_paid(invoice) else NONE
    else:
        is_over = is_past(invoice, now) and is_past(invoice, checkpoint_time)
        status = EXPIRED if is_over else UNPAID
        if has_late:
            exception = LATE
        elif total + _lost(invoice, payments) >= least:
            exception = REORGED
        else:
            exception = PARTIAL if total else NONE
    return Settlement(
        status=status,
        exception=exception,
        amount_paid=amount_paid,
        amount_pending=amount_pending,
        paid_at=(invoice.paid_at or now) if status == PAID else None,
    )


def find_least(invoice: InvoiceFacts) -> int:
    """Return the atoms that make the invoice paid: its amount minus the tolerance."""
    return invoice.amount - invoice.amount * invoice.tolerance_ppm // MILLION


def is_late(invoice: InvoiceFacts, payment: PaymentFacts) -> bool:
    """Return whether the payment's block is after the expiry, or the invoice was canceled."""
    return invoice.canceled_at is not None or payment.block_timestamp > invoice.expires_at


def is_confirmed(invoice: InvoiceFacts, payment: PaymentFacts, *, head_number: int) -> bool:
    """Return whether the payment has enough confirmations, including its block. A confirmed payment
    stays confirmed until its block is dropped, even if the head moves back.
    """
    return (
        payment.status == CONFIRMED
        or head_number - payment.block_number + 1 >= invoice.confirmations_required
    )


def is_past(invoice: InvoiceFacts, at: datetime | None) -> bool:
    """Return whether `at` is after the expiry. The moment of the expiry is still on time."""
    return at is not None and at > invoice.expires_at


def status_at(invoice: InvoiceFacts, now: datetime) -> str:
    """Return the status for readers. An unpaid invoice expires by the clock, without a worker."""
    return EXPIRED if invoice.status == UNPAID and now > invoice.expires_at else invoice.status


def _was_paid(invoice: InvoiceFacts) -> bool:
    return invoice.status == PAID or (invoice.status == PROCESSING and invoice.exception == REORGED)


def _lost(invoice: InvoiceFacts, payments: list[PaymentFacts]) -> int:
    """Return the on-time atoms that reorganizations removed and no later block restored.

    A transaction that was dropped several times counts once.
    """
    back = {payment.tx_hash for payment in payments if payment.status != ORPHANED}
    dropped: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for payment in payments:
        if payment.tx_hash not in back and not is_late(invoice, payment):
            dropped[payment.tx_hash][payment.block_hash] += payment.amount
    return sum(max(by_block.values()) for by_block in dropped.values())
