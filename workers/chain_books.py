"""The database access of a chain's watcher: its queries and its transactions.

Every transaction swaps the checkpoint's revision first. If another watcher was faster, it raises
`CheckpointMoved` and writes nothing.

Only before `extend` has the watcher checked that the head is on the chain. Before the other
transactions it has checked the checkpoint, so they confirm payments by the checkpoint's number and
do not store a head above it. So an unverified head never confirms a payment, neither now nor when
an invoice expires, and merchants never see it.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from models.payment import checkpoints, receivers, rescans, watching
from models.payment.checkpoints import BlockMark, Checkpoint
from models.payment.receivers import Newcomer, Receiver
from models.payment.watching import Observation, PaidAbove, StoredLog
from specd.db import Clock, Database

NEWCOMERS_AT_ONCE = 200


class ChainBooks:
    """The database's side of a chain's watcher. `ChainView` is the chain's side."""

    def __init__(self, database: Database, clock: Clock, chain_id: int) -> None:
        self._database = database
        self._clock = clock
        self._chain_id = chain_id

    # Reading.

    def look(self) -> tuple[Checkpoint | None, list[Newcomer]]:
        """Return the checkpoint, or None before the first step, and the next newcomers."""
        with self._database.reading() as reader:
            # The checkpoint is read first: its revision protects everything that is read later.
            checkpoint = checkpoints.find_checkpoint(reader, self._chain_id)
            return checkpoint, receivers.find_newcomers(
                reader, self._chain_id, limit=NEWCOMERS_AT_ONCE
            )

    def is_awaited(self) -> bool:
        """Return whether new blocks of this chain are awaited (see `receivers.is_awaited`)."""
        with self._database.reading() as reader:
            return receivers.is_awaited(reader, self._chain_id)

    def known_blocks(self, *, up_to: int) -> list[BlockMark]:
        """Return the stored blocks up to a number, oldest first."""
        with self._database.reading() as reader:
            return checkpoints.find_checkpoint_blocks(reader, self._chain_id, up_to=up_to)

    def open_receivers(self, *, since: datetime, limit: int | None) -> list[Receiver]:
        """Return up to `limit` joined invoices that were monitored at `since`, or all of them if
        `limit` is None.
        """
        with self._database.reading() as reader:
            return receivers.find_receivers(reader, self._chain_id, since=since, limit=limit)

    def tokens(self, *, since: datetime) -> list[str]:
        """Return the tokens of the joined invoices that were monitored at `since`."""
        with self._database.reading() as reader:
            return receivers.find_tokens(reader, self._chain_id, since=since)

    def owners(self, addresses: Collection[str], *, since: datetime) -> list[Receiver]:
        """Return the joined invoices with one of the addresses that were monitored at `since`."""
        with self._database.reading() as reader:
            return receivers.match_receivers(
                reader, self._chain_id, since=since, addresses=addresses
            )

    def paid_above(self, number: int) -> list[PaidAbove]:
        """Return the counted payments in blocks above a number."""
        with self._database.reading() as reader:
            return watching.find_paid_above(reader, self._chain_id, number)

    def has_pending(self) -> bool:
        """Return whether a payment on the chain waits for confirmations."""
        with self._database.reading() as reader:
            return watching.has_pending(reader, self._chain_id)

    def stored(self, seen: Sequence[Observation]) -> list[StoredLog]:
        """Return the stored logs in the blocks of the transfers."""
        if not seen:
            return []
        with self._database.reading() as reader:
            return watching.find_stored(reader, self._chain_id, seen)

    # Writing. Each method is a transaction.

    def begin(self, *, genesis: BlockMark | None, start: BlockMark, head: BlockMark) -> None:
        """Write the first checkpoint."""
        now = self._clock.now()
        self._database.run(
            lambda session: checkpoints.begin(
                session, self._chain_id, genesis=genesis, block=start, head=head, now=now
            )
        )

    def begin_again(
        self,
        checkpoint: Checkpoint,
        *,
        genesis: BlockMark | None,
        start: BlockMark,
        head: BlockMark,
    ) -> None:
        """Replace the checkpoint with one of a new chain. Drop the payments of all open invoices
        and reset each to its first block.
        """
        since = checkpoint.block.timestamp
        now = self._clock.now()

        def write(session: Session) -> None:
            checkpoints.restart(
                session, checkpoint, genesis=genesis, block=start, head=head, now=now
            )
            watching.orphan(session, self._chain_id, above=-1, since=since)
            receivers.send_back_to_start(session, self._chain_id, since=since)

        self._database.run(write)

    def note_seen(self, checkpoint: Checkpoint, *, read_until: datetime) -> None:
        """Record that the checkpoint is still the head, and the chain's current time."""
        now = self._clock.now()
        self._database.run(
            lambda session: checkpoints.note_seen(
                session, checkpoint, read_until=read_until, now=now
            )
        )

    def extend(
        self,
        checkpoint: Checkpoint,
        base: BlockMark,
        tip: BlockMark,
        seen: Sequence[Observation],
        *,
        head: BlockMark,
        dropped: Collection[str],
        reorganised: bool,
        is_deep: bool,
        waiting: Mapping[str, int],
        given_up: bool = False,
    ) -> int:
        """Write the transfers from `base` to `tip`, which becomes the checkpoint. Return the number
        of settled invoices.

        The same transaction drops the payments of the blocks with the hashes `dropped`, so that a
        payment that is mined again never appears to be lost in between. `is_deep`: whether the
        blocks are so old that they need no second reading. `waiting`: the invoices with transfers
        that no other endpoint has confirmed yet, with the block from which to read them again.
        `given_up`: whether the blocks are skipped because no endpoint returns their logs.
        """
        now = self._clock.now()
        read_twice = is_deep and checkpoint.reread_number >= base.number

        def write(session: Session) -> int:
            checkpoints.move(
                session,
                checkpoint,
                to=tip,
                head=head,
                now=now,
                forget_above=base.number if reorganised else None,
                reread_number=tip.number if read_twice else None,
            )
            checkpoints.count_given_up(session, checkpoint, int(given_up))
            touched: set[str] = set()
            if reorganised:
                receivers.go_back(session, self._chain_id, to=base, since=base.timestamp)
            receivers.send_back(session, waiting)
            if dropped:
                touched |= watching.orphan(
                    session,
                    self._chain_id,
                    above=base.number,
                    keep={each.key for each in seen},
                    blocks=dropped,
                )
            touched |= watching.record(session, self._chain_id, seen, now=now)
            touched |= watching.find_maturing(session, self._chain_id, head_number=head.number)
            return watching.settle_touched(
                session, touched, head_number=head.number, checkpoint_time=tip.timestamp, now=now
            )

        return self._database.run(write)

    def catch_up(
        self,
        checkpoint: Checkpoint,
        invoice_ids: Sequence[str],
        seen: Sequence[Observation],
        *,
        head: BlockMark,
        next_block: int | None,
        waiting: Mapping[str, int],
    ) -> None:
        """Write the transfers to newcomers before `next_block`. If it is None, the newcomers join
        the other invoices. `waiting` is as in `extend`.
        """
        now = self._clock.now()

        def write(session: Session) -> None:
            self._stay(session, checkpoint, head=head, now=now)
            watching.record(session, self._chain_id, seen, now=now)
            receivers.note_caught_up(session, invoice_ids, next_block=next_block)
            receivers.send_back(session, waiting)
            if next_block is None:
                paid = watching.find_with_payments(session, invoice_ids)
                watching.settle_touched(
                    session,
                    paid,
                    head_number=checkpoint.block.number,
                    checkpoint_time=checkpoint.read_until,
                    now=now,
                )

        self._database.run(write)

    def put_off(
        self, checkpoint: Checkpoint, newcomers: Sequence[Newcomer], *, head: BlockMark
    ) -> None:
        """Join newcomers to the other invoices now and schedule a later reading of their blocks."""
        now = self._clock.now()

        def write(session: Session) -> None:
            self._stay(session, checkpoint, head=head, now=now)
            receivers.put_off(session, [each.receiver.invoice_id for each in newcomers])

        self._database.run(write)

    def read_again(
        self,
        checkpoint: Checkpoint,
        invoice_ids: Sequence[str],
        seen: Sequence[Observation],
        *,
        head: BlockMark,
        first: int,
        next_block: int | None,
        given_up: int = 0,
    ) -> int:
        """Write the transfers that were found when blocks of invoices were read again, from `first`
        to before `next_block`, or to the end if it is None. Return the number of invoices with new
        payments.

        `given_up`: the number of invoices with blocks whose logs no endpoint returns.
        """
        now = self._clock.now()

        def write(session: Session) -> int:
            self._stay(session, checkpoint, head=head, now=now)
            found = watching.record(session, self._chain_id, seen, now=now)
            receivers.note_reread(session, invoice_ids, first=first, next_block=next_block)
            checkpoints.count_given_up(session, checkpoint, given_up)
            touched = found
            if next_block is None:  # invoices with payments may expire now
                touched = found | watching.find_with_payments(session, invoice_ids)
            watching.settle_touched(
                session,
                touched,
                head_number=checkpoint.block.number,
                checkpoint_time=checkpoint.read_until,
                now=now,
            )
            return len(found)

        return self._database.run(write)

    def reread(
        self,
        checkpoint: Checkpoint,
        seen: Sequence[Observation],
        *,
        head: BlockMark,
        reread_number: int,
        waiting: Mapping[str, int],
        given_up: bool = False,
    ) -> int:
        """Write the transfers of a second reading up to `reread_number`. Return the number of
        changed invoices. `waiting` and `given_up` are as in `extend`.
        """
        now = self._clock.now()

        def write(session: Session) -> int:
            self._stay(session, checkpoint, head=head, now=now, reread_number=reread_number)
            checkpoints.count_given_up(session, checkpoint, int(given_up))
            receivers.send_back(session, waiting)
            touched = watching.record(session, self._chain_id, seen, now=now)
            return watching.settle_touched(
                session,
                touched,
                head_number=checkpoint.block.number,
                checkpoint_time=checkpoint.read_until,
                now=now,
            )

        return self._database.run(write)

    def _stay(
        self,
        session: Session,
        checkpoint: Checkpoint,
        *,
        head: BlockMark,
        now: datetime,
        reread_number: int | None = None,
    ) -> None:
        """Swap the checkpoint's revision. A head above it is not verified, so it is not stored."""
        checkpoints.move(
            session,
            checkpoint,
            to=checkpoint.block,
            head=checkpoint.block if head.number <= checkpoint.block.number else None,
            now=now,
            reread_number=reread_number,
        )

    def rescan_token(
        self, checkpoint: Checkpoint, token: str, *, above: BlockMark, head: BlockMark
    ) -> None:
        """Schedule a rescan above a block for the invoices of a token that were monitored then."""
        now = self._clock.now()

        def write(session: Session) -> None:
            self._stay(session, checkpoint, head=head, now=now)
            rescans.rescan_chain(
                session,
                self._chain_id,
                from_block=above.number + 1,
                since=above.timestamp,
                token=token,
            )

        self._database.run(write)

    def anchor(
        self, checkpoint: Checkpoint, anchors: Mapping[str, int], *, head: BlockMark
    ) -> None:
        """Write the last block before each newcomer's address was assigned."""
        now = self._clock.now()

        def write(session: Session) -> None:
            self._stay(session, checkpoint, head=head, now=now)
            receivers.anchor(session, anchors)

        self._database.run(write)

    def read_anew(self, checkpoint: Checkpoint, *, ended_at: datetime | None) -> int:
        """Schedule a second reading of invoices whose time is over. Return their number."""
        expired_at = min(checkpoint.read_until, self._clock.now())
        return self._database.run(
            lambda session: receivers.read_anew(
                session, self._chain_id, expired_at=expired_at, ended_at=ended_at
            )
        )
