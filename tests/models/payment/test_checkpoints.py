"""The checkpoint: swapped by revision, kept for walks back, deleted when too old."""

from collections.abc import Callable
from datetime import datetime

import pytest
from sqlalchemy.orm import Session

from models.payment import checkpoints
from models.payment.checkpoints import REMEMBERED_BLOCKS, BlockMark, Checkpoint, CheckpointMoved
from specd.db import Database
from tests.support.payment.factories import CHAIN_ID, make_hash


@pytest.fixture
def block(now: datetime) -> Callable[[int], BlockMark]:
    return lambda number: BlockMark(number, make_hash("block", number), now)


def begin(database: Database, now: datetime, block: Callable[[int], BlockMark]) -> None:
    database.run(
        lambda session: checkpoints.begin(
            session, CHAIN_ID, genesis=block(0), block=block(5), head=block(5), now=now
        )
    )


def current(database: Database) -> Checkpoint:
    with database.reading() as reader:
        found = checkpoints.find_checkpoint(reader, CHAIN_ID)
    assert found is not None
    return found


def known(database: Database) -> list[int]:
    with database.reading() as reader:
        found = checkpoints.find_checkpoint_blocks(reader, CHAIN_ID, up_to=10**9)
    return [each.number for each in found]


def move(
    database: Database, old: Checkpoint, to: BlockMark, *, forget_above: int | None = None
) -> None:
    def work(session: Session) -> None:
        checkpoints.move(
            session,
            old,
            to=to,
            head=to,
            now=to.timestamp,
            forget_above=forget_above,
        )

    database.run(work)


def test_only_one_watcher_begins(
    database: Database, now: datetime, block: Callable[[int], BlockMark]
) -> None:
    begin(database, now, block)
    with pytest.raises(CheckpointMoved):
        begin(database, now, block)
    assert known(database) == [0, 5]


def test_move_from_an_older_revision_changes_nothing(
    database: Database, now: datetime, block: Callable[[int], BlockMark]
) -> None:
    begin(database, now, block)
    old = current(database)
    move(database, old, block(6))
    with pytest.raises(CheckpointMoved):
        move(database, old, block(9))
    assert current(database).block == block(6)
    assert known(database) == [0, 5, 6]


def test_staying_on_the_block_creates_a_new_revision(
    database: Database, now: datetime, block: Callable[[int], BlockMark]
) -> None:
    begin(database, now, block)
    old = current(database)
    move(database, old, old.block)
    assert current(database).revision == old.revision + 1


def test_walk_back_deletes_the_dropped_blocks(
    database: Database, now: datetime, block: Callable[[int], BlockMark]
) -> None:
    begin(database, now, block)
    for number in (6, 7, 8):
        move(database, current(database), block(number))
    move(database, current(database), block(9), forget_above=6)
    assert known(database) == [0, 5, 6, 9]


def test_old_blocks_are_deleted_except_block_zero(
    database: Database, now: datetime, block: Callable[[int], BlockMark]
) -> None:
    begin(database, now, block)
    move(database, current(database), block(REMEMBERED_BLOCKS + 6))
    assert database.run(lambda session: checkpoints.try_forget_some(session, 10))
    assert not database.run(lambda session: checkpoints.try_forget_some(session, 10))
    assert known(database) == [0, REMEMBERED_BLOCKS + 6]
