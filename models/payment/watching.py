"""Writes of the chain watcher: observed transfers, dropped transfers, settlements.

Anyone can send an invoice's address any number of transfers of one atom; responses contain them and
settlements read them. So an invoice accepts `MAX_PAYMENTS` transfers of any size, and after those
only transfers of at least a thousandth of its amount: further rows then cost their sender more than
the invoice. Transfers that are left out do not count, and the invoice shows that there are some.

The watched invoices come from receivers.py. Everything here runs in the transaction that moves the
checkpoint (see `checkpoints`).
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count

import structlog
from sqlalchemy import BigInteger, Connection, bindparam, func, literal, select, update
from sqlalchemy.orm import Session

from models.dialects import id_in
from models.payment.checkpoints import BlockMark
from models.payment.lifecycle import CONFIRMED, ORPHANED, PENDING
from models.payment.receivers import Receiver
from models.payment.settlement import apply_settlement
from models.payment.tables import Invoice, Payment
from models.ranges import without_index
from specd.db import UtcMs, upsert

MAX_PAYMENTS = 1_000
DUST_PART = 1_000
"""A transfer of less than this part of an invoice's amount is dust."""


Content = tuple[str, str, str, str, int]
"""The block hash, transaction, invoice, sender and atoms of a log."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One transfer to an invoice, in a block that was canonical when it was read. In atoms."""

    receiver: Receiver
    block: BlockMark
    tx_hash: str
    log_index: int
    sender: str
    amount: int

    @property
    def key(self) -> tuple[str, str, int]:
        """The identity of the transfer on its chain."""
        return (self.block.hash, self.tx_hash, self.log_index)

    @property
    def content(self) -> Content:
        """The content of the log, without its index, which depends on the node."""
        return (
            self.block.hash,
            self.tx_hash,
            self.receiver.invoice_id,
            self.sender,
            self.amount,
        )


@dataclass(frozen=True, slots=True)
class StoredLog:
    """The log of a payment row, with the index that it had when first seen. In atoms."""

    invoice_id: str
    block_hash: str
    tx_hash: str
    log_index: int
    sender: str
    amount: int

    @property
    def key(self) -> tuple[str, str, int]:
        """The identity of the transfer on its chain."""
        return (self.block_hash, self.tx_hash, self.log_index)

    @property
    def content(self) -> Content:
        """The content of the log, comparable with that of an `Observation`."""
        return (self.block_hash, self.tx_hash, self.invoice_id, self.sender, self.amount)


@dataclass(slots=True)
class Capacity:
    """How many more payments of any size an invoice accepts, and the minimum amount after those.
    Payments in dropped blocks are not counted.
    """

    left: int
    least: int

    def takes(self, amount: int) -> bool:
        """Return whether a transfer of `amount` atoms is stored."""
        return self.left > 0 or amount >= self.least


def record(
    session: Session, chain_id: int, observations: Iterable[Observation], *, now: datetime
) -> set[str]:
    """Store transfers. Return the invoices of the payments that are new or count again.

    A transfer is identified by its log and block (see `with_stored_numbers`). Observing it again
    changes nothing, unless its block was dropped and has returned: then the row counts again. Dust
    is not stored for an invoice without capacity.
    """
    observations = list(observations)
    capacities = _find_capacity(session, {seen.receiver.invoice_id for seen in observations})
    touched: set[str] = set()
    left_out: list[Observation] = []
    for seen in observations:
        capacity = capacities.get(seen.receiver.invoice_id)
        if capacity is not None and not capacity.takes(seen.amount):
            touched |= _revive(session, chain_id, seen)
            left_out.append(seen)
            continue
        row = upsert(Payment).values(
            invoice_id=seen.receiver.invoice_id,
            chain_id=chain_id,
            block_number=seen.block.number,
            block_hash=seen.block.hash,
            block_timestamp=seen.block.timestamp,
            tx_hash=seen.tx_hash,
            log_index=seen.log_index,
            from_address=seen.sender,
            amount=seen.amount,
            status=PENDING,
            late=False,  # set by the settlement, like every later status
            detected_at=now,
        )
        written = session.execute(
            row.on_conflict_do_update(
                index_elements=[
                    Payment.chain_id,
                    Payment.block_hash,
                    Payment.tx_hash,
                    Payment.log_index,
                ],
                set_={"status": PENDING},
                where=Payment.status == ORPHANED,
            ).returning(Payment.invoice_id)
        )
        ids = set(written.scalars())
        if ids and capacity is not None:
            capacity.left -= 1
        touched |= ids
    _note_left_out(session, chain_id, left_out, now=now)
    return touched


def _note_left_out(
    session: Session, chain_id: int, left_out: Sequence[Observation], *, now: datetime
) -> None:
    """Mark the invoices of transfers that are not stored, so that the merchant sees it."""
    if not left_out:
        return
    known = {each.key for each in find_stored(session.connection(), chain_id, left_out)}
    ids = Counter(each.receiver.invoice_id for each in left_out if each.key not in known)
    for invoice_id, transfers in ids.items():
        _log.warning("dust_left_out", invoice=invoice_id, transfers=transfers)
    session.execute(
        update(Invoice)
        .where(id_in(Invoice.id, sorted(ids)), ~Invoice.has_left_out)
        .values(has_left_out=True, updated_at=now)
        .execution_options(synchronize_session=False)
    )


def _revive(session: Session, chain_id: int, seen: Observation) -> set[str]:
    """Count stored dust again after its dropped block has returned."""
    back = session.execute(
        update(Payment)
        .where(
            Payment.chain_id == chain_id,
            Payment.block_hash == seen.block.hash,
            Payment.tx_hash == seen.tx_hash,
            Payment.log_index == seen.log_index,
            Payment.status == ORPHANED,
        )
        .values(status=PENDING)
        .returning(Payment.invoice_id)
        .execution_options(synchronize_session=False)
    )
    return set(back.scalars())


def find_stored(
    reader: Connection, chain_id: int, observations: Iterable[Observation]
) -> list[StoredLog]:
    """Return the stored logs of the blocks of these transfers, oldest row first."""
    rows = reader.execute(
        select(
            Payment.invoice_id,
            Payment.block_hash,
            Payment.tx_hash,
            Payment.log_index,
            Payment.from_address,
            Payment.amount,
        )
        .where(
            Payment.chain_id == chain_id,
            id_in(Payment.block_hash, sorted({each.block.hash for each in observations})),
        )
        .order_by(Payment.id)
    )
    return [StoredLog(*row) for row in rows]


def with_stored_numbers(
    seen: Sequence[Observation], stored: Iterable[StoredLog]
) -> list[Observation]:
    """Return the transfers; stored ones get the log index that they are stored with.

    Nodes may number the logs of a block differently, so a log may be read with another index than
    before. A log is the stored one if block, transaction, invoice, sender and amount are equal; if
    more such logs are read than are stored, the excess is new. A new log gets a free index if a log
    of another invoice in the transaction already has its index.
    """
    left: dict[Content, list[int]] = defaultdict(list)
    owners: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)
    for log in stored:
        left[log.content].append(log.log_index)
        owners[log.block_hash, log.tx_hash][log.log_index] = log.invoice_id
    exact = set()
    for place, each in enumerate(seen):
        if each.log_index in left[each.content]:
            left[each.content].remove(each.log_index)
            exact.add(place)
    numbered = []
    for place, each in enumerate(seen):
        if place not in exact:
            taken = owners[each.block.hash, each.tx_hash]
            number, invoice_id = each.log_index, each.receiver.invoice_id
            if left[each.content]:
                number = left[each.content].pop(0)
            elif taken.get(number, invoice_id) != invoice_id:
                number = next(free for free in count() if free not in taken)
            taken[number] = invoice_id
            each = replace(each, log_index=number)
        numbered.append(each)
    return numbered


@dataclass(frozen=True, slots=True)
class PaidAbove:
    """A payment that counts, with its block."""

    block_number: int
    block_hash: str
    tx_hash: str
    is_confirmed: bool


_PAID_ABOVE = select(
    Payment.block_number, Payment.block_hash, Payment.tx_hash, Payment.status
).where(
    Payment.chain_id == bindparam("its_chain"),
    Payment.block_number > bindparam("number"),
    Payment.status != ORPHANED,
)
# A literal, because otherwise neither database uses the partial index.
_IS_PENDING = Payment.status == literal(PENDING, literal_execute=True)
_HAS_PENDING = select(
    select(Payment.id).where(Payment.chain_id == bindparam("its_chain"), _IS_PENDING).exists()
)
_HEAD_NUMBER = bindparam("head_number", type_=BigInteger)
_MATURING = (
    select(Payment.invoice_id)
    .join(Invoice, Invoice.id == Payment.invoice_id)
    .where(
        Payment.chain_id == bindparam("its_chain"),
        _IS_PENDING,
        Invoice.catch_up_block.is_(None),
        Payment.block_number <= _HEAD_NUMBER - Invoice.confirmations_required + 1,
    )
    .distinct()
)


def find_paid_above(reader: Connection, chain_id: int, number: int) -> list[PaidAbove]:
    """Return the payments that count in blocks above a number."""
    rows = reader.execute(_PAID_ABOVE, {"its_chain": chain_id, "number": number})
    return [PaidAbove(*row[:3], row.status == CONFIRMED) for row in rows]


def orphan(
    session: Session,
    chain_id: int,
    *,
    above: int,
    keep: Collection[tuple[str, str, int]] = (),
    since: datetime | None = None,
    blocks: Collection[str] | None = None,
) -> set[str]:
    """Mark the payments above a block as orphaned, except `keep`, those just read again. Return the
    ids of their invoices.

    With `since`, mark only payments of invoices that were still monitored at that time. With
    `blocks`, mark only payments in blocks with these hashes.
    """
    living = select(
        Payment.id, Payment.invoice_id, Payment.block_hash, Payment.tx_hash, Payment.log_index
    ).where(Payment.chain_id == chain_id, Payment.block_number > above, Payment.status != ORPHANED)
    if since is not None:
        living = living.join(Invoice, Invoice.id == Payment.invoice_id).where(
            without_index(Invoice.monitoring_ends_at) >= UtcMs.to_ms(since)
        )
    kept = set(keep)
    dropped = [
        row
        for row in session.execute(living)
        if (row.block_hash, row.tx_hash, row.log_index) not in kept
        and (blocks is None or row.block_hash in blocks)
    ]
    session.execute(
        update(Payment)
        .where(id_in(Payment.id, [row.id for row in dropped]))
        .values(status=ORPHANED)
        .execution_options(synchronize_session=False)
    )
    return {row.invoice_id for row in dropped}


def find_maturing(session: Session, chain_id: int, *, head_number: int) -> set[str]:
    """Return the invoices with a pending payment that this head confirms. Newcomers are excluded.

    The partial index of pending payments is read, so confirmed payments cost nothing.
    """
    values = {"its_chain": chain_id, "head_number": head_number}
    return set(session.scalars(_MATURING, values))


def has_pending(reader: Connection, chain_id: int) -> bool:
    """Return whether a payment waits for confirmations."""
    return bool(reader.scalar(_HAS_PENDING, {"its_chain": chain_id}))


def find_with_payments(session: Session, invoice_ids: Sequence[str]) -> set[str]:
    """Return the invoices that have any payment row, including orphaned ones."""
    paid = select(Payment.invoice_id).where(id_in(Payment.invoice_id, invoice_ids))
    return set(session.scalars(paid.distinct()))


def settle_touched(
    session: Session,
    invoice_ids: Collection[str],
    *,
    head_number: int,
    checkpoint_time: datetime,
    now: datetime,
) -> int:
    """Settle these invoices, in the same order in all watchers. Return how many were settled.

    Newcomers are skipped: until one has caught up, an earlier payment may be unread, so the
    checkpoint's time does not apply to it.
    """
    caught_up = select(Invoice.id).where(
        id_in(Invoice.id, invoice_ids), Invoice.catch_up_block.is_(None)
    )
    ids = sorted(session.scalars(caught_up))
    for invoice_id in ids:
        apply_settlement(
            session, invoice_id, head_number=head_number, checkpoint_time=checkpoint_time, now=now
        )
    return len(ids)


def _find_capacity(session: Session, invoice_ids: Collection[str]) -> dict[str, Capacity]:
    """Return the capacity of each invoice, with one statement."""
    stored = (
        select(func.count())
        .where(Payment.invoice_id == Invoice.id, without_index(Payment.status) != ORPHANED)
        .correlate(Invoice)
        .scalar_subquery()
    )
    rows = session.execute(
        select(Invoice.id, Invoice.amount, stored).where(id_in(Invoice.id, invoice_ids))
    )
    return {
        invoice_id: Capacity(MAX_PAYMENTS - known, -(-amount // DUST_PART))
        for invoice_id, amount, known in rows
    }


_log = structlog.get_logger(__name__)
