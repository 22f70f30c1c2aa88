"""Metrics for the operator: how far each chain was read, and which process watches it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select

from models.payment import receivers
from models.payment.tables import ChainHead, Invoice, Lease
from models.rows import columns_of, read_rows


@dataclass(frozen=True, slots=True)
class ChainProgress:
    """The progress of a watched chain: the last block read, the newest block that a watcher has
    seen, and when. Everything up to the chain time `read_until` has been read.
    """

    chain_id: int
    checkpoint_number: int
    head_number: int
    head_seen_at: datetime | None
    read_until: datetime
    readings_given_up: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """The number of a chain's invoices that still catch up, the creation time of the oldest of
    them, and the number of invoices that are read again.
    """

    newcomers: int
    oldest: datetime | None
    rereadings: int


@dataclass(frozen=True, slots=True)
class LeaseRow:
    """The holder of a job, and when the lease expires unless it is renewed."""

    name: str
    holder: str
    expires_at: datetime


def find_progress(
    reader: Connection, is_configured: Callable[[int], bool]
) -> tuple[Sequence[int], Sequence[ChainProgress]]:
    """Return the chains that must be watched (payment methods use them and an endpoint is
    configured), and the progress of those that have been read before.
    """
    chains = [chain for chain in receivers.find_chains(reader) if is_configured(chain)]
    query = select(*columns_of(ChainProgress, ChainHead)).where(ChainHead.chain_id.in_(chains))
    rows = reader.execute(query.order_by(ChainHead.chain_id))
    return chains, read_rows(ChainProgress, rows)


def find_waiting(reader: Connection, chain_id: int) -> Waiting:
    """Return how many invoices have blocks that are read for them alone (partial indexes)."""
    its = Invoice.chain_id == chain_id
    new = select(func.count(), func.min(Invoice.created_at))
    newcomers, oldest = reader.execute(new.where(its, Invoice.catch_up_block.is_not(None))).one()
    again = select(func.count()).where(its, Invoice.reread_block.is_not(None))
    return Waiting(newcomers, oldest, reader.scalar(again) or 0)


def find_leases(reader: Connection) -> Sequence[LeaseRow]:
    """Return all leases, including expired ones."""
    return read_rows(
        LeaseRow, reader.execute(select(*columns_of(LeaseRow, Lease)).order_by(Lease.name))
    )
