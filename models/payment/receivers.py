"""The input of the chain watcher: chains, tokens and invoices, and how far each has been read.

Reads use a connection and may run outside a transaction. The checkpoint's revision is read before
them and swapped in the writing transaction, which proves that they are still valid (see
`checkpoints`).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Select,
    bindparam,
    case,
    func,
    literal,
    or_,
    select,
    union_all,
    update,
)
from sqlalchemy.orm import InstrumentedAttribute, Session
from sqlalchemy.sql.dml import ReturningUpdate

from models.dialects import id_in
from models.payment.checkpoints import BlockMark
from models.payment.lifecycle import PENDING, UNPAID
from models.payment.tables import UNREAD, Invoice, Payment, PaymentMethod
from models.ranges import IndexRange, without_index
from models.rows import columns_of, read_rows, row_of
from specd.db import UtcMs, table_of

_MONITORED = IndexRange([Invoice.chain_id], [Invoice.monitoring_ends_at])
_EXPIRING = IndexRange([Invoice.chain_id], [Invoice.expires_at])
READ_ANEW_AT_ONCE = 500
_invoice = table_of(Invoice)


@dataclass(frozen=True, slots=True)
class Receiver:
    """An invoice's address on the chain, and which transfers to it count.

    Transfers in `after_block` and below preceded the invoice and do not count. The same applies to
    transfers dated long before `handed_out_at`, the chain's time when the address was handed out.
    Transfers dated after `monitoring_ends_at` are too late.
    """

    invoice_id: str
    token: str
    address: str
    monitoring_ends_at: datetime
    after_block: int
    handed_out_at: datetime | None


@dataclass(frozen=True, slots=True)
class Newcomer:
    """An invoice with blocks that are read for it alone, and where reading starts.

    Either it still catches up with the others, or, if `is_rereading`, its blocks are read again.
    `creation_block`, `creation_head` and `rereads` are as in the table.
    """

    receiver: Receiver
    catch_up_block: int
    is_rereading: bool
    creation_block: int | None
    creation_head: int | None
    creation_head_hash: str | None
    created_at: datetime
    rereads: int

    @property
    def is_anchored(self) -> bool:
        """Whether the last block before the address was handed out has been found."""
        return self.creation_block is not None and self.creation_head is None

    @property
    def start(self) -> int:
        """The first block to read."""
        if self.catch_up_block != UNREAD:
            return self.catch_up_block
        return self.receiver.after_block + 1


_RECEIVER = (
    Invoice.id.label("invoice_id"),
    Invoice.token_address.label("token"),
    Invoice.deposit_address.label("address"),
    Invoice.monitoring_ends_at,
    func.coalesce(Invoice.creation_block, -1).label("after_block"),
    Invoice.creation_time.label("handed_out_at"),
)


# The statements of each step of a watcher. They are built once, because building them takes longer
# than executing them.
_ITS_CHAIN = Invoice.chain_id == bindparam("its_chain")
_JOINED = Invoice.catch_up_block.is_(None)
_SINCE_MS = bindparam("since", type_=BigInteger)
_TOKENS = (
    select(PaymentMethod.token_address)
    .where(
        PaymentMethod.chain_id == bindparam("its_chain"),
        select(Invoice.id)
        .where(
            _MONITORED.rows(bindparam("its_chain", type_=BigInteger), since=(_SINCE_MS,)),
            without_index(Invoice.token_address) == PaymentMethod.token_address,
        )
        .exists(),
    )
    .distinct()
    .order_by(PaymentMethod.token_address)
)
_AWAITED = (
    # Literals, because otherwise neither database uses the partial indexes.
    select(Invoice.id).where(_ITS_CHAIN, Invoice.status == literal(UNPAID, literal_execute=True)),
    select(Payment.id).where(
        Payment.chain_id == bindparam("its_chain"),
        Payment.status == literal(PENDING, literal_execute=True),
    ),
    select(Invoice.id).where(_ITS_CHAIN, Invoice.catch_up_block.is_not(None)),
    select(Invoice.id).where(_ITS_CHAIN, Invoice.reread_block.is_not(None)),
)
_IS_AWAITED = select(or_(*(each.exists() for each in _AWAITED)))
_RECEIVERS = select(*_RECEIVER).where(
    _ITS_CHAIN, Invoice.monitoring_ends_at >= bindparam("since"), _JOINED
)


def _newcomers(
    next_block: InstrumentedAttribute[int | None], *, is_rereading: bool
) -> Select[*tuple[Any, ...]]:
    others = [
        column
        for column in columns_of(Newcomer, Invoice)
        if column.key not in ("catch_up_block", "creation_time")
    ]
    return select(
        *_RECEIVER,
        next_block.label("catch_up_block"),
        literal(is_rereading).label("is_rereading"),
        *others,
    ).where(_ITS_CHAIN, next_block.is_not(None))


_NEWEST = (
    _newcomers(Invoice.catch_up_block, is_rereading=False)
    .order_by(Invoice.created_at.desc())
    .limit(bindparam("at_once", type_=BigInteger))
    .subquery()
)
_LOWEST = (
    _newcomers(Invoice.reread_block, is_rereading=True)
    .where(without_index(Invoice.catch_up_block).is_(None))
    .order_by(Invoice.reread_block)
    .limit(bindparam("at_once", type_=BigInteger))
    .subquery()
)
_NEWCOMERS = union_all(select(_NEWEST), select(_LOWEST))


def find_chains(reader: Connection) -> list[int]:
    """Return the chains of all payment methods."""
    return list(
        reader.scalars(select(PaymentMethod.chain_id).distinct().order_by(PaymentMethod.chain_id))
    )


def find_tokens(reader: Connection, chain_id: int, *, since: datetime) -> list[str]:
    """Return the tokens of the invoices on the chain that were monitored at `since`."""
    values = {"its_chain": chain_id, "since": UtcMs.to_ms(since)}
    return list(reader.scalars(_TOKENS, values))


def is_awaited(reader: Connection, chain_id: int) -> bool:
    """Return whether blocks of this chain matter now: an invoice is unpaid, a payment is not
    confirmed yet, or an invoice has blocks to catch up with or to read again.
    """
    return bool(reader.scalar(_IS_AWAITED, {"its_chain": chain_id}))


def find_receivers(
    reader: Connection, chain_id: int, *, since: datetime, limit: int | None
) -> list[Receiver]:
    """Return up to `limit` of the caught-up invoices that were monitored at `since`, or all if
    `limit` is None.

    `since` is the time of the checkpoint's block, not the clock. After a week of downtime, a
    watcher therefore still reads that week for the invoices that were open in it. The index on
    monitoring_ends_at skips closed invoices.
    """
    rows = reader.execute(_RECEIVERS.limit(limit), {"its_chain": chain_id, "since": since})
    return read_rows(Receiver, rows)


def match_receivers(
    reader: Connection, chain_id: int, *, since: datetime, addresses: Collection[str]
) -> list[Receiver]:
    """Return the caught-up invoices that have one of `addresses` (EIP-55)."""
    query = select(*_RECEIVER).where(
        Invoice.chain_id == chain_id,
        id_in(Invoice.deposit_address, sorted(addresses)),
        # The index of addresses finds them. Too many invoices are monitored for the other index.
        without_index(Invoice.monitoring_ends_at) >= UtcMs.to_ms(since),
        Invoice.catch_up_block.is_(None),
    )
    return read_rows(Receiver, reader.execute(query))


def find_newcomers(reader: Connection, chain_id: int, *, limit: int) -> list[Newcomer]:
    """Return the invoices that must catch up with the checkpoint, newest first, and those whose
    blocks are read again, lowest block first. There are up to `limit` of each.
    """
    rows = reader.execute(_NEWCOMERS, {"its_chain": chain_id, "at_once": limit})
    return [row_of(Newcomer, row, receiver=row_of(Receiver, row)) for row in rows]


def anchor(session: Session, anchors: Mapping[str, int]) -> None:
    """Store the block before each invoice's first block. It is known to be on the chain."""
    found = {"creation_head": None, "creation_head_hash": None}
    for invoice_id, block in anchors.items():
        _update(session, Invoice.id == invoice_id, creation_block=block, **found)


def note_caught_up(session: Session, invoice_ids: Sequence[str], *, next_block: int | None) -> None:
    """Record that newcomers are read to just before `next_block`, or caught up if it is None."""
    _update(session, id_in(Invoice.id, invoice_ids), catch_up_block=next_block)


def put_off(session: Session, invoice_ids: Sequence[str]) -> None:
    """End the catching up of newcomers, and schedule a rescan of the blocks not read yet."""
    next_block = func.coalesce(Invoice.reread_block, Invoice.catch_up_block)
    lower = case((Invoice.catch_up_block < next_block, Invoice.catch_up_block), else_=next_block)
    _update(session, id_in(Invoice.id, invoice_ids), reread_block=lower, catch_up_block=None)


def send_back(session: Session, starts: Mapping[str, int]) -> None:
    """Schedule another reading of each invoice's blocks from a number on."""
    for invoice_id, start in starts.items():
        lower = case((Invoice.reread_block < start, Invoice.reread_block), else_=start)
        _update(session, Invoice.id == invoice_id, reread_block=lower)


def note_reread(
    session: Session, invoice_ids: Sequence[str], *, first: int, next_block: int | None
) -> None:
    """Record that invoices were read again from `first` to just before `next_block`, or to the end
    if it is None. An invoice that was sent back below `first` meanwhile is unchanged.
    """
    as_read = (without_index(Invoice.reread_block) >= first) | (Invoice.reread_block == UNREAD)
    _update(session, id_in(Invoice.id, invoice_ids), as_read, reread_block=next_block)


def go_back(session: Session, chain_id: int, *, to: BlockMark, since: datetime) -> None:
    """After a walk back to block `to`, move the creation block of the invoices monitored at `since`
    down to `to`. Newcomers and rereads continue right above it at the latest.
    """
    its = Invoice.chain_id == chain_id
    above = (Invoice.monitoring_ends_at >= since) & (Invoice.creation_block > to.number)
    _update(session, its, above, creation_block=to.number)
    newcomer = Invoice.catch_up_block.is_not(None)
    further = without_index(Invoice.catch_up_block) > to.number + 1
    _update(session, its, newcomer, further, catch_up_block=to.number + 1)
    rereading = Invoice.reread_block.is_not(None)
    further = without_index(Invoice.reread_block) > to.number + 1
    _update(session, its, rereading, further, reread_block=to.number + 1)


def send_back_to_start(session: Session, chain_id: int, *, since: datetime) -> None:
    """Make every invoice monitored at `since` a newcomer with an unknown start on the chain."""
    _update(
        session,
        Invoice.chain_id == chain_id,
        Invoice.monitoring_ends_at >= since,
        catch_up_block=UNREAD,
        reread_block=None,
        rereads=0,
        creation_block=None,
        creation_time=None,
        creation_head=None,
        creation_head_hash=None,
    )


def _reading_anew(
    rereads: int, index: IndexRange, *conditions: ColumnElement[bool]
) -> ReturningUpdate[str]:
    """Return a statement that schedules a rescan of due invoices whose time on an index is before
    `before_ms`, and returns their ids.
    """
    ended = index.rows(
        bindparam("its_chain", type_=BigInteger),
        before=(bindparam("before_ms", type_=BigInteger),),
    )
    some = select(Invoice.id).where(ended, _JOINED, *conditions).order_by(*index.ascending)
    return (
        update(_invoice)
        .where(_invoice.c.id.in_(some.limit(READ_ANEW_AT_ONCE).scalar_subquery()))
        .values(reread_block=func.coalesce(_invoice.c.creation_block + 1, UNREAD), rereads=rereads)
        .returning(_invoice.c.id)
    )


# Literals, because otherwise neither database uses the partial indexes.
_EXPIRED_ANEW = _reading_anew(
    1, _EXPIRING, Invoice.status == literal(UNPAID, literal_execute=True), Invoice.rereads == 0
)
_ENDED_ANEW = _reading_anew(2, _MONITORED, Invoice.rereads < literal(2, literal_execute=True))


def read_anew(
    session: Session, chain_id: int, *, expired_at: datetime, ended_at: datetime | None
) -> int:
    """Schedule a rescan of all blocks of invoices that have ended: once after the expiry, and once
    after the monitoring. Return how many rescans were scheduled.

    The first applies to unpaid invoices that expired before `expired_at`, the second, with
    `ended_at`, to all invoices whose monitoring ended before it; each call handles up to
    `READ_ANEW_AT_ONCE` of each. Meanwhile they are also read together with the others.
    """
    sent = 0
    for statement, before in ((_EXPIRED_ANEW, expired_at), (_ENDED_ANEW, ended_at)):
        if before is not None:
            values = {"its_chain": chain_id, "before_ms": UtcMs.to_ms(before)}
            sent += len(session.execute(statement, values).all())
    return sent


def _update(session: Session, *conditions: ColumnElement[bool], **values: object) -> None:
    session.execute(
        update(Invoice)
        .where(*conditions)
        .values(values)
        .execution_options(synchronize_session=False)
    )
