"""The worker that finds payments: it reads one chain's Transfer logs into invoices.

One step: read the head -> check that the checkpoint's block is still canonical, else walk back to
the newest known block that is -> read the logs of the next blocks -> check that nothing moved
meanwhile -> write observations, dropped payments, settlements and the new checkpoint in one
transaction.

Why no payment is missed, in any interleaving and with any answers of single nodes
(`tests/workers/test_chain_watcher.py` and `test_lying_nodes.py` check it):

1. *Blocks.* New blocks near the checkpoint are linked to it by their parents' hashes, and the logs
   of each are requested by its hash: a node that lacks the block answers with an error. A block
   whose bloom promises more than the answer contains is read again. Longer ranges: a step reads the
   tip's hash first, then finds the base canonical, then reads the logs, then finds the tip
   canonical again. Each log's block hash is compared too. A step that saw the chain move writes
   nothing.
2. *A second reading.* A node may answer for blocks that it lacks as if they were empty. So all
   blocks are read again when they are `DEEP` and a minute old; and all blocks of an invoice once
   more before it expires for good, and when its monitoring is over. These readings use all
   endpoints, and one that shows a payment is enough.
3. *Invoices.* Every invoice starts as a newcomer (`catch_up_block` is not null) and is read alone,
   from its first block to the checkpoint; only then it joins those that are read together. So
   "joined" means "read up to the checkpoint", and each step moves all the joined ones on together.
   It does not matter where the checkpoint was when the invoice was stored, nor whether a step
   was under way, because that step does not count the invoice as joined.
4. *Writers.* Each writer swaps the checkpoint's revision, which it read before it read the list
   of joined invoices. If another watcher joined invoices or moved the checkpoint in between, the
   swap fails and nothing is written. Two watchers only cost work; the lease only saves it.
5. *The end.* An invoice is read until a block's own time is past its `monitoring_ends_at`, so that
   no downtime ends the monitoring.

Why nothing else is counted: an invoice stores the checkpoint of the moment when its address was
handed out, in a transaction that no watcher's overtakes, and the chain's newest block if that is
above it. No transfer in these blocks or below is its payment. If a reorganisation takes the
checkpoint away, the last block that both branches share takes its place, and blocks of the new
branch that are dated long before the checkpoint do not count either.

Block 0 identifies a chain. An endpoint that shows another one is not used, and blocks that were
read are given up only when no other endpoint has them.

With more than `many` open invoices the tokens' logs are read whole and matched in the database, so
that a block costs what it contains and not what is open.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from adapters.chain.reader import (
    Block,
    BlockUnreadable,
    ChainReader,
    ChainReplaced,
    EndpointsBehind,
    EndpointsUnavailable,
    RangeTooLarge,
)
from models.clock import Clock
from models.database import Database
from models.payment.checkpoints import REMEMBERED_BLOCKS, BlockMark, Checkpoint, CheckpointMoved
from models.payment.receivers import Newcomer, Receiver
from models.payment.watching import Observation
from workers.chain_books import ChainBooks
from workers.chain_view import ChainView, tokens_of

MANY_RECEIVERS = 500
"""With more open invoices than this, whole blocks are read and matched in the database."""

DEEP = 32
OLD = timedelta(minutes=1)
"""Blocks with so many above them, and so old, are read a second time."""

REREAD_AT_ONCE = 64
"""How many blocks wait for their second reading until it is worth a request."""

SEEN_EVERY = timedelta(seconds=10)
"""How often the time of an unchanged head is stored."""

READ_ANEW_EVERY = timedelta(seconds=30)
ENDED_EVERY = timedelta(hours=1)
"""How often invoices whose time is over are read anew: those that expired, those that ended."""

DEVELOPMENT_CHAINS = frozenset({1337, 31337})
IDLE_DEVELOPMENT, IDLE = timedelta(seconds=10), timedelta(minutes=10)
"""A chain with the same head for so long makes no blocks: its time is then our clock's. Development
nodes make a block only when there is a transaction.
"""


class ChainWatcher:
    """The watcher of one chain. Steps may raise EndpointsUnavailable and DatabaseUnavailable.

    `may_replace`: whether another chain may take over the same id without an operator.
    """

    def __init__(
        self,
        database: Database,
        reader: ChainReader,
        clock: Clock,
        *,
        chain_id: int,
        many: int = MANY_RECEIVERS,
        may_replace: bool = False,
        read_anew_every: timedelta = READ_ANEW_EVERY,
        ended_every: timedelta = ENDED_EVERY,
    ) -> None:
        self._reader = reader
        self._clock = clock
        self._chain_id = chain_id
        self._many = many
        self._may_replace = may_replace
        self._read_anew_every, self._ended_every = read_anew_every, ended_every
        self._books = ChainBooks(database, clock, chain_id)
        self._view = ChainView(reader, clock.now)
        self._newcomers_had_their_turn = False
        self._read_anew_before = False
        self._looks_behind = False
        self._ignores_genesis = False
        self._checkpoint: Checkpoint | None = None
        self._head: Block | None = None
        self._unchanged_since = self._read_anew_at = self._ended_at = clock.now()
        self._second_reading_at = clock.now()
        self._log = structlog.get_logger("chain_watcher").bind(chain_id=chain_id)

    def try_watch_one(self) -> bool:
        """Do one step; return whether it changed the database or the next one differs."""
        try:
            more = self._watch_one()
        except EndpointsBehind:
            # Every endpoint answers and is below our checkpoint. Only their blocks show whether
            # they lag, or the chain lost blocks.
            if self._looks_behind:
                raise
            self._looks_behind = True
            return True
        except ChainReplaced:
            if self._ignores_genesis or not self._may_replace:
                # An operator decides: `specd chain forget`. The next step checks whether they have.
                self._checkpoint = None
                self._log.error("chain_replaced", alert=True)
                raise
            self._ignores_genesis = True
            return True
        except CheckpointMoved:
            self._log.info("another_watcher_was_first")
            return True
        except RangeTooLarge as refusal:
            self._log.info("log_range_narrowed", reason=str(refusal))
            self._view.note_step(is_done=False)
            return True
        except EndpointsUnavailable:
            self._view.note_step(is_done=False)
            raise
        self._view.note_step(is_done=True)
        return more

    def is_awaited(self) -> bool:
        """Return whether blocks of this chain matter now."""
        return self._books.is_awaited()

    @property
    def head(self) -> Block | None:
        """The newest block that was seen; None before the first step."""
        return self._head

    def least_head(self) -> int:
        """Return the reader's `not_behind`: an endpoint whose head is lower is not used."""
        if self._looks_behind or self._checkpoint is None:
            return 0
        return self._checkpoint.block.number

    def genesis_hash(self) -> str | None:
        """Return the reader's `genesis`: an endpoint with another block 0 is not used."""
        if self._ignores_genesis or self._checkpoint is None:
            return None
        return self._checkpoint.genesis_hash

    def _watch_one(self) -> bool:
        if self._checkpoint is None:
            self._checkpoint, _ = self._books.look()
        head = self._reader.head()
        self._looks_behind = False
        if self._head is None or head != self._head:
            self._head, self._unchanged_since = head, self._clock.now()
        checkpoint, newcomers = self._books.look()
        self._checkpoint = checkpoint
        if checkpoint is None:
            return self._begin(head)
        if self._ignores_genesis:
            self._ignores_genesis = False
            return self._begin(head, checkpoint)
        base = checkpoint.block
        blocks: list[Block] | None = []
        tip: Block | None = head
        if (head.number, head.hash) != (base.number, base.hash):
            blocks = self._view.links(head, base)
            if not blocks:
                tip = self._view.tip(head, base)
                if blocks is None or not self._view.is_canonical(base):
                    return self._follow_reorganisation(head, checkpoint)
        if tip is None or tip.number < base.number:  # or another watcher has read beyond this head
            return self._moved_under_us()
        has_new_blocks = tip.number > base.number
        if self._is_second_reading_due(head, checkpoint):
            return self._read_again(head, checkpoint)
        if self._clock.now() >= self._read_anew_at and self._send_back(checkpoint):
            return True
        if newcomers and not (self._newcomers_had_their_turn and has_new_blocks):
            self._newcomers_had_their_turn = True
            return self._catch_up(head, checkpoint, newcomers)
        self._newcomers_had_their_turn = False
        if has_new_blocks:
            return self._extend(head, checkpoint, base, tip, blocks) or bool(newcomers)
        self._note_seen(head, checkpoint)
        return False

    # Reading on.

    def _extend(
        self,
        head: Block,
        checkpoint: Checkpoint,
        base: BlockMark,
        tip: Block,
        blocks: Sequence[Block] | None = (),
        *,
        reorganised: bool = False,
    ) -> bool:
        """Read from `base` to `tip` for all joined invoices; `base` is canonical.

        `blocks`: those in between, where they were read and each is the parent of the next. Return
        whether there are more blocks to read.
        """
        seen = self._read(base, tip, blocks or (), reorganised=reorganised)
        if seen is None:
            return self._moved_under_us()
        if not blocks:
            if not self._view.is_canonical(tip):
                return self._moved_under_us()
            if tip is not head and not self._view.is_canonical(head):
                return self._moved_under_us()
        settled = self._books.extend(
            checkpoint,
            base,
            self._view.mark(tip),
            seen,
            head=self._view.mark(head),
            reorganised=reorganised,
            is_deep=head.number - tip.number >= DEEP,
        )
        if settled:
            self._log.info(
                "invoices_settled", checkpoint=tip.number, head=head.number, invoices=settled
            )
        return tip.number < head.number

    def _read(
        self, base: BlockMark, tip: Block, blocks: Sequence[Block], *, reorganised: bool
    ) -> list[Observation] | None:
        """Return the transfers to joined invoices from `base` to `tip`; None where the chain moved
        meanwhile, or a bloom promises more.

        After a reorganisation no block above `base` was there before any of the addresses.
        """
        since = base.timestamp
        tokens, addresses, owners = self._wanted(since)
        if not tokens:
            return []
        transfers = None
        if blocks and self._reader.limits.takes_hashes:
            try:
                transfers = self._view.read_each(tokens, addresses, blocks)
            except BlockUnreadable as refusal:
                self._log.info("chain_block_unreadable", reason=str(refusal))
            if transfers is None and self._reader.limits.takes_hashes:
                return None
        if transfers is None:
            transfers = self._view.read(tokens, addresses, base.number + 1, tip.number)
        if owners is None:
            paid = {transfer.receiver for transfer in transfers}
            owners = self._books.owners(paid, since=since)
        if reorganised:
            owners = [replace(each, after_block=-1) for each in owners]
        return self._view.observe(transfers, owners, blocks)

    def _wanted(self, since: datetime) -> tuple[list[str], list[str] | None, list[Receiver] | None]:
        """Return the tokens and addresses to read, and the joined invoices that they belong to.

        With more than `many` open invoices there are no addresses and no invoices, because the
        receivers of the tokens' logs are looked up.
        """
        open_now = self._books.open_receivers(since=since, limit=self._many + 1)
        if len(open_now) > self._many:
            if self._reader.limits.takes_all_receivers:
                return self._books.tokens(since=since), None, None
            open_now = self._books.open_receivers(since=since, limit=None)
        return tokens_of(open_now), [each.address for each in open_now], open_now

    def _catch_up(self, head: Block, checkpoint: Checkpoint, newcomers: Sequence[Newcomer]) -> bool:
        """Read newcomers' own blocks, up to the checkpoint, where they join the others."""
        unknown = [each for each in newcomers if not each.is_anchored]
        if unknown:
            anchors = self._view.anchor(unknown, head)
            if anchors:
                self._books.anchor(checkpoint, anchors, head=self._view.mark(head))
                return True
            newcomers = [each for each in newcomers if each.is_anchored]
            if not newcomers:
                return False
        base = checkpoint.block
        # Those that are read anew are read through all endpoints, because it is the last time.
        anew = [each for each in newcomers if each.rereads]
        fresh = [each for each in newcomers if not each.rereads]
        everywhere = not fresh or (bool(anew) and not self._read_anew_before)
        self._read_anew_before = everywhere
        newcomers = anew if everywhere else fresh
        span = self._view.span(everywhere=everywhere)
        near = [each for each in newcomers if base.number - each.start < span]
        group = near or newcomers
        first = min(each.start for each in group)
        last = min(base.number, first + span - 1)
        receivers = [each.receiver for each in group]
        seen: list[Observation] | None = []
        if first <= last:
            addresses = [each.address for each in receivers]
            tokens = tokens_of(receivers)
            if everywhere:
                transfers = self._view.read_everywhere(tokens, addresses, first, last, base)
            else:
                transfers = self._view.read(tokens, addresses, first, last)
            seen = self._view.observe(transfers, receivers)
            if seen is None or not self._view.is_canonical(base):
                return self._moved_under_us()
        arrived = last >= base.number or first > last
        ids = [each.invoice_id for each in receivers]
        self._books.catch_up(
            checkpoint,
            ids,
            seen or (),
            head=self._view.mark(head),
            next_block=None if arrived else last + 1,
        )
        self._log.debug("newcomers_read", invoices=len(ids), first=first, last=last)
        return True

    # Reading again.

    def _is_second_reading_due(self, head: Block, checkpoint: Checkpoint) -> bool:
        return (
            head.number - DEEP - checkpoint.reread_number >= REREAD_AT_ONCE
            and self._clock.now() >= self._second_reading_at
        )

    def _read_again(self, head: Block, checkpoint: Checkpoint) -> bool:
        """Read blocks a second time for all joined invoices, through all endpoints.

        A failure is tried again in a while, so that new blocks do not wait for it.
        """
        self._second_reading_at = self._clock.now() + SEEN_EVERY
        old = self._clock.now() - OLD
        base = checkpoint.block
        known = self._books.known_blocks(up_to=min(head.number - DEEP, base.number))
        last = max((each.number for each in known if each.timestamp <= old), default=0)
        last = min(last, checkpoint.reread_number + self._view.span(everywhere=True))
        if last <= checkpoint.reread_number:
            return True
        since = checkpoint.block.timestamp
        seen: list[Observation] | None = []
        if self._books.open_receivers(since=since, limit=1):
            first = checkpoint.reread_number + 1
            tokens, addresses, owners = self._wanted(since)
            transfers = self._view.read_everywhere(tokens, addresses, first, last, base)
            if owners is None:
                paid = {transfer.receiver for transfer in transfers}
                owners = self._books.owners(paid, since=since)
            seen = self._view.observe(transfers, owners)
            if seen is None or not self._view.is_canonical(base):
                return self._moved_under_us()
        changed = self._books.reread(
            checkpoint, seen or (), head=self._view.mark(head), reread_number=last
        )
        if changed:
            self._log.warning("payments_found_late", alert=True, last=last, invoices=changed)
        self._second_reading_at = self._clock.now()
        return True

    def _send_back(self, checkpoint: Checkpoint) -> bool:
        """Have invoices whose time is over read a second time; return whether there were any."""
        now = self._clock.now()
        self._read_anew_at = now + self._read_anew_every
        ended_at = None
        if now >= self._ended_at:
            self._ended_at, ended_at = now + self._ended_every, checkpoint.read_until
        return self._books.read_anew(checkpoint, ended_at=ended_at) > 0

    def _note_seen(self, head: Block, checkpoint: Checkpoint) -> None:
        """Note that nothing is new, and that time passes on a chain that makes no blocks."""
        now = self._clock.now()
        read_until = checkpoint.read_until
        idle = IDLE_DEVELOPMENT if self._chain_id in DEVELOPMENT_CHAINS else IDLE
        if now - self._unchanged_since >= idle and now - read_until >= 2 * idle:
            read_until = now - idle
        seen_at = checkpoint.head_seen_at
        if read_until > checkpoint.read_until or seen_at is None or now - seen_at >= SEEN_EVERY:
            self._books.note_seen(checkpoint, head=self._view.mark(head), read_until=read_until)

    # When the chain is not what the database has.

    def _begin(self, head: Block, replaced: Checkpoint | None = None) -> bool:
        """Store the first checkpoint, a little below the head, so that one can walk back to it.

        `replaced`: the checkpoint of another chain with the same id. All payments of open invoices
        are dropped, and each is read anew from its time on; the others are history and stay.
        """
        ends = self._view.ends(head)
        if ends is None:
            return self._moved_under_us()
        genesis, start = ends
        mark = self._view.mark(head)
        if replaced is None:
            self._books.begin(genesis=genesis, start=start, head=mark)
            self._log.info("chain_begun", checkpoint=start.number, head=head.number)
        else:
            number = replaced.block.number
            self._log.error("chain_replaced", alert=True, checkpoint=number, head=head.number)
            self._books.begin_again(replaced, genesis=genesis, start=start, head=mark)
        return True

    def _follow_reorganisation(self, head: Block, checkpoint: Checkpoint) -> bool:
        """Go back to the newest known block that is still there: the checkpoint's is gone."""
        lost = checkpoint.block
        known = self._books.known_blocks(up_to=head.number)
        ancestor = self._view.newest_canonical(known)
        is_older = head.number < lost.number and head.timestamp <= lost.timestamp
        if is_older and ancestor is not None and ancestor == known[-1]:
            # Nothing contradicts what we read beyond it: this is an endpoint that lags behind.
            self._log.warning("endpoint_is_behind", head=head.number, checkpoint=lost.number)
            return False
        if self._reader.is_kept_elsewhere(lost.number, lost.hash):
            # The endpoints disagree. What was read stays while one that is as far has it.
            self._log.error("chain_endpoints_disagree", alert=True, checkpoint=lost.number)
            return True
        forgotten = ancestor is not None and ancestor.number == 0
        if ancestor is None or (forgotten and lost.number > REMEMBERED_BLOCKS):
            # The chain was reset, or changed deeper than we remember.
            if not self._may_replace:
                raise ChainReplaced(
                    f"chain {self._chain_id} has none of the blocks that were read before; if that"
                    " is right, `specd chain forget` lets it begin anew"
                )
            return self._begin(head, checkpoint)
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

    def _moved_under_us(self) -> bool:
        """Write nothing, because the chain changed while it was read; the next poll reads again."""
        self._log.info("chain_moved_while_reading")
        return False
