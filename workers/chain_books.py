"""The database of one chain's watcher: what it reads, and each transaction that it writes.

Every transaction swaps the checkpoint's revision first: it raises `CheckpointMoved`, and writes
nothing, where another watcher was first.

Only `extend` has checked that the head is on the chain. The other readings have checked the
checkpoint, so they confirm payments by its number, and store no head above it: a head that an
endpoint only claims confirms nothing, now or when an invoice expires, and no merchant reads it.
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
    """The database's side of one chain, as `ChainView` is the chain's own."""

    def __init__(self, database: Database, clock: Clock, chain_id: int) -> None:
        self._database = database
        self._clock = clock
        self._chain_id = chain_id

    # Reading.

    def look(self) -> tuple[Checkpoint | None, list[Newcomer]]:
        """Return the checkpoint, None before the first step, and the next newcomers."""
        with self._database.reading() as reader:
            # The checkpoint first: its revision protects everything that is read after it.
            checkpoint = checkpoints.find_checkpoint(reader, self._chain_id)
            return checkpoint, receivers.find_newcomers(
                reader, self._chain_id, limit=NEWCOMERS_AT_ONCE
            )

    def is_awaited(self) -> bool:
        """Return whether blocks of this chain matter now (see `receivers.is_awaited`)."""
        with self._database.reading() as reader:
            return receivers.is_awaited(reader, self._chain_id)

    def known_blocks(self, *, up_to: int) -> list[BlockMark]:
        """Return the remembered blocks up to a number, oldest first."""
        with self._database.reading() as reader:
            return checkpoints.find_checkpoint_blocks(reader, self._chain_id, up_to=up_to)

    def open_receivers(self, *, since: datetime, limit: int | None) -> list[Receiver]:
        """Return up to `limit` (None: all) of the joined invoices monitored at `since`."""
        with self._database.reading() as reader:
            return receivers.find_receivers(reader, self._chain_id, since=since, limit=limit)

    def tokens(self, *, since: datetime) -> list[str]:
        """Return the tokens of the joined invoices that were monitored at `since`."""
        with self._database.reading() as reader:
            return receivers.find_tokens(reader, self._chain_id, since=since)

    def owners(self, addresses: Collection[str], *, since: datetime) -> list[Receiver]:
        """Return the joined invoices monitored at `since` that own one of the addresses."""
        with self._database.reading() as reader:
            return receivers.match_receivers(
                reader, self._chain_id, since=since, addresses=addresses
            )

    def paid_above(self, number: int) -> list[PaidAbove]:
        """Return the payments that count and are in blocks above a number."""
        with self._database.reading() as reader:
            return watching.find_paid_above(reader, self._chain_id, number)

    def has_pending(self) -> bool:
        """Return whether a payment of the chain waits for confirmations."""
        with self._database.reading() as reader:
            return watching.has_pending(reader, self._chain_id)

    def stored(self, seen: Sequence[Observation]) -> list[StoredLog]:
        """Return the stored logs of the blocks of the transfers."""
        if not seen:
            return []
        with self._database.reading() as reader:
            return watching.find_stored(reader, self._chain_id, seen)

    # Writing, a transaction each.

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
        """Drop the payments of all open invoices, and send each back to its start on the chain."""
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
        """Note that the checkpoint is still the head, and how far the chain's time has come."""
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
        """Write the transfers from `base` to `tip`, the new checkpoint; return how many invoices
        were settled.

        This also drops the payments of the blocks with the hashes `dropped`, in the same
        transaction, so that a payment that is mined again never looks lost in between.
        `is_deep`: the blocks are old enough that one reading is as good as a second one.
        `waiting`: the invoices with transfers that no other endpoint shows yet, and the blocks from
        which they are read again. `given_up`: no endpoint shows the blocks' logs.
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
        """Write the transfers to newcomers before `next_block`; None: they join the others.

        `waiting` as in `extend`.
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
        """Let newcomers join the others now, and have their blocks read again later."""
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
        """Write what was found when the blocks of invoices were read again, from `first` to before
        `next_block`; None: to the end. Return for how many invoices a payment was found.

        `given_up`: how many of them have blocks that no endpoint shows any more.
        """
        now = self._clock.now()

        def write(session: Session) -> int:
            self._stay(session, checkpoint, head=head, now=now)
            found = watching.record(session, self._chain_id, seen, now=now)
            receivers.note_reread(session, invoice_ids, first=first, next_block=next_block)
            checkpoints.count_given_up(session, checkpoint, given_up)
            touched = found
            if next_block is None:  # those with payments may expire now
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
        """Write the transfers of a second reading up to `reread_number`; return how many invoices
        it changed. `waiting` as in `extend`. `given_up`: no endpoint shows these blocks' logs.
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
        """Swap the checkpoint's revision. A head above it is only claimed, and is not stored."""
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
        """Have the invoices of a token that were monitored at a block read again above it."""
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
        """Write the last block before each newcomer's address was handed out."""
        now = self._clock.now()

        def write(session: Session) -> None:
            self._stay(session, checkpoint, head=head, now=now)
            receivers.anchor(session, anchors)

        self._database.run(write)

    def read_anew(self, checkpoint: Checkpoint, *, ended_at: datetime | None) -> int:
        """Have invoices whose time is over read a second time; return how many."""
        expired_at = min(checkpoint.read_until, self._clock.now())
        return self._database.run(
            lambda session: receivers.read_anew(
                session, self._chain_id, expired_at=expired_at, ended_at=ended_at
            )
        )
