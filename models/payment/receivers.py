"""What the chain watcher looks for: the chains, tokens and invoices, and how far each was read.

Reads take a connection and may run outside a transaction; the checkpoint's revision, read before
them and swapped in the writing transaction, proves that they still hold (see `checkpoints`).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Select, or_, select, update
from sqlalchemy.orm import Session

from models.payment.tables import Invoice, PaymentMethod

NEVER_LOOKED_AT = -1
"""`Invoice.catch_up_block` of an invoice that no watcher has seen yet."""

PARAMETERS = 500
"""Values in one IN list: well below every database's limit of bound parameters."""


@dataclass(frozen=True, slots=True)
class Receiver:
    """One invoice as the chain sees it. Transfers dated after `monitoring_ends_at` are not its."""

    invoice_id: str
    token: str
    address: str
    monitoring_ends_at: datetime


@dataclass(frozen=True, slots=True)
class Newcomer:
    """An invoice that is not read together with the others yet, and what is known of its start."""

    receiver: Receiver
    catch_up_block: int
    creation_block: int | None
    created_at: datetime


_RECEIVER = (
    Invoice.id,
    Invoice.token_address,
    Invoice.deposit_address,
    Invoice.monitoring_ends_at,
)


def find_chains(reader: Connection) -> list[int]:
    """The chains that any project's method names."""
    return list(
        reader.scalars(select(PaymentMethod.chain_id).distinct().order_by(PaymentMethod.chain_id))
    )


def find_tokens(reader: Connection, chain_id: int) -> list[str]:
    """The tokens that invoices of this chain can ask for."""
    tokens = select(PaymentMethod.token_address).where(PaymentMethod.chain_id == chain_id)
    return list(reader.scalars(tokens.distinct().order_by(PaymentMethod.token_address)))


def find_receivers(
    reader: Connection, chain_id: int, *, since: datetime, limit: int | None
) -> list[Receiver]:
    """Up to `limit` (None: all) of the joined invoices whose monitoring had not ended at `since`.

    `since` is the checkpoint's block time, not the clock: a watcher that was down for a week still
    reads that week for the invoices that were open in it. Served by (chain_id, monitoring_ends_at),
    so closed invoices cost nothing.
    """
    return [Receiver(*row) for row in reader.execute(_watched(chain_id, since).limit(limit))]


def match_receivers(
    reader: Connection, chain_id: int, *, since: datetime, addresses: Collection[str]
) -> list[Receiver]:
    """Those of the invoices read together that own one of `addresses` (EIP-55)."""
    wanted = sorted(addresses)
    return [
        Receiver(*row)
        for start in range(0, len(wanted), PARAMETERS)
        for row in reader.execute(
            _watched(chain_id, since).where(
                Invoice.deposit_address.in_(wanted[start : start + PARAMETERS])
            )
        )
    ]


def find_newcomers(reader: Connection, chain_id: int, *, limit: int) -> list[Newcomer]:
    """Up to `limit` invoices that have to catch up with the checkpoint (a partial index)."""
    rows = reader.execute(
        select(*_RECEIVER, Invoice.catch_up_block, Invoice.creation_block, Invoice.created_at)
        .where(Invoice.chain_id == chain_id, Invoice.catch_up_block.is_not(None))
        .limit(limit)
    )
    return [Newcomer(Receiver(*row[:4]), row[4] or 0, row[5], row[6]) for row in rows]


def note_caught_up(session: Session, invoice_ids: Sequence[str], *, next_block: int | None) -> None:
    """Newcomers are read up to before `next_block`; None: they join the others."""
    for start in range(0, len(invoice_ids), PARAMETERS):
        session.execute(
            update(Invoice)
            .where(Invoice.id.in_(invoice_ids[start : start + PARAMETERS]))
            .values(catch_up_block=next_block)
            .execution_options(synchronize_session=False)
        )


def lower_newcomers(session: Session, chain_id: int, *, to: int) -> None:
    """After a walk back to block `to` - 1, newcomers read from `to` on at the latest."""
    unread = Invoice.catch_up_block == NEVER_LOOKED_AT
    session.execute(
        update(Invoice)
        .where(
            Invoice.chain_id == chain_id,
            Invoice.catch_up_block.is_not(None),
            or_(Invoice.catch_up_block > to, unread & (Invoice.creation_block > to)),
        )
        .values(catch_up_block=to)
        .execution_options(synchronize_session=False)
    )


def send_back_to_start(session: Session, chain_id: int, *, since: datetime) -> None:
    """Make every invoice monitored at `since` a newcomer whose start on the chain is unknown."""
    session.execute(
        update(Invoice)
        .where(Invoice.chain_id == chain_id, Invoice.monitoring_ends_at >= since)
        .values(catch_up_block=NEVER_LOOKED_AT, creation_block=None)
        .execution_options(synchronize_session=False)
    )


def _watched(chain_id: int, since: datetime) -> Select[str, str, str, datetime]:
    return select(*_RECEIVER).where(
        Invoice.chain_id == chain_id,
        Invoice.monitoring_ends_at >= since,
        Invoice.catch_up_block.is_(None),
    )
