"""The worker that finds payments: it reads a chain's Transfer logs and assigns them to invoices.

A step reads the head and checks that the checkpoint's block is still canonical. If it is not, the
step walks back to the newest known block that is. Then it reads the logs of the next blocks, checks
that the chain did not change meanwhile, and writes observations, dropped payments, settlements and
the new checkpoint in one transaction.

No payment is missed, in any interleaving and with any responses of single nodes
(`tests/workers/test_chain_watcher.py` and `test_lying_nodes.py` check it), for these reasons:

1. *Blocks.* New blocks near the checkpoint are linked to it by their parents' hashes, and the logs
   of each are requested by its hash, so that a node without the block answers with an error. If a
   block's bloom filter indicates more logs than the response contains, the block is read again. For
   longer ranges, a step first reads the tip's hash, then checks that the base is canonical, then
   reads the logs, and then checks that the tip is still canonical. The block hash of each log is
   compared, too. If the chain changed during the step, nothing is written.

2. *A second reading.* A node may return empty results for blocks that it does not have. So all
   blocks are read again when they are `DEEP` and a minute old, in small groups while a payment is
   awaited. All blocks of an invoice are also read again before its final expiry and when its
   monitoring ends. These readings use all endpoints, and it is enough if one returns a payment. If
   a reading fails repeatedly, it is skipped with an alert and does not delay others. If no endpoint
   returns the logs of a token, the token is set aside, so that others do not wait for it.

3. *Invoices.* Every invoice starts as a newcomer (`catch_up_block` is not null). It is read alone,
   from its first block to the checkpoint. Only then it joins the invoices that are read together.
   So "joined" means "read up to the checkpoint", and each step advances all joined invoices
   together. It does not matter where the checkpoint was when the invoice was stored, or whether a
   step was running, because that step does not count the invoice as joined.

4. *Writers.* Each writer swaps the checkpoint's revision, which it read before the list of joined
   invoices. If another watcher joined invoices or moved the checkpoint in between, the swap fails
   and nothing is written. So two watchers are safe. The lease only avoids duplicate work.

5. *The end.* An invoice is read until the time of a block is after its `monitoring_ends_at`, so
   that downtime does not end the monitoring.

No payment is dropped wrongly: a payment is dropped only if the chain has another block with its
number, or has its transaction in another block. A null response for a block below the head means
only that a node does not have it. Confirmed payments are not dropped while an endpoint that may
have them is silent, for up to some minutes.

No other transfers are counted: the bloom filter of a log's block must not exclude the log, and a
second endpoint must return the same log, if one can answer (`chain_witnesses`). Until then the
invoice's blocks are read again, and other invoices do not wait. When an address is assigned, the
invoice stores the current checkpoint, in a transaction that no watcher's transaction can overtake,
and the chain's newest block if it is higher. No transfer up to these blocks is its payment. If a
reorganization removes the checkpoint, the last common block of both branches replaces it, and
blocks of the new branch that are dated long before the checkpoint do not count either.

Block 0 identifies a chain. An endpoint with another block 0 is not used. Blocks that were read are
discarded only if no other endpoint has them.

With more than `many` open invoices, all logs of the tokens are read and matched in the database, so
that the cost of a block depends on its content and not on the number of open invoices.
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
"""The number of open invoices above which all logs of the tokens are read."""

DEEP = 32
OLD = timedelta(minutes=1)
"""The depth and the age of blocks at which they are read a second time."""

REREAD_AT_ONCE = 64
REREAD_AWAITED = 10
"""How many blocks are collected for a second reading: while no payment is awaited, and while one
is.
"""

_SECOND_READING = "second reading"

WITNESS_AFTER = timedelta(seconds=2)
WITNESS_TRIES = 10
"""The first pause, and the number of times that other endpoints are asked about a transfer. That
takes 90 seconds in total.
"""
COMPARED_EVERY = timedelta(seconds=30)
COMPARED_EVERY_IDLE = timedelta(minutes=10)
"""How often the checkpoint's block is compared between the endpoints."""

ASIDE_FOR = timedelta(minutes=5)
"""How often a token that was set aside is tried again."""
ASIDE_AFTER = frozenset({2, TRIES})
"""The numbers of failures of a reading after which its tokens are tried one by one."""

SEEN_EVERY = timedelta(seconds=10)
"""How often the time of an unchanged head is stored."""

READ_ANEW_EVERY = timedelta(seconds=30)
ENDED_EVERY = timedelta(hours=1)
"""How often expired invoices, and invoices whose monitoring ended, are scheduled to be read again.
"""

DEVELOPMENT_CHAINS = frozenset({1337, 31337})
IDLE_DEVELOPMENT, IDLE = timedelta(seconds=10), timedelta(minutes=10)
"""If the head is unchanged for this long, the chain is producing no blocks, and its time is derived
from our clock. Development nodes produce blocks only for transactions.
"""


@dataclass(slots=True)
class _Aside:
    """A token that was set aside, because no endpoint returns its logs. `block` is the last block
    that was read for it. The next attempt requests transfers to `receivers` at `retry_at`."""

    block: BlockMark
    receivers: Sequence[str] | None
    retry_at: datetime


class ChainWatcher:
    """The watcher of one chain. Steps may raise EndpointsUnavailable and DatabaseUnavailable.

    `may_replace`: whether another chain with the same id is accepted without an operator's command.
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
        """The invoices with transfers that another endpoint has not confirmed yet."""
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
        """Do one step. Return whether to do the next one immediately."""
        try:
            more = self._watch_one()
        except EndpointsBehind:
            # Every endpoint answers and is below the checkpoint. The next step reads their blocks
            # to find out whether they are behind or the chain lost blocks.
            if self._looks_behind:
                raise
            self._looks_behind = True
            return True
        except ChainReplaced:
            if self._ignores_genesis or not self._may_replace:
                # The operator must run `specd chain forget`, which the next step checks.
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
        """Return whether new blocks of this chain are awaited."""
        return self._books.is_awaited()

    @property
    def head(self) -> Block | None:
        """The newest block that was seen, or None before the first step."""
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
            # Payments can be above the checkpoint after the chain became shorter.
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
        if tip is None or tip.number < base.number:  # lower if another watcher has read further
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
        """Read the blocks of single invoices. Return whether there were any to read.

        `in_turn`: new blocks are also waiting. They are read after one reading of each of the two
        lists.
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

    # Reading new blocks.

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
        """Read from `base`, which is canonical, to `tip` for all joined invoices. Return whether
        there are more blocks to read.

        `blocks`: the linked blocks above `base`, if they were read.
        """
        reading, given_up, is_proven = f"blocks above {base.number}", False, False
        blocks = blocks or ()
        try:
            seen, is_proven = self._read(base, tip, blocks, reorganised=reorganised)
        except EndpointsUnavailable:
            if self._patience.is_due(reading):
                self._patience.note_failure([reading])
                if self._patience.failures(reading) in ASIDE_AFTER:
                    self._reader.head()  # chooses an endpoint again after the failure
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
        """Set aside tokens whose logs no endpoint returns, if one returns logs of other tokens.
        Return whether there are any.

        The other tokens do not wait for them. Invoices of these tokens are read alone, and again
        from `base` when the logs are available again.
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
        """Bring back a token that was set aside, if its logs can be read again. Return whether one
        was brought back.
        """
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

        A block is gone if the chain has another block with its number, or has the payment's
        transaction in another block. After a reorganization, a block above the head is gone, too,
        unless its payment is confirmed. Return None while a silent endpoint may still have blocks
        with confirmed payments.
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
        """Return the last block above `base` whose logs are not available although those of newer
        blocks are, so that it can be skipped. Return None if those are not available either.
        """
        self._reader.head()  # chooses an endpoint again after the failure
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
        """Return the transfers to joined invoices from `base` to `tip`, or None if the chain
        changed meanwhile or a bloom filter indicates more. Also return whether the blocks were read
        by their hashes, which proves that the endpoint has them.

        After a reorganization, every block above `base` is newer than the addresses.
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

        With more than `many` open invoices, addresses and invoices are None if the endpoint accepts
        requests for all receivers. Then the receivers of the logs are looked up.
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
        """Read the blocks of newcomers up to the checkpoint, where they join the other invoices."""
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
        # Newcomers that begin far below get every second turn, even if there are many others.
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
                # They join the others, so that new blocks do not wait, and are read again later.
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
        """Read the blocks of invoices again up to the checkpoint, from all endpoints."""
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
        """Record that no endpoint returns the logs up to `last`. Skip them for the invoices whose
        reading has failed often enough, and return whether there were any.
        """
        # The oldest blocks are the likely cause. The newer half of the group does not wait.
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
        """Read blocks a second time for all joined invoices, from all endpoints.

        A failure is retried after a pause, so that new blocks do not wait for it.
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

    # Confirmation by other endpoints.

    def _attest(
        self, seen: Sequence[Observation], is_last: Callable[[str], bool] = lambda _: False
    ) -> tuple[list[Observation], list[Observation]]:
        """Return the transfers that count, and those that another endpoint must confirm first.

        Stored transfers were confirmed before. `is_last` returns whether an invoice has waited long
        enough. Then a disputed transfer is omitted, and one without a witness counts.
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
        """Compare the checkpoint's block with the other endpoints' blocks at intervals."""
        now = self._clock.now()
        if now < self._compared_at:
            return
        self._compared_at = now + (COMPARED_EVERY if self.is_awaited() else COMPARED_EVERY_IDLE)
        if self._reader.is_disputed(base.number, base.hash):
            self._alerts.begin("chain_endpoints_disagree", checkpoint=base.number)
        else:
            self._alerts.end("chain_endpoints_disagree")

    def _send_back(self, checkpoint: Checkpoint) -> bool:
        """Schedule a second reading of invoices whose time is over. Return whether any exist."""
        now = self._clock.now()
        self._read_anew_at = now + self._read_anew_every
        ended_at = None
        if now >= self._ended_at:
            self._ended_at, ended_at = now + self._ended_every, checkpoint.read_until
        return self._books.read_anew(checkpoint, ended_at=ended_at) > 0

    def _note_seen(self, checkpoint: Checkpoint) -> None:
        """Record that the head is unchanged, and advance the time of a chain without new blocks."""
        now = self._clock.now()
        read_until = checkpoint.read_until
        idle = IDLE_DEVELOPMENT if self._chain_id in DEVELOPMENT_CHAINS else IDLE
        if now - self._unchanged_since >= idle and now - read_until >= 2 * idle:
            read_until = now - idle
        seen_at = checkpoint.head_seen_at
        if read_until > checkpoint.read_until or seen_at is None or now - seen_at >= SEEN_EVERY:
            self._books.note_seen(checkpoint, read_until=read_until)

    # Chains that differ from the database.

    def _begin(self, head: Block, replaced: Checkpoint | None = None) -> bool:
        """Store the first checkpoint, a little below the head, so that it can be walked back to.

        `replaced`: the checkpoint of another chain with the same id. All payments of open invoices
        are dropped, and the invoices are read again. Other invoices do not change.
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
        """Go back to the newest known block that is still on the chain."""
        lost = checkpoint.block
        known = self._books.known_blocks(up_to=head.number)
        ancestor = self._view.newest_canonical(known)
        is_older = head.number < lost.number and head.timestamp <= lost.timestamp
        if is_older and ancestor is not None and ancestor == known[-1]:
            # The chain does not contradict the blocks that were read: the endpoint is behind.
            self._alerts.warn("endpoint_is_behind", head=head.number, checkpoint=lost.number)
            return False
        if self._reader.is_kept_elsewhere(lost.number, lost.hash):
            # The endpoints disagree. The blocks are kept while an equally far endpoint has them.
            self._alerts.begin("chain_endpoints_disagree", checkpoint=lost.number)
            return True
        forgotten = ancestor is not None and ancestor.number == 0
        if ancestor is None or (forgotten and lost.number > REMEMBERED_BLOCKS):
            # The chain was reset, or the reorganization is deeper than the stored blocks.
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
        """End the step without writing, because the chain changed while it was read."""
        self._log.info("chain_moved_while_reading")
        return False


def _deepest(head: Block, checkpoint: Checkpoint) -> int:
    """Return the number of the newest block that is `DEEP`. The head is not verified, so depth is
    measured from the checkpoint, or from the block after it if the head is higher.
    """
    return min(head.number, checkpoint.block.number + 1) - DEEP


def _starts(waiting: Iterable[Observation]) -> dict[str, int]:
    """Return the first block to read again for each invoice with waiting transfers."""
    starts: dict[str, int] = {}
    for each in waiting:
        number = each.block.number
        starts[each.receiver.invoice_id] = min(number, starts.get(each.receiver.invoice_id, number))
    return starts
