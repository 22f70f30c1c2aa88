"""How far each chain has been read. Writes compare and swap the checkpoint's revision.

`chain_block` stores earlier checkpoints, so that the watcher can walk back from a reorganization to
a common block. Block 0 is kept permanently, because it identifies the chain.
"""

from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import Connection, and_, bindparam, delete, select, tuple_, update
from sqlalchemy.orm import Session, aliased

from models.payment.tables import ChainBlock, ChainHead
from models.rows import columns_of, read_rows, row_of
from specd.db import upsert

REMEMBERED_BLOCKS = 1000
"""Checkpoints older than this many blocks are deleted (but never block 0)."""


@dataclass(frozen=True, slots=True)
class BlockMark:
    """One block of a chain, as stored."""

    number: int
    hash: str
    timestamp: datetime


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Everything up to and including `block` has been read, as of `revision`.

    Blocks up to `reread_number` were read twice. Everything up to the chain's time `read_until` has
    been read. `head_seen_at` is when an endpoint last returned the head, and `genesis_hash` is the
    hash of block 0; both are None if unknown.
    """

    chain_id: int
    block: BlockMark
    head_number: int
    revision: int
    read_until: datetime
    reread_number: int
    head_seen_at: datetime | None
    genesis_hash: str | None


_genesis = aliased(ChainBlock)
_CHECKPOINT = (
    select(
        ChainHead.checkpoint_number,
        ChainHead.checkpoint_hash,
        ChainHead.checkpoint_timestamp,
        *columns_of(Checkpoint, ChainHead),
        _genesis.hash.label("genesis_hash"),
    )
    .outerjoin(_genesis, and_(_genesis.chain_id == ChainHead.chain_id, _genesis.number == 0))
    .where(ChainHead.chain_id == bindparam("its_chain"))
)


class CheckpointMoved(Exception):
    """Another watcher has written since this checkpoint was read; writes based on it are void."""


def find_checkpoint(reader: Connection | Session, chain_id: int) -> Checkpoint | None:
    """Return the newest checkpoint, or None if no watcher has started with this chain."""
    row = reader.execute(_CHECKPOINT, {"its_chain": chain_id}).first()
    if row is None:
        return None
    block = BlockMark(row.checkpoint_number, row.checkpoint_hash, row.checkpoint_timestamp)
    return row_of(Checkpoint, row, block=block)


def find_checkpoint_blocks(reader: Connection, chain_id: int, *, up_to: int) -> list[BlockMark]:
    """Return the stored checkpoints numbered at most `up_to`, oldest first."""
    rows = reader.execute(
        select(ChainBlock.number, ChainBlock.hash, ChainBlock.timestamp)
        .where(ChainBlock.chain_id == chain_id, ChainBlock.number <= up_to)
        .order_by(ChainBlock.number)
    )
    return read_rows(BlockMark, rows)


def begin(
    session: Session,
    chain_id: int,
    *,
    genesis: BlockMark | None,
    block: BlockMark,
    head: BlockMark,
    now: datetime,
) -> None:
    """Write the first checkpoint of a chain. Raise `CheckpointMoved` if another watcher has."""
    inserted = session.execute(
        upsert(ChainHead)
        .values(
            chain_id=chain_id,
            checkpoint_number=block.number,
            checkpoint_hash=block.hash,
            checkpoint_timestamp=block.timestamp,
            head_number=head.number,
            head_hash=head.hash,
            head_seen_at=now,
            read_until=block.timestamp,
            reread_number=block.number,
            # A running watcher cannot have read this number, even for a forgotten chain.
            revision=int(now.timestamp() * 1000),
            updated_at=now,
        )
        .on_conflict_do_nothing()
        .returning(ChainHead.chain_id)
    )
    if inserted.first() is None:
        raise CheckpointMoved
    _remember(session, chain_id, genesis, block)


def move(
    session: Session,
    old: Checkpoint,
    *,
    to: BlockMark,
    head: BlockMark | None,
    now: datetime,
    forget_above: int | None = None,
    reread_number: int | None = None,
) -> None:
    """Replace checkpoint `old` by block `to`, and delete the checkpoints above `forget_above`,
    which a reorganization dropped.

    If `head` is None, the stored head is kept, because no newer head is verified to be on the
    chain.

    This is the first statement of a watcher's transaction. It locks the row, so that the second of
    two watchers waits here, finds another revision, and gets CheckpointMoved before it has written
    anything.
    """
    if reread_number is None:
        reread_number = old.reread_number
    if forget_above is not None:
        reread_number = min(reread_number, forget_above)
    seen = {}
    if head is not None:
        seen = {"head_number": head.number, "head_hash": head.hash, "head_seen_at": now}
    moved = session.execute(
        update(ChainHead)
        .where(ChainHead.chain_id == old.chain_id, ChainHead.revision == old.revision)
        .values(
            **seen,
            checkpoint_number=to.number,
            checkpoint_hash=to.hash,
            checkpoint_timestamp=to.timestamp,
            read_until=max(old.read_until, to.timestamp) if to == old.block else to.timestamp,
            reread_number=reread_number,
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


def count_given_up(session: Session, old: Checkpoint, count: int) -> None:
    """Count reads that ended without the logs of all their blocks."""
    if count:
        session.execute(
            update(ChainHead)
            .where(ChainHead.chain_id == old.chain_id)
            .values(readings_given_up=ChainHead.readings_given_up + count)
        )


def note_seen(session: Session, old: Checkpoint, *, read_until: datetime, now: datetime) -> None:
    """Record that an endpoint returns the checkpoint as the head now, and the chain's time.

    The revision is unchanged, because nothing was read. A newer checkpoint of another watcher is
    unchanged too.
    """
    session.execute(
        update(ChainHead)
        .where(ChainHead.chain_id == old.chain_id, ChainHead.revision == old.revision)
        .values(
            head_number=old.block.number,
            head_hash=old.block.hash,
            head_seen_at=now,
            read_until=read_until,
        )
    )


def restart(
    session: Session,
    old: Checkpoint,
    *,
    genesis: BlockMark | None,
    block: BlockMark,
    head: BlockMark,
    now: datetime,
) -> None:
    """Delete all blocks of a chain and begin again at `block`. Raise `CheckpointMoved`."""
    move(session, old, to=block, head=head, now=now, forget_above=-1, reread_number=block.number)
    _remember(session, old.chain_id, genesis, block)


def forget_chain(session: Session, chain_id: int) -> bool:
    """Delete the checkpoints of a chain; return whether there were any."""
    session.execute(delete(ChainBlock).where(ChainBlock.chain_id == chain_id))
    deleted = session.execute(
        delete(ChainHead).where(ChainHead.chain_id == chain_id).returning(ChainHead.chain_id)
    )
    return deleted.first() is not None


def try_forget_some(session: Session, limit: int) -> bool:
    """Delete up to `limit` checkpoints too old for a walk back. Return whether there were any."""
    too_old = (
        select(ChainBlock.chain_id, ChainBlock.number)
        .join(ChainHead, ChainHead.chain_id == ChainBlock.chain_id)
        .where(
            ChainBlock.number > 0,
            ChainBlock.number < ChainHead.checkpoint_number - REMEMBERED_BLOCKS,
        )
        .limit(limit)
    )
    deleted = session.execute(
        delete(ChainBlock)
        .where(tuple_(ChainBlock.chain_id, ChainBlock.number).in_(too_old))
        .returning(ChainBlock.number)
        .execution_options(synchronize_session=False)
    )
    return bool(deleted.all())


def _remember(session: Session, chain_id: int, *blocks: BlockMark | None) -> None:
    for block in filter(None, blocks):
        row = upsert(ChainBlock).values(chain_id=chain_id, **asdict(block))
        session.execute(
            row.on_conflict_do_update(
                index_elements=[ChainBlock.chain_id, ChainBlock.number],
                set_={"hash": row.excluded.hash, "timestamp": row.excluded.timestamp},
            )
        )
