"""How far the watchers have read each chain, and who watches: for the operator's metrics."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select

from models.payment import receivers
from models.payment.tables import ChainHead, Invoice, Lease
from models.rows import columns_of, read_rows


@dataclass(frozen=True, slots=True)
class ChainProgress:
    """A chain that is watched: its newest block that a watcher has seen, and when, and the last one
    that was read. The chain's time up to which all is read is `read_until`.
    """

    chain_id: int
    checkpoint_number: int
    head_number: int
    head_seen_at: datetime | None
    read_until: datetime
    readings_given_up: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """The invoices of a chain that have not joined the others yet, when the oldest of them was
    created, and how many are read again.
    """

    newcomers: int
    oldest: datetime | None
    rereadings: int


@dataclass(frozen=True, slots=True)
class LeaseRow:
    """Who has a job, and when the lease lapses unless it is renewed."""

    name: str
    holder: str
    expires_at: datetime


def find_progress(
    reader: Connection, is_configured: Callable[[int], bool]
) -> tuple[Sequence[int], Sequence[ChainProgress]]:
    """Return the chains that are to be watched, those of methods with an endpoint, and the progress
    of those that have been read before.
    """
    chains = [chain for chain in receivers.find_chains(reader) if is_configured(chain)]
    query = select(*columns_of(ChainProgress, ChainHead)).where(ChainHead.chain_id.in_(chains))
    rows = reader.execute(query.order_by(ChainHead.chain_id))
    return chains, read_rows(ChainProgress, rows)


def find_waiting(reader: Connection, chain_id: int) -> Waiting:
    """Return how many invoices have blocks to read for them alone (partial indexes)."""
    its = Invoice.chain_id == chain_id
    new = select(func.count(), func.min(Invoice.created_at))
    newcomers, oldest = reader.execute(new.where(its, Invoice.catch_up_block.is_not(None))).one()
    again = select(func.count()).where(its, Invoice.reread_block.is_not(None))
    return Waiting(newcomers, oldest, reader.scalar(again) or 0)


def find_leases(reader: Connection) -> Sequence[LeaseRow]:
    """Return all leases, lapsed or not."""
    return read_rows(
        LeaseRow, reader.execute(select(*columns_of(LeaseRow, Lease)).order_by(Lease.name))
    )
