"""How far each chain has been read. Every write is a compare-and-swap on the checkpoint's revision.

`chain_block` remembers earlier checkpoints, so that a reorganisation can be walked back to a block
both sides share. Block 0 is remembered for ever: it tells another chain from a reorganised one.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.orm import Session

from models.payment.tables import ChainBlock, ChainHead
from models.reader import upsert

REMEMBERED_BLOCKS = 1000
"""Checkpoints older than this many blocks are forgotten (but never block 0)."""


@dataclass(frozen=True, slots=True)
class BlockMark:
    """One block of a chain, as our books name it."""

    number: int
    hash: str
    timestamp: datetime


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Everything up to and including `block` has been read, as of this revision of the books."""

    chain_id: int
    block: BlockMark
    head_number: int
    revision: int


class CheckpointMoved(Exception):
    """Another watcher wrote since this checkpoint was read: what was prepared from it is void."""


def find_checkpoint(reader: Connection | Session, chain_id: int) -> Checkpoint | None:
    """The newest checkpoint, or None while no watcher has begun with this chain."""
    row = reader.execute(
        select(
            ChainHead.checkpoint_number,
            ChainHead.checkpoint_hash,
            ChainHead.checkpoint_timestamp,
            ChainHead.head_number,
            ChainHead.revision,
        ).where(ChainHead.chain_id == chain_id)
    ).first()
    if row is None:
        return None
    return Checkpoint(chain_id, BlockMark(row[0], row[1], row[2]), row[3], row[4])


def find_known_blocks(reader: Connection, chain_id: int, *, up_to: int) -> list[BlockMark]:
    """The remembered checkpoints numbered at most `up_to`, oldest first."""
    rows = reader.execute(
        select(ChainBlock.number, ChainBlock.hash, ChainBlock.timestamp)
        .where(ChainBlock.chain_id == chain_id, ChainBlock.number <= up_to)
        .order_by(ChainBlock.number)
    )
    return [BlockMark(*row) for row in rows]


def begin(
    session: Session,
    chain_id: int,
    *,
    genesis: BlockMark,
    block: BlockMark,
    head_number: int,
    now: datetime,
) -> None:
    """Write the first checkpoint of a chain. Raises CheckpointMoved when another watcher has."""
    made = session.execute(
        upsert(session, ChainHead)
        .values(
            chain_id=chain_id,
            checkpoint_number=block.number,
            checkpoint_hash=block.hash,
            checkpoint_timestamp=block.timestamp,
            head_number=head_number,
            revision=0,
            updated_at=now,
        )
        .on_conflict_do_nothing()
        .returning(ChainHead.chain_id)
    )
    if made.first() is None:
        raise CheckpointMoved
    _remember(session, chain_id, genesis)
    _remember(session, chain_id, block)


def move(
    session: Session,
    old: Checkpoint,
    *,
    to: BlockMark,
    head_number: int,
    now: datetime,
    forget_above: int | None = None,
) -> None:
    """Swap checkpoint `old` for block `to`, forgetting those that a reorganisation dropped.

    First statement of a watcher's transaction: it locks the row, so that of two watchers the
    second waits here, finds another revision, and gets CheckpointMoved before it wrote anything.
    """
    moved = session.execute(
        update(ChainHead)
        .where(ChainHead.chain_id == old.chain_id, ChainHead.revision == old.revision)
        .values(
            checkpoint_number=to.number,
            checkpoint_hash=to.hash,
            checkpoint_timestamp=to.timestamp,
            head_number=head_number,
            revision=old.revision + 1,
            updated_at=now,
        )
        .returning(ChainHead.chain_id)
    )
    if moved.first() is None:
        raise CheckpointMoved
    if forget_above is not None:
        session.execute(
            delete(ChainBlock).where(
                ChainBlock.chain_id == old.chain_id, ChainBlock.number > forget_above
            )
        )
    if to != old.block:
        _remember(session, old.chain_id, to)


def restart(
    session: Session,
    old: Checkpoint,
    *,
    genesis: BlockMark,
    block: BlockMark,
    head_number: int,
    now: datetime,
) -> None:
    """Forget everything known of a chain and begin again at `block`. Raises CheckpointMoved."""
    move(session, old, to=block, head_number=head_number, now=now, forget_above=-1)
    _remember(session, old.chain_id, genesis)
    _remember(session, old.chain_id, block)


def try_forget_one(session: Session, *, limit: int) -> bool:
    """Delete up to `limit` checkpoints that are too old to walk back to; True when any was."""
    too_old = (
        select(ChainBlock.chain_id, ChainBlock.number)
        .join(ChainHead, ChainHead.chain_id == ChainBlock.chain_id)
        .where(
            ChainBlock.number > 0,
            ChainBlock.number < ChainHead.checkpoint_number - REMEMBERED_BLOCKS,
        )
        .limit(limit)
    )
    rows = session.execute(too_old).all()
    for chain_id in sorted({row.chain_id for row in rows}):
        numbers = [row.number for row in rows if row.chain_id == chain_id]
        session.execute(
            delete(ChainBlock).where(
                ChainBlock.chain_id == chain_id, ChainBlock.number.in_(numbers)
            )
        )
    return bool(rows)


def _remember(session: Session, chain_id: int, block: BlockMark) -> None:
    row = upsert(session, ChainBlock).values(
        chain_id=chain_id, number=block.number, hash=block.hash, timestamp=block.timestamp
    )
    session.execute(
        row.on_conflict_do_update(
            index_elements=[ChainBlock.chain_id, ChainBlock.number],
            set_={"hash": row.excluded.hash, "timestamp": row.excluded.timestamp},
        )
    )
