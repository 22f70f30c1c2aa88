"""What the chain watcher looks for: the chains, tokens and invoices, and how far each was read.

Reads take a connection and may run outside a transaction: the checkpoint's revision, read before
them and swapped in the writing transaction, proves that they are still true (see `checkpoints`).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    case,
    func,
    literal,
    or_,
    select,
    union_all,
    update,
)
from sqlalchemy.orm import InstrumentedAttribute, Session

from models.dialects import id_in
from models.payment.checkpoints import BlockMark
from models.payment.lifecycle import PENDING, UNPAID
from models.payment.tables import UNREAD, Invoice, Payment, PaymentMethod
from models.ranges import IndexRange, without_index
from models.rows import columns_of, read_rows, row_of
from specd.db import UtcMs

_MONITORED = IndexRange([Invoice.chain_id], [Invoice.monitoring_ends_at])
_EXPIRING = IndexRange([Invoice.chain_id], [Invoice.expires_at])
READ_ANEW_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Receiver:
    """One invoice as the chain sees it.

    Transfers in `after_block` and below were there before the address was handed out, as were those
    dated long before the chain's time at that moment, `handed_out_at`; and those dated after
    `monitoring_ends_at` come too late: none of them are its.
    """

    invoice_id: str
    token: str
    address: str
    monitoring_ends_at: datetime
    after_block: int
    handed_out_at: datetime | None


@dataclass(frozen=True, slots=True)
class Newcomer:
    """An invoice with blocks to read for it alone, and its start on the chain.

    It is not read together with the others yet, or with `is_rereading`, its blocks are read again.
    `creation_block`, `creation_head` and `rereads` as in the table.
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


def find_chains(reader: Connection) -> list[int]:
    """Return the chains that any project's method names."""
    return list(
        reader.scalars(select(PaymentMethod.chain_id).distinct().order_by(PaymentMethod.chain_id))
    )


def find_tokens(reader: Connection, chain_id: int, *, since: datetime) -> list[str]:
    """Return the tokens of the joined invoices that were monitored at `since`."""
    waits = (
        select(Invoice.id)
        .where(
            _MONITORED.rows(chain_id, since=(UtcMs.to_ms(since),)),
            without_index(Invoice.token_address) == PaymentMethod.token_address,
        )
        .exists()
    )
    tokens = select(PaymentMethod.token_address).where(PaymentMethod.chain_id == chain_id, waits)
    return list(reader.scalars(tokens.distinct().order_by(PaymentMethod.token_address)))


def is_awaited(reader: Connection, chain_id: int) -> bool:
    """Return whether blocks of this chain matter now: an invoice may still be paid in time, a
    payment is not confirmed yet, or an invoice has blocks to catch up with.
    """
    waits = (
        # Literals, or neither database uses the partial indexes.
        select(Invoice.id).where(
            Invoice.chain_id == chain_id, Invoice.status == literal(UNPAID, literal_execute=True)
        ),
        select(Payment.id).where(
            Payment.chain_id == chain_id, Payment.status == literal(PENDING, literal_execute=True)
        ),
        select(Invoice.id).where(Invoice.chain_id == chain_id, Invoice.catch_up_block.is_not(None)),
        select(Invoice.id).where(Invoice.chain_id == chain_id, Invoice.reread_block.is_not(None)),
    )
    return bool(reader.scalar(select(or_(*(each.exists() for each in waits)))))


def find_receivers(
    reader: Connection, chain_id: int, *, since: datetime, limit: int | None
) -> list[Receiver]:
    """Return up to `limit` (None: all) of the joined invoices that were monitored at `since`.

    `since` is the checkpoint's block time, not the clock: a watcher that was down for a week still
    reads that week for the invoices that were open in it. The index on monitoring_ends_at serves
    it, so closed invoices cost nothing.
    """
    query = select(*_RECEIVER).where(
        Invoice.chain_id == chain_id,
        Invoice.monitoring_ends_at >= since,
        Invoice.catch_up_block.is_(None),
    )
    return read_rows(Receiver, reader.execute(query.limit(limit)))


def match_receivers(
    reader: Connection, chain_id: int, *, since: datetime, addresses: Collection[str]
) -> list[Receiver]:
    """Return those of the joined invoices that own one of `addresses` (EIP-55)."""
    query = select(*_RECEIVER).where(
        Invoice.chain_id == chain_id,
        id_in(Invoice.deposit_address, sorted(addresses)),
        # The index of addresses finds them. Too many invoices are monitored.
        without_index(Invoice.monitoring_ends_at) >= UtcMs.to_ms(since),
        Invoice.catch_up_block.is_(None),
    )
    return read_rows(Receiver, reader.execute(query))


def find_newcomers(reader: Connection, chain_id: int, *, limit: int) -> list[Newcomer]:
    """Return the invoices that have to catch up with the checkpoint, newest first, and those whose
    blocks are read again, up to `limit` of each: neither list takes the other's place.
    """
    new = _newcomers(Invoice.catch_up_block, is_rereading=False).where(
        Invoice.chain_id == chain_id, Invoice.catch_up_block.is_not(None)
    )
    again = _newcomers(Invoice.reread_block, is_rereading=True).where(
        Invoice.chain_id == chain_id,
        Invoice.reread_block.is_not(None),
        without_index(Invoice.catch_up_block).is_(None),
    )
    newest = new.order_by(Invoice.created_at.desc()).limit(limit).subquery()
    lowest = again.order_by(Invoice.reread_block).limit(limit).subquery()
    rows = reader.execute(union_all(select(newest), select(lowest)))
    return [row_of(Newcomer, row, receiver=row_of(Receiver, row)) for row in rows]


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
    )


def anchor(session: Session, anchors: Mapping[str, int]) -> None:
    """Store the block right before each invoice's first one; it is on the chain."""
    found = {"creation_head": None, "creation_head_hash": None}
    for invoice_id, block in anchors.items():
        _update(session, Invoice.id == invoice_id, creation_block=block, **found)


def note_caught_up(session: Session, invoice_ids: Sequence[str], *, next_block: int | None) -> None:
    """Note that newcomers are read up to before `next_block`; None: they join the others."""
    _update(session, id_in(Invoice.id, invoice_ids), catch_up_block=next_block)


def put_off(session: Session, invoice_ids: Sequence[str]) -> None:
    """Let newcomers join the others, and have the blocks that they have not read yet read again."""
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
    """Note that invoices were read again from `first` to before `next_block`; None: to the end. One
    that was sent back below `first` meanwhile stays there.
    """
    as_read = (without_index(Invoice.reread_block) >= first) | (Invoice.reread_block == UNREAD)
    _update(session, id_in(Invoice.id, invoice_ids), as_read, reread_block=next_block)


def go_back(session: Session, chain_id: int, *, to: BlockMark, since: datetime) -> None:
    """After a walk back to block `to`, move the start of the invoices monitored at `since` down to
    that block, and have newcomers read on right above it at the latest.
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
    """Make every invoice monitored at `since` a newcomer whose start on the chain is unknown."""
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


def read_anew(
    session: Session, chain_id: int, *, expired_at: datetime, ended_at: datetime | None
) -> int:
    """Have the blocks of invoices whose time is over read again, once each; return how many.

    These are the unpaid ones that expired before `expired_at`, and with `ended_at` all whose
    monitoring ended before that. Meanwhile they are read together with the others, too.
    """
    start = func.coalesce(Invoice.creation_block + 1, UNREAD)
    joined = Invoice.catch_up_block.is_(None)
    due = [
        (
            1,
            _EXPIRING,
            _EXPIRING.rows(chain_id, before=(UtcMs.to_ms(expired_at),))
            & joined
            & (Invoice.status == literal(UNPAID, literal_execute=True))
            & (Invoice.rereads == 0),
        )
    ]
    if ended_at is not None:
        over = _MONITORED.rows(chain_id, before=(UtcMs.to_ms(ended_at),))
        # Literal, or neither database uses the partial index.
        is_due = Invoice.rereads < literal(2, literal_execute=True)
        due.append((2, _MONITORED, over & joined & is_due))
    sent = 0
    for rereads, index, condition in due:
        some = select(Invoice.id).where(condition).order_by(*index.ascending)
        rows = session.execute(
            update(Invoice)
            .where(Invoice.id.in_(some.limit(READ_ANEW_AT_ONCE).scalar_subquery()))
            .values(reread_block=start, rereads=rereads)
            .returning(Invoice.id)
            .execution_options(synchronize_session=False)
        )
        sent += len(rows.all())
    return sent


def _update(session: Session, *conditions: ColumnElement[bool], **values: object) -> None:
    session.execute(
        update(Invoice)
        .where(*conditions)
        .values(values)
        .execution_options(synchronize_session=False)
    )
