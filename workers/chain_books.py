"""One chain's books: what the watcher reads of them, and each transaction that it writes.

Every transaction swaps the checkpoint's revision first: it raises `CheckpointMoved`, and writes
nothing, where another watcher was quicker.
"""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from adapters.chain.reader import Block
from models.clock import Clock
from models.database import Database
from models.payment import checkpoints, receivers, watching
from models.payment.checkpoints import BlockMark, Checkpoint
from models.payment.receivers import Newcomer, Receiver
from models.payment.watching import Observation
from workers.chain_view import mark

NEWCOMERS_AT_ONCE = 200


class ChainBooks:
    """The database's side of one chain, as `ChainView` is the chain's own."""

    def __init__(self, database: Database, clock: Clock, chain_id: int) -> None:
        self._database = database
        self._clock = clock
        self._chain_id = chain_id

    # Reading.

    def look(self) -> tuple[Checkpoint | None, list[Newcomer]]:
        """The checkpoint, None before the first step, and the newcomers whose turn it is."""
        with self._database.reading() as books:
            # The checkpoint first: its revision vouches for everything read after it.
            checkpoint = checkpoints.find_checkpoint(books, self._chain_id)
            return checkpoint, receivers.find_newcomers(
                books, self._chain_id, limit=NEWCOMERS_AT_ONCE
            )

    def known_blocks(self, *, up_to: int) -> list[BlockMark]:
        """The remembered blocks up to a number, in the order that `checkpoints` gives them."""
        with self._database.reading() as books:
            return checkpoints.find_known_blocks(books, self._chain_id, up_to=up_to)

    def open_receivers(self, *, since: datetime, limit: int | None) -> list[Receiver]:
        """Up to `limit` (None: all) of the joined invoices that were monitored at `since`."""
        with self._database.reading() as books:
            return receivers.find_receivers(books, self._chain_id, since=since, limit=limit)

    def tokens(self) -> list[str]:
        """The tokens that invoices of this chain can ask for."""
        with self._database.reading() as books:
            return receivers.find_tokens(books, self._chain_id)

    def owners(self, addresses: Collection[str], *, since: datetime) -> list[Receiver]:
        """Those of the joined invoices monitored at `since` that own one of the addresses."""
        with self._database.reading() as books:
            return receivers.match_receivers(
                books, self._chain_id, since=since, addresses=addresses
            )

    # Writing, a transaction each.

    def begin(self, *, genesis: Block, start: Block, head: Block) -> None:
        """Write the first checkpoint."""
        now = self._clock.now()
        self._database.run(
            lambda session: checkpoints.begin(
                session,
                self._chain_id,
                genesis=mark(genesis),
                block=mark(start),
                head_number=head.number,
                now=now,
            )
        )

    def begin_again(
        self, checkpoint: Checkpoint, *, genesis: Block, start: Block, head: Block
    ) -> None:
        """Drop what all open invoices got, and send each back to its start on the chain."""
        since = checkpoint.block.timestamp
        now = self._clock.now()

        def write(session: Session) -> None:
            checkpoints.restart(
                session,
                checkpoint,
                genesis=mark(genesis),
                block=mark(start),
                head_number=head.number,
                now=now,
            )
            watching.orphan(session, self._chain_id, above=-1, since=since)
            receivers.send_back_to_start(session, self._chain_id, since=since)

        self._database.run(write)

    def extend(
        self,
        checkpoint: Checkpoint,
        base: BlockMark,
        tip: Block,
        seen: Sequence[Observation],
        *,
        head: Block,
        reorganised: bool,
    ) -> int:
        """Write what was seen from `base` to `tip`, the new checkpoint; how many invoices settled.

        After a reorganisation this also drops what the blocks above `base` had brought, in the same
        transaction: a payment that is mined again at once never looks lost in between.
        """
        now = self._clock.now()

        def write(session: Session) -> int:
            checkpoints.move(
                session,
                checkpoint,
                to=mark(tip),
                head_number=head.number,
                now=now,
                forget_above=base.number if reorganised else None,
            )
            touched: set[str] = set()
            if reorganised:
                receivers.lower_newcomers(session, self._chain_id, to=base.number + 1)
                touched |= watching.orphan(
                    session, self._chain_id, above=base.number, keep={each.key for each in seen}
                )
            touched |= watching.record(session, self._chain_id, seen, now=now)
            touched |= watching.find_maturing(session, self._chain_id, head_number=head.number)
            return watching.settle_touched(
                session,
                touched,
                head_number=head.number,
                checkpoint_time=tip.timestamp,
                now=now,
            )

        return self._database.run(write)

    def catch_up(
        self,
        checkpoint: Checkpoint,
        invoice_ids: Sequence[str],
        seen: Sequence[Observation],
        *,
        head: Block,
        next_block: int | None,
    ) -> None:
        """Write what newcomers got up to before `next_block`; None: they join the others."""
        base = checkpoint.block
        now = self._clock.now()

        def write(session: Session) -> None:
            checkpoints.move(session, checkpoint, to=base, head_number=head.number, now=now)
            watching.record(session, self._chain_id, seen, now=now)
            receivers.note_caught_up(session, invoice_ids, next_block=next_block)
            if next_block is None:
                paid = watching.find_with_payments(session, invoice_ids)
                watching.settle_touched(
                    session,
                    paid,
                    head_number=head.number,
                    checkpoint_time=base.timestamp,
                    now=now,
                )

        self._database.run(write)
