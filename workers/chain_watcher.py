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
   blocks are read again when they are `DEEP` and a minute old, a few at a time while a payment is
   awaited; and all blocks of an invoice once more before it expires for good, and when its
   monitoring is over. These readings use all endpoints, and one that shows a payment is enough.
   What fails again and again is passed over, with an alert, and holds up nothing else. A token
   whose logs no endpoint shows is set aside, so that others do not wait for it.
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

Why nothing is taken back wrongly: a payment is dropped only if the chain has another block with its
number, or its transaction in another block. Null for a block below the head means that a node lacks
it. What is confirmed stays while an endpoint that may have it is silent, up to some minutes.

Why nothing else is counted: the bloom in the header of a log's block must not exclude the log, and
a second endpoint must show the same log, if one can answer (`chain_witnesses`). Until then the
invoice's blocks are read again, and others do not wait. And
an invoice stores the checkpoint of the moment when its address was handed out, in a transaction
that no watcher's overtakes, and the chain's newest block if that is above it. No transfer in these
blocks or below is its payment. If a reorganisation takes the checkpoint away, the last block that
both branches share takes its place, and blocks of the new branch that are dated long before the
checkpoint do not count either.

Block 0 identifies a chain. An endpoint that shows another one is not used, and blocks that were
read are given up only when no other endpoint has them.

With more than `many` open invoices the tokens' logs are read whole and matched in the database, so
that a block costs what it contains and not what is open.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import structlog

from adapters.chain.reader import (
    Block,
    BlockMissing,
    BlockUnreadable,
    ChainReader,
    ChainReplaced,
    EndpointsBehind,
    EndpointsUnavailable,
    RangeTooLarge,
)
from models.payment.checkpoints import REMEMBERED_BLOCKS, BlockMark, Checkpoint, CheckpointMoved
from models.payment.receivers import Newcomer, Receiver
from models.payment.watching import Observation, with_stored_numbers
from specd.db import Clock, Database
from workers.chain_alerts import Alerts
from workers.chain_books import ChainBooks
from workers.chain_patience import MAX_TRIES, TRIES, Patience
from workers.chain_view import ChainView, tokens_of
from workers.chain_witnesses import Verdict, Witnesses

MANY_RECEIVERS = 500
"""With more open invoices than this, whole blocks are read and matched in the database."""

DEEP = 32
OLD = timedelta(minutes=1)
"""Blocks with so many above them, and so old, are read a second time."""

REREAD_AT_ONCE = 64
REREAD_AWAITED = 10
"""How many blocks wait for their second reading until it is worth a request: while nobody waits for
a payment, and while somebody does.
"""

_SECOND_READING = "second reading"

WITNESS_AFTER = timedelta(seconds=2)
WITNESS_TRIES = 10
"""How long, and how often, the other endpoints are asked about a transfer: in all 90 seconds."""
COMPARED_EVERY = timedelta(seconds=30)
COMPARED_EVERY_IDLE = timedelta(minutes=10)
"""How often the checkpoint's block is compared with the other endpoints' ones."""

ASIDE_FOR = timedelta(minutes=5)
"""How often a token that was set aside is tried again."""
ASIDE_AFTER = frozenset({2, TRIES})
"""After so many failures of a reading, its tokens are read one by one."""

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


@dataclass(slots=True)
class _Aside:
    """A token whose logs no endpoint shows: the last block that was read for it, whose transfers
    are requested to try it again, and when."""

    block: BlockMark
    receivers: Sequence[str] | None
    retry_at: datetime


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
        self._log = structlog.get_logger("chain_watcher").bind(chain_id=chain_id)
        self._alerts = Alerts(self._log)
        self._view = ChainView(reader, clock.now, self._alerts)
        self._patience = Patience(clock.now)
        self._witnesses = Witnesses(reader, self._view)
        self._witness_patience = Patience(clock.now, WITNESS_AFTER)
        self._compared_at = clock.now()
        self._aside: dict[str, _Aside] = {}
        self._unsure: set[str] = set()
        """The invoices with transfers that wait for another endpoint."""
        self._checked_hash = ""
        self._has_paid_above = False
        self._served: set[bool] = set()
        self._far_had_their_turn = False
        self._looks_behind = False
        self._ignores_genesis = False
        self._checkpoint: Checkpoint | None = None
        self._head: Block | None = None
        self._unchanged_since = self._read_anew_at = self._ended_at = clock.now()
        self._second_reading_at = clock.now()

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
                self._alerts.begin("chain_replaced")
                raise
            self._ignores_genesis = True
            return True
        except BlockMissing as missing:
            self._log.info("chain_block_missing", reason=str(missing))
            return False
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
        self._alerts.end("chain_replaced")
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
        if checkpoint.block.hash != self._checked_hash:
            # A head went back below what it had confirmed before.
            self._has_paid_above = bool(self._books.paid_above(checkpoint.block.number))
            self._checked_hash = checkpoint.block.hash
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
        self._alerts.end("endpoint_is_behind")
        if has_new_blocks:
            self._compare_endpoints(base)
        if self._aside and self._try_bring_back(head, checkpoint):
            return True
        if self._is_second_reading_due(head, checkpoint):
            return self._read_again(head, checkpoint)
        if self._clock.now() >= self._read_anew_at and self._send_back(checkpoint):
            return True
        if self._serve(head, checkpoint, newcomers, in_turn=has_new_blocks):
            return True
        if has_new_blocks:
            return self._extend(head, checkpoint, base, tip, blocks) or bool(newcomers)
        self._note_seen(checkpoint)
        return False

    def _serve(
        self, head: Block, checkpoint: Checkpoint, newcomers: Sequence[Newcomer], *, in_turn: bool
    ) -> bool:
        """Read the blocks of single invoices; return whether there were some to read.

        `in_turn`: new blocks wait, too, and come after one reading of each of the two lists.
        """
        if not in_turn:
            self._served.clear()
        for is_rereading, read in ((False, self._catch_up), (True, self._read_alone)):
            group = [each for each in newcomers if each.is_rereading == is_rereading]
            if group and is_rereading not in self._served:
                self._served.add(is_rereading)
                if read(head, checkpoint, group):
                    return True
        self._served.clear()
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
        reading, given_up, is_proven = f"blocks above {base.number}", False, False
        blocks = blocks or ()
        try:
            seen, is_proven = self._read(base, tip, blocks, reorganised=reorganised)
        except EndpointsUnavailable:
            if self._patience.is_due(reading):
                self._patience.note_failure([reading])
                if self._patience.failures(reading) in ASIDE_AFTER:
                    self._reader.head()  # chooses an endpoint again, after the failure
                    tokens, addresses, _ = self._wanted(base.timestamp)
                    if self._try_set_aside(tokens, addresses, head, checkpoint, base):
                        return True
            if self._patience.failures(reading) < TRIES:
                raise
            passed = self._pass_over(head, base, tip)
            if passed is None:
                raise
            seen, tip, blocks, given_up = [], passed, (), True
        if seen is None:
            return self._moved_under_us()
        self._patience.forget([reading])
        if blocks and not is_proven and (seen or self._has_paid_above or self._books.has_pending()):
            blocks = self._view.without_claimed(blocks)
            if not blocks:
                return self._moved_under_us()
            tip = head = blocks[-1]
            seen = [each for each in seen if each.block.number <= tip.number]
        dropped = self._find_dropped(head, base, (*blocks, tip), seen, reorganised=reorganised)
        if dropped is None:
            return False
        if not blocks:
            if not self._view.is_canonical(tip):
                return self._moved_under_us()
            if tip is not head and not self._view.is_canonical(head):
                return self._moved_under_us()
        if reorganised:
            lost = checkpoint.block.number
            self._log.warning(
                "chain_reorganised", checkpoint=lost, ancestor=base.number, depth=lost - base.number
            )
        counted, waiting = self._attest(seen)
        settled = self._books.extend(
            checkpoint,
            base,
            self._view.mark(tip),
            counted,
            head=self._view.mark(head),
            dropped=dropped,
            reorganised=reorganised,
            is_deep=head.number - tip.number >= DEEP and not given_up,
            waiting=_starts(waiting),
            given_up=given_up,
        )
        if settled:
            self._log.info(
                "invoices_settled", checkpoint=tip.number, head=head.number, invoices=settled
            )
        return tip.number < head.number or bool(waiting)

    def _try_set_aside(
        self,
        tokens: Sequence[str],
        addresses: Sequence[str] | None,
        head: Block,
        checkpoint: Checkpoint,
        base: BlockMark,
    ) -> bool:
        """Set tokens aside whose logs no endpoint shows, although one shows those of others. Return
        whether there are any.

        The other tokens do not wait for them. Their invoices are read alone, and once more from
        `base` on when the logs can be read again.
        """
        failing = self._view.find_failing_tokens(tokens, addresses, self._view.mark(head))
        for token in failing:
            self._log.error("chain_token_set_aside", alert=True, token=token, block=base.number)
            some = None if addresses is None else addresses[:1]
            self._aside[token] = _Aside(base, some, self._clock.now() + ASIDE_FOR)
        if failing:
            self._rescan(failing, checkpoint, head)
        return bool(failing)

    def _try_bring_back(self, head: Block, checkpoint: Checkpoint) -> bool:
        """Read tokens again that were set aside, if their logs can be read; return whether any."""
        now = self._clock.now()
        for token, aside in list(self._aside.items()):
            if now < aside.retry_at:
                continue
            block = aside.block.number
            aside.retry_at = now + ASIDE_FOR
            if self._view.can_read(token, aside.receivers, self._view.mark(head)):
                self._rescan([token], checkpoint, head)
                del self._aside[token]
                self._log.info("chain_token_brought_back", token=token, block=block)
                return True
            self._reader.head()
        return False

    def _rescan(self, tokens: Sequence[str], checkpoint: Checkpoint, head: Block) -> None:
        for token in tokens:
            above = self._aside[token].block
            self._books.rescan_token(checkpoint, token, above=above, head=self._view.mark(head))
            checkpoint = replace(checkpoint, revision=checkpoint.revision + 1)

    def _find_dropped(
        self,
        head: Block,
        base: BlockMark,
        blocks: Sequence[Block],
        seen: Sequence[Observation],
        *,
        reorganised: bool,
    ) -> set[str] | None:
        """Return the hashes of the blocks above `base` that have payments and are not on the chain.

        A block is gone if the chain has another one with its number, or its transaction in another
        block. One above the head is gone, too, unless it confirmed a payment, which stays until the
        chain has a block with its number. None while a silent endpoint may still have what was
        confirmed.
        """
        if not reorganised and not self._has_paid_above:
            return set()
        known = {block.number: block for block in (*blocks, head)}
        moved = {each.tx_hash: each.block.hash for each in seen}
        dropped, is_confirmed = set(), False
        for paid in self._books.paid_above(base.number):
            if moved.get(paid.tx_hash, paid.block_hash) == paid.block_hash:
                if paid.block_number > head.number:
                    if not reorganised or paid.is_confirmed:
                        continue
                else:
                    found = known.get(paid.block_number) or self._reader.block(paid.block_number)
                    if found is None or found.hash == paid.block_hash:
                        continue
                    known[paid.block_number] = found
            dropped.add(paid.block_hash)
            is_confirmed = is_confirmed or paid.is_confirmed
        if is_confirmed and self._reader.may_be_kept_elsewhere():
            self._alerts.begin("chain_waits_for_endpoint", base=base.number)
            return None
        self._alerts.end("chain_waits_for_endpoint")
        return dropped

    def _pass_over(self, head: Block, base: BlockMark, tip: Block) -> Block | None:
        """Return the last of the blocks above `base` whose logs no endpoint shows, although it
        shows those of newer blocks; None if it does not, too.
        """
        self._reader.head()  # chooses an endpoint again, after the failure of the first one
        tokens, addresses, _ = self._wanted(base.timestamp)
        first, newest = base.number + 1, self._view.mark(head)
        readable = self._view.first_readable(tokens, addresses, first, newest)
        if readable > head.number:
            return None
        last = self._reader.block(readable - 1) if readable > first else tip
        if last is not None:
            self._log.error("reading_given_up", alert=True, first=first, readable=last.number + 1)
        return last

    def _read(
        self, base: BlockMark, tip: Block, blocks: Sequence[Block], *, reorganised: bool
    ) -> tuple[list[Observation] | None, bool]:
        """Return the transfers to joined invoices from `base` to `tip`; None where the chain moved
        meanwhile, or a bloom promises more. Return too whether the blocks were read by their
        hashes, which proves that the endpoint has them.

        After a reorganisation no block above `base` was there before any of the addresses.
        """
        since = base.timestamp
        tokens, addresses, owners = self._wanted(since)
        if not tokens:
            return [], False
        transfers = None
        if blocks and self._reader.limits.takes_hashes:
            try:
                transfers = self._view.read_each(tokens, addresses, blocks)
            except BlockUnreadable as refusal:
                self._log.info("chain_block_unreadable", reason=str(refusal))
            if transfers is None and self._reader.limits.takes_hashes:
                return None, False
        is_proven = transfers is not None
        if transfers is None:
            transfers = self._view.read(tokens, addresses, base.number + 1, tip.number)
        if owners is None:
            paid = {transfer.receiver for transfer in transfers}
            owners = self._books.owners(paid, since=since)
        if reorganised:
            owners = [replace(each, after_block=-1) for each in owners]
        return self._view.observe(transfers, owners, blocks, reading="new blocks"), is_proven

    def _wanted(self, since: datetime) -> tuple[list[str], list[str] | None, list[Receiver] | None]:
        """Return the tokens and addresses to read, and the joined invoices that they belong to.

        With more than `many` open invoices there are no addresses and no invoices, because the
        receivers of the tokens' logs are looked up.
        """
        open_now = self._books.open_receivers(since=since, limit=self._many + 1)
        if len(open_now) > self._many:
            if self._reader.limits.takes_all_receivers:
                tokens = self._books.tokens(since=since)
                return [each for each in tokens if each not in self._aside], None, None
            open_now = self._books.open_receivers(since=since, limit=None)
        open_now = [each for each in open_now if each.token not in self._aside]
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
        aside = [each for each in newcomers if each.receiver.token in self._aside]
        if aside:
            self._books.put_off(checkpoint, aside, head=self._view.mark(head))
            return True
        base = checkpoint.block
        span = self._view.span()
        near = [each for each in newcomers if base.number - each.start < span]
        # Those that begin far below have every second turn, however many are new.
        far = [each for each in newcomers if base.number - each.start >= span]
        group = far if far and not (near and self._far_had_their_turn) else near
        self._far_had_their_turn = group is far
        first = min(each.start for each in group)
        last = min(base.number, first + span - 1)
        group = [each for each in group if each.start <= last or first > last]
        receivers = [each.receiver for each in group]
        seen: list[Observation] | None = []
        if first <= last:
            addresses = [each.address for each in receivers]
            tokens = tokens_of(receivers)
            try:
                transfers = self._view.read(tokens, addresses, first, last)
                seen = self._view.observe(transfers, receivers, reading="newcomers")
            except EndpointsUnavailable as failure:
                # They join the others, so that new blocks do not wait, and are read again.
                self._log.warning("newcomers_unreadable", first=first, reason=str(failure))
                self._books.put_off(checkpoint, group, head=self._view.mark(head))
                return True
            if seen is None or not self._view.is_canonical(base):
                return self._moved_under_us()
        arrived = last >= base.number or first > last
        ids = [each.invoice_id for each in receivers]
        counted, waiting = self._attest(seen or ())
        self._books.catch_up(
            checkpoint,
            ids,
            counted,
            head=self._view.mark(head),
            next_block=None if arrived else last + 1,
            waiting=_starts(waiting),
        )
        self._log.debug("newcomers_read", invoices=len(ids), first=first, last=last)
        return True

    # Reading again.

    def _read_alone(
        self, head: Block, checkpoint: Checkpoint, rereadings: Sequence[Newcomer]
    ) -> bool:
        """Read invoices' own blocks again, through all endpoints, up to the checkpoint."""
        base = checkpoint.block
        due = [each for each in rereadings if self._is_due(each.receiver.invoice_id)]
        if not due:
            return False
        due = [each for each in due if each.receiver.token not in self._aside] or due
        span = self._view.span(everywhere=True)
        first = min(each.start for each in due)
        last = min(base.number, first + span - 1)
        group = [each for each in due if each.start <= last or first > last]
        receivers = [each.receiver for each in group]
        ids = [each.invoice_id for each in receivers]
        seen: list[Observation] | None = []
        if first <= last:
            tokens, addresses = tokens_of(receivers), [each.address for each in receivers]
            try:
                transfers = self._view.read_everywhere(tokens, addresses, first, last, base)
                seen = self._view.observe(transfers, receivers, reading="rereadings")
            except EndpointsUnavailable as failure:
                return self._try_give_up(head, checkpoint, group, last, failure)
            if seen is None or not self._view.is_canonical(base):
                return self._moved_under_us()
        self._patience.forget(ids)
        counted, waiting = self._attest(seen or (), is_last=self._is_last_try)
        unsure = {each.receiver.invoice_id for each in waiting}
        late = {each.receiver.invoice_id for each in counted} - self._unsure
        self._witness_patience.note_failure(unsure)
        done = [each for each in ids if each not in unsure]
        self._witness_patience.forget(done)
        self._unsure.difference_update(done)
        if not done and not counted:
            return False
        changed = self._books.read_again(
            checkpoint,
            done,
            counted,
            head=self._view.mark(head),
            first=first,
            next_block=None if last >= base.number or first > last else last + 1,
        )
        if changed and late:
            self._log.warning("payments_found_late", alert=True, last=last, invoices=changed)
        return True

    def _try_give_up(
        self,
        head: Block,
        checkpoint: Checkpoint,
        group: Sequence[Newcomer],
        last: int,
        failure: EndpointsUnavailable,
    ) -> bool:
        """Note that no endpoint shows the logs up to `last`. Pass over them for the invoices whose
        reading has failed often enough, and return whether there were any.
        """
        # The oldest blocks are those that fail. Others of the group do not wait for them.
        middle = sorted(each.start for each in group)[(len(group) - 1) // 2]
        oldest = [each for each in group if each.start <= middle]
        self._patience.note_failure(each.receiver.invoice_id for each in oldest)
        tries = {id(each): self._patience.failures(each.receiver.invoice_id) for each in oldest}
        self._log.info("invoices_unreadable", invoices=len(oldest), reason=str(failure))
        if ASIDE_AFTER & {*tries.values()} and not self._aside.keys() & {
            each.receiver.token for each in group
        }:
            receivers = [each.receiver for each in group]
            tokens, addresses = tokens_of(receivers), [each.address for each in receivers]
            if self._try_set_aside(tokens, addresses, head, checkpoint, checkpoint.block):
                return True
        over = [each for each in oldest if tries[id(each)] >= TRIES]
        if not over:
            return False
        base = checkpoint.block
        receivers = [each.receiver for each in over]
        tokens, addresses = tokens_of(receivers), [each.address for each in receivers]
        first = min(each.start for each in over)
        readable = self._view.first_readable(tokens, addresses, first, base)
        if readable > base.number and max(tries.values()) < MAX_TRIES:
            return False  # no endpoint shows any logs now
        if readable <= first:
            readable = last + 1
        lost = [each.receiver.invoice_id for each in over if each.start < readable]
        self._patience.resume(each.receiver.invoice_id for each in over)
        self._log.error(
            "reading_given_up", alert=True, first=first, readable=readable, invoices=lost[:20]
        )
        self._books.read_again(
            checkpoint,
            lost,
            (),
            head=self._view.mark(head),
            first=first,
            next_block=readable if readable <= base.number else None,
            given_up=len(lost),
        )
        return True

    def _is_second_reading_due(self, head: Block, checkpoint: Checkpoint) -> bool:
        waiting = _deepest(head, checkpoint) - checkpoint.reread_number
        return (
            waiting >= REREAD_AWAITED
            and self._clock.now() >= self._second_reading_at
            and self._patience.is_due(_SECOND_READING)
            and (waiting >= REREAD_AT_ONCE or self.is_awaited())
        )

    def _read_again(self, head: Block, checkpoint: Checkpoint) -> bool:
        """Read blocks a second time for all joined invoices, through all endpoints.

        A failure is tried again in a while, so that new blocks do not wait for it.
        """
        self._second_reading_at = self._clock.now() + SEEN_EVERY
        old = self._clock.now() - OLD
        base = checkpoint.block
        known = self._books.known_blocks(up_to=_deepest(head, checkpoint))
        last = max((each.number for each in known if each.timestamp <= old), default=0)
        last = min(last, checkpoint.reread_number + self._view.span(everywhere=True))
        if last <= checkpoint.reread_number:
            return True
        since = checkpoint.block.timestamp
        seen: list[Observation] | None = []
        given_up = False
        if self._books.open_receivers(since=since, limit=1):
            first = checkpoint.reread_number + 1
            tokens, addresses, owners = self._wanted(since)
            try:
                transfers = self._view.read_everywhere(tokens, addresses, first, last, base)
                if owners is None:
                    paid = {transfer.receiver for transfer in transfers}
                    owners = self._books.owners(paid, since=since)
                seen = self._view.observe(transfers, owners, reading=_SECOND_READING)
            except EndpointsUnavailable as failure:
                self._patience.note_failure([_SECOND_READING])
                self._log.info("blocks_unreadable", first=first, last=last, reason=str(failure))
                if self._patience.failures(_SECOND_READING) < TRIES:
                    return True
                readable = self._view.first_readable(tokens, addresses, first, base)
                if readable > base.number:
                    return True  # no endpoint shows any logs now
                last = max(readable - 1, first if readable <= first else 0)
                self._log.error("reading_given_up", alert=True, first=first, readable=last + 1)
                given_up = True
            if seen is None or not self._view.is_canonical(base):
                return self._moved_under_us()
        self._patience.forget([_SECOND_READING])
        counted, waiting = self._attest(seen or ())
        changed = self._books.reread(
            checkpoint,
            counted,
            head=self._view.mark(head),
            reread_number=last,
            waiting=_starts(waiting),
            given_up=given_up,
        )
        if changed:
            self._log.warning("payments_found_late", alert=True, last=last, invoices=changed)
        self._second_reading_at = self._clock.now()
        return True

    # What other endpoints say.

    def _attest(
        self, seen: Sequence[Observation], is_last: Callable[[str], bool] = lambda _: False
    ) -> tuple[list[Observation], list[Observation]]:
        """Return the transfers that count, and those that wait for another endpoint to show them.

        What is stored was compared before. `is_last` returns whether an invoice has waited long
        enough: then a disputed transfer is left out, and one without a witness counts.
        """
        stored = self._books.stored(seen)
        seen = with_stored_numbers(seen, stored)
        known = {each.key: each.amount for each in stored}
        verdicts = self._witnesses.judge([each for each in seen if each.key not in known])
        counted: list[Observation] = []
        waiting: list[Observation] = []
        for each in seen:
            verdict = verdicts.get(each, Verdict.COUNTS)
            if known.get(each.key, each.amount) != each.amount:
                self._refuse(each)
            elif verdict is Verdict.COUNTS:
                counted.append(each)
            elif not is_last(each.receiver.invoice_id):
                self._unsure.add(each.receiver.invoice_id)
                waiting.append(each)
            elif verdict is Verdict.LAGS:
                counted.append(each)
            else:
                self._refuse(each)
        if waiting:
            self._log.info("transfers_wait_for_witness", transfers=len(waiting))
        return counted, waiting

    def _refuse(self, disputed: Observation) -> None:
        self._alerts.begin(
            "chain_log_disputed",
            (disputed.key, disputed.amount),
            invoice=disputed.receiver.invoice_id,
            block=disputed.block.number,
            tx_hash=disputed.tx_hash,
            amount=disputed.amount,
        )

    def _is_due(self, invoice_id: str) -> bool:
        return self._patience.is_due(invoice_id) and self._witness_patience.is_due(invoice_id)

    def _is_last_try(self, invoice_id: str) -> bool:
        return self._witness_patience.failures(invoice_id) >= WITNESS_TRIES - 1

    def _compare_endpoints(self, base: BlockMark) -> None:
        """Compare the checkpoint's block with the other endpoints' one now and then."""
        now = self._clock.now()
        if now < self._compared_at:
            return
        self._compared_at = now + (COMPARED_EVERY if self.is_awaited() else COMPARED_EVERY_IDLE)
        if self._reader.is_disputed(base.number, base.hash):
            self._alerts.begin("chain_endpoints_disagree", checkpoint=base.number)
        else:
            self._alerts.end("chain_endpoints_disagree")

    def _send_back(self, checkpoint: Checkpoint) -> bool:
        """Have invoices whose time is over read a second time; return whether there were any."""
        now = self._clock.now()
        self._read_anew_at = now + self._read_anew_every
        ended_at = None
        if now >= self._ended_at:
            self._ended_at, ended_at = now + self._ended_every, checkpoint.read_until
        return self._books.read_anew(checkpoint, ended_at=ended_at) > 0

    def _note_seen(self, checkpoint: Checkpoint) -> None:
        """Note that nothing is new, and that time passes on a chain that makes no blocks."""
        now = self._clock.now()
        read_until = checkpoint.read_until
        idle = IDLE_DEVELOPMENT if self._chain_id in DEVELOPMENT_CHAINS else IDLE
        if now - self._unchanged_since >= idle and now - read_until >= 2 * idle:
            read_until = now - idle
        seen_at = checkpoint.head_seen_at
        if read_until > checkpoint.read_until or seen_at is None or now - seen_at >= SEEN_EVERY:
            self._books.note_seen(checkpoint, read_until=read_until)

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
            self._alerts.warn("endpoint_is_behind", head=head.number, checkpoint=lost.number)
            return False
        if self._reader.is_kept_elsewhere(lost.number, lost.hash):
            # The endpoints disagree. What was read stays while one that is as far has it.
            self._alerts.begin("chain_endpoints_disagree", checkpoint=lost.number)
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
        return self._extend(head, checkpoint, ancestor, tip, reorganised=True)

    def _moved_under_us(self) -> bool:
        """Write nothing, because the chain changed while it was read; the next poll reads again."""
        self._log.info("chain_moved_while_reading")
        return False


def _deepest(head: Block, checkpoint: Checkpoint) -> int:
    """Return the newest block that is `DEEP`. The head is only claimed, so the checkpoint says how
    deep blocks are, and the head adds one block at most.
    """
    return min(head.number, checkpoint.block.number + 1) - DEEP


def _starts(waiting: Iterable[Observation]) -> dict[str, int]:
    """Return the first block to read again for each invoice with transfers that wait."""
    starts: dict[str, int] = {}
    for each in waiting:
        number = each.block.number
        starts[each.receiver.invoice_id] = min(number, starts.get(each.receiver.invoice_id, number))
    return starts
