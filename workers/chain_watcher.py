"""The worker that finds payments: it reads one chain's Transfer logs into invoices.

One step: head -> is the checkpoint's block still canonical? if not, walk back to the newest known
block that is -> read the logs of the next blocks -> make sure that nothing moved meanwhile -> write
observations, dropped payments, settlements and the new checkpoint in one transaction.

Why no payment is missed, whatever interleaves (`tests/workers/test_chain_watcher.py` plays it):

1. *Blocks.* A step reads the tip's hash first, then finds the base canonical, then reads the logs,
   then finds the tip canonical again. The tip fixes its ancestors, so base and logs are of one
   chain; each log's block hash is compared too. A step that saw the chain move writes nothing.
   What a flapping chain or a node without the newest block may still hide, `REREAD` brings.
2. *Invoices.* Every invoice starts as a newcomer (`catch_up_block` is not null) and is read alone,
   from its creation block to the checkpoint; only then it joins those that are read together. So
   "joined" means "read up to the checkpoint", and each step moves all the joined ones on together.
   It does not matter where the checkpoint was when the invoice was stored, nor whether a step
   was under way: that step did not know the invoice and does not claim to have read it.
3. *Writers.* Whoever writes swaps the checkpoint's revision, which it read before it read the list
   of joined invoices. If another watcher joined invoices or moved the checkpoint in between, the
   swap fails and nothing is written. Two watchers only cost work; the lease only saves it.
4. *Where a newcomer starts.* Its creation block is the checkpoint that its transaction read. A
   shopper cannot pay before the invoice is stored, hence not before that block, unless the
   chain shrinks meanwhile: a walk back lowers the start of newcomers it can see, and `SHALLOW` more
   blocks are read for one that is stored at that very moment. An invoice from before the first
   watcher starts at the first block of its hour, found by block time.
5. *The end.* An invoice is read until a block's own time is past its `monitoring_ends_at`, so that
   no downtime ends the monitoring.

A cheap question (the head) is all that a step without new blocks costs. With more than `many` open
invoices the token's logs are read whole and matched in the database, so that a block costs what it
contains and not what is open.
"""

from collections.abc import Sequence

import structlog

from adapters.chain.reader import Block, ChainReader, EndpointsBehind, RangeTooLarge
from models.clock import Clock
from models.database import Database
from models.payment.checkpoints import REMEMBERED_BLOCKS, BlockMark, Checkpoint, CheckpointMoved
from models.payment.receivers import Newcomer
from models.payment.watching import Observation
from workers.chain_books import ChainBooks
from workers.chain_view import ChainView, by_token

MANY_RECEIVERS = 500
"""With more open invoices than this, whole blocks are read and matched in the database."""


class ChainWatcher:
    """The watcher of one chain. Steps may raise EndpointsUnavailable and DatabaseUnavailable."""

    def __init__(
        self,
        database: Database,
        reader: ChainReader,
        clock: Clock,
        *,
        chain_id: int,
        log_range: int,
        many: int = MANY_RECEIVERS,
    ) -> None:
        self._reader = reader
        self._many = many
        self._books = ChainBooks(database, clock, chain_id)
        self._view = ChainView(reader, widest=log_range)
        self._newcomers_had_their_turn = False
        self._looks_behind = False
        self._checkpoint_number = 0
        self._log = structlog.get_logger("chain_watcher").bind(chain_id=chain_id)

    def try_watch_one(self) -> bool:
        """One step; True when the books changed or the next try asks something else."""
        try:
            return self._watch_one()
        except EndpointsBehind:
            # Every endpoint answers and every one is below our checkpoint. Do they lag, or did the
            # chain lose blocks? Only a look at their blocks tells.
            if self._looks_behind:
                raise
            self._looks_behind = True
            return True
        except CheckpointMoved:
            self._log.info("another_watcher_was_first")
            return True
        except RangeTooLarge:
            self._log.info("log_range_narrowed", blocks=self._view.scan.width)
            return True

    @property
    def least_head(self) -> int:
        """The reader's `not_behind`: an endpoint whose head is lower is not looked at."""
        return 0 if self._looks_behind else self._checkpoint_number

    def _watch_one(self) -> bool:
        head = self._reader.head()
        self._looks_behind = False
        checkpoint, newcomers = self._books.look()
        if checkpoint is None:
            return self._begin(head)
        self._checkpoint_number = checkpoint.block.number
        base = checkpoint.block
        tip: Block | None = head
        if (head.number, head.hash) != (base.number, base.hash):
            tip = self._view.tip(head, base)
            if not self._view.is_canonical(base):
                return self._follow_reorganisation(head, checkpoint)
        if tip is None:
            return self._moved_under_us()
        has_new_blocks = tip.number > base.number
        if newcomers and not (self._newcomers_had_their_turn and has_new_blocks):
            self._newcomers_had_their_turn = True
            return self._catch_up(head, checkpoint, newcomers)
        self._newcomers_had_their_turn = False
        return has_new_blocks and self._extend(head, checkpoint, base, tip)

    # Reading on.

    def _extend(
        self,
        head: Block,
        checkpoint: Checkpoint,
        base: BlockMark,
        tip: Block,
        *,
        reorganised: bool = False,
    ) -> bool:
        """Read from `base` to `tip` for all joined invoices; `base` is known to be canonical."""
        seen = self._read(base, tip)
        if seen is None or not self._view.is_canonical(tip):
            return self._moved_under_us()
        if tip is not head and not self._view.is_canonical(head):
            return self._moved_under_us()
        settled = self._books.extend(
            checkpoint, base, tip, seen, head=head, reorganised=reorganised
        )
        if settled:
            self._log.info(
                "invoices_settled", checkpoint=tip.number, head=head.number, invoices=settled
            )
        return True

    def _read(self, base: BlockMark, tip: Block) -> list[Observation] | None:
        """What the joined invoices got from `base` to `tip`; None where the chain moved meanwhile.

        With more than `many` open invoices the token's logs are read whole.
        """
        since = base.timestamp
        open_now = self._books.open_receivers(since=since, limit=self._many + 1)
        first = self._view.first(base, tip)
        if len(open_now) > self._many and self._view.scan.takes_whole_token:
            wanted = dict.fromkeys(self._books.tokens())
            transfers = self._view.read(wanted, first, tip.number)
            addresses = {transfer.receiver for transfer in transfers}
            return self._view.observe(transfers, self._books.owners(addresses, since=since))
        if len(open_now) > self._many:
            open_now = self._books.open_receivers(since=since, limit=None)
        return self._view.observe(self._view.read(by_token(open_now), first, tip.number), open_now)

    def _catch_up(self, head: Block, checkpoint: Checkpoint, newcomers: Sequence[Newcomer]) -> bool:
        """Read newcomers' own blocks, up to the checkpoint; those that arrive join the others."""
        base = checkpoint.block
        starts = self._view.starts(newcomers, base)
        width = self._view.scan.width
        near = [n for n in newcomers if base.number - starts[n.receiver.invoice_id] < width]
        group = near or newcomers
        first = min(starts[each.receiver.invoice_id] for each in group)
        last = min(base.number, first + width - 1)
        receivers = [each.receiver for each in group]
        seen: list[Observation] | None = []
        if first <= last:
            seen = self._view.observe(self._view.read(by_token(receivers), first, last), receivers)
        if seen is None or not self._view.is_canonical(base):
            return self._moved_under_us()
        arrived = last >= base.number or first > last
        ids = [each.invoice_id for each in receivers]
        next_block = None if arrived else last + 1
        self._books.catch_up(checkpoint, ids, seen, head=head, next_block=next_block)
        self._log.debug("newcomers_read", invoices=len(ids), first=first, last=last)
        return True

    # When the chain is not what the books say.

    def _begin(self, head: Block) -> bool:
        """The first checkpoint lies a little below the head: something to walk back to."""
        ends = self._view.ends(head)
        if ends is None:
            return self._moved_under_us()
        genesis, start = ends
        self._books.begin(genesis=genesis, start=start, head=head)
        self._log.info("chain_begun", checkpoint=start.number, head=head.number)
        return True

    def _follow_reorganisation(self, head: Block, checkpoint: Checkpoint) -> bool:
        """The checkpoint's block is gone: go back to the newest known block that is still there."""
        lost = checkpoint.block
        known = self._books.known_blocks(up_to=head.number)
        ancestor = self._view.newest_canonical(known)
        is_older = head.number < lost.number and head.timestamp <= lost.timestamp
        if is_older and ancestor is not None and ancestor == known[-1]:
            # Nothing contradicts what we read beyond it: this is an endpoint that lags behind.
            self._log.warning("endpoint_is_behind", head=head.number, checkpoint=lost.number)
            return False
        forgotten = ancestor is not None and ancestor.number == 0
        if ancestor is None or (forgotten and lost.number > REMEMBERED_BLOCKS):
            return self._begin_again(head, checkpoint)
        tip = self._view.tip(head, ancestor, exactly=True)
        if tip is None or tip.number <= ancestor.number or not self._view.is_canonical(ancestor):
            return self._moved_under_us()
        self._log.warning(
            "chain_reorganised",
            checkpoint=lost.number,
            ancestor=ancestor.number,
            depth=lost.number - ancestor.number,
        )
        return self._extend(head, checkpoint, ancestor, tip, reorganised=True)

    def _begin_again(self, head: Block, checkpoint: Checkpoint) -> bool:
        """No block we know is on this chain: it was reset, or changed deeper than we remember.

        All that open invoices got is dropped, and each is read anew from its time on; those whose
        monitoring is over are history and stay.
        """
        ends = self._view.ends(head)
        if ends is None:
            return self._moved_under_us()
        genesis, start = ends
        self._log.error(
            "chain_replaced", alert=True, checkpoint=checkpoint.block.number, head=head.number
        )
        self._books.begin_again(checkpoint, genesis=genesis, start=start, head=head)
        return True

    def _moved_under_us(self) -> bool:
        """The chain changed while it was read: nothing is written, the next poll looks again."""
        self._log.info("chain_moved_while_reading")
        return False
