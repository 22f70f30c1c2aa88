"""The reads of a watcher's step, in requests that the endpoint accepts, and the arithmetic of
blocks. Writes nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from adapters.chain.blooms import BLOOM_BYTES, is_selective, may_contain
from adapters.chain.question_limits import TOKENS_AT_ONCE
from adapters.chain.reader import (
    TRANSFER_TOPIC,
    Block,
    BlockMissing,
    BlockUnreadable,
    ChainReader,
    EndpointsUnavailable,
    RangeTooLarge,
    Transfer,
)
from models.payment.checkpoints import BlockMark
from models.payment.receivers import Newcomer, Receiver
from models.payment.watching import Observation
from workers.chain_alerts import Alerts

SHALLOW = 64
"""Reorganisations up to this depth are walked back to a checkpoint of ours that lies this near."""

NEAR = 4
"""Up to so many new blocks are read one by one, each by its hash."""

SPAN = 1000
REQUESTS = 24
"""A step makes one request for logs, or up to `REQUESTS` while they span at most `SPAN` blocks, so
that its other requests cost little, however narrow those are.
"""

CLOCK_SLACK = timedelta(minutes=2)
"""How far apart clocks may be where only time separates older transfers from an invoice's: ours and
the chain's, or those of a chain's branches.
"""

ANCHOR_WAIT = timedelta(seconds=30)
"""How long an invoice waits for an endpoint to show the block that was the newest at its creation.
"""

DOUBTS = 3
"""How often a reading is done again because headers and logs do not fit together."""
_BY_HASH = "blocks by hash"

_TRANSFER = bytes.fromhex(TRANSFER_TOPIC[2:])


class ChainView:
    """One chain through one reader. Every method may raise EndpointsUnavailable."""

    def __init__(self, reader: ChainReader, now: Callable[[], datetime], alerts: Alerts) -> None:
        self._reader = reader
        self._now = now
        self._alerts = alerts
        self._requests = REQUESTS
        self._doubted: Counter[str] = Counter()
        self._shows_blooms = False

    # Blocks.

    def mark(self, block: Block) -> BlockMark:
        """Return a block as the database names it.

        A block that is dated in the future counts as one of now: chains for tests travel in time,
        and a payment that was seen before an invoice's expiry is not late.
        """
        return BlockMark(block.number, block.hash, min(block.timestamp, self._now()))

    def span(self, *, everywhere: bool = False) -> int:
        """Return how many blocks a step reads; `everywhere`: through each of the endpoints."""
        width = self._reader.narrowest if everywhere else self._reader.limits.width
        return width * max(1, min(self._requests, SPAN // width))

    def note_step(self, *, is_done: bool) -> None:
        """Note the outcome of a step: after a failure the next one is small, then they grow again.

        A step is all or nothing, so a long one never ends where requests fail now and then.
        """
        self._requests = min(REQUESTS, self._requests * 2) if is_done else 1

    def tip(self, head: Block, base: BlockMark, *, exactly: bool = False) -> Block | None:
        """Return the block to read up to from `base`: as far as a step reaches, at most the head.

        A leap stops `SHALLOW` blocks before the head, so that a checkpoint lies there to walk back
        to; `exactly` forbids that. None when the chain became shorter.
        """
        last = min(head.number, base.number + self.span())
        if last == head.number and last - base.number > SHALLOW and not exactly:
            last = head.number - SHALLOW
        return head if last == head.number else self._reader.block(last)

    def links(self, head: Block, base: BlockMark) -> list[Block] | None:
        """Return the few blocks above `base` up to `head`, each the parent of the next.

        Empty where there are too many, or headers show no parents. None where they do not lead to
        `base`.
        """
        if not 0 < head.number - base.number <= NEAR or not head.parent_hash:
            return []
        blocks = [head]
        while blocks[0].number > base.number + 1:
            below = self._reader.block(blocks[0].number - 1)
            if below is None or below.hash != blocks[0].parent_hash:
                return None
            blocks.insert(0, below)
        return blocks if blocks[0].parent_hash == base.hash else None

    def without_claimed(self, linked: Sequence[Block]) -> Sequence[Block]:
        """Return linked blocks without the last one, the head, if the endpoint only claims it: it
        shows another block, or none, for its number.
        """
        with suppress(BlockMissing):
            if self.is_canonical(linked[-1]):
                return linked
        return linked[:-1]

    def ends(self, head: Block) -> tuple[BlockMark | None, BlockMark] | None:
        """Return block 0, and the block to begin with: a little below the head, to walk back to.

        None when the chain moved meanwhile; block 0 is None where the endpoint has pruned it.
        """
        start = self._reader.block(max(0, head.number - SHALLOW))
        if start is None or not self.is_canonical(head):
            return None
        genesis = self._reader.genesis()
        return None if genesis is None else self.mark(genesis), self.mark(start)

    def is_canonical(self, block: Block | BlockMark) -> bool:
        """Return whether this block is on the chain as it is now."""
        found = self._reader.block(block.number)
        return found is not None and found.hash == block.hash

    def newest_canonical(self, known: Sequence[BlockMark]) -> BlockMark | None:
        """Return the last of `known` (oldest first) that is on the chain.

        Bisected: the ancestors of a canonical block are canonical.
        """
        low, high = 0, len(known)
        while low < high:
            middle = (low + high) // 2
            if self.is_canonical(known[middle]):
                low = middle + 1
            else:
                high = middle
        return known[low - 1] if low else None

    # Transfers.

    def read(
        self, tokens: Sequence[str], receivers: Sequence[str] | None, first: int, last: int
    ) -> list[Transfer]:
        """Return the transfers of the tokens to the receivers (None: to anybody) in the blocks.

        Raise `RangeTooLarge` after making the next request smaller.
        """
        limits = self._reader.limits
        width = limits.width
        return [
            transfer
            for start in range(first, last + 1, width)
            for some in _chunks(tokens, TOKENS_AT_ONCE)
            for others in _chunks(receivers, limits.receivers_at_once)
            for transfer in self._reader.transfers(
                some or (), others, start, min(last, start + width - 1)
            )
        ]

    def read_each(
        self, tokens: Sequence[str], receivers: Sequence[str] | None, blocks: Sequence[Block]
    ) -> list[Transfer] | None:
        """Return the same of linked blocks, each read by its hash.

        None where a block's bloom promises more: it is read again later. May raise
        `BlockUnreadable`.
        """
        transfers = []
        for block in blocks:
            self._note_bloom(block)
            its = self.read_block(tokens, receivers, block)
            if _may_hide(block, tokens, receivers, its):
                for _ in self._reader.others():
                    with suppress(BlockUnreadable, EndpointsUnavailable, RangeTooLarge):
                        its = merge(its, self.read_block(tokens, receivers, block))
                if _may_hide(block, tokens, receivers, its) and self._doubts(
                    _BY_HASH, block.number
                ):
                    return None
            transfers += its
        self._doubted.pop(_BY_HASH, None)
        return transfers

    def read_block(
        self, tokens: Sequence[str], receivers: Sequence[str] | None, block: Block
    ) -> list[Transfer]:
        """Return the same of one block, read by its hash. May raise `BlockUnreadable`."""
        return [
            transfer
            for some in _chunks(tokens, TOKENS_AT_ONCE)
            for others in _chunks(receivers, self._reader.limits.receivers_at_once)
            for transfer in self._reader.transfers_in(some or (), others, block)
        ]

    def read_everywhere(
        self,
        tokens: Sequence[str],
        receivers: Sequence[str] | None,
        first: int,
        last: int,
        base: BlockMark,
    ) -> list[Transfer]:
        """Return the transfers that any of the endpoints with `base` on their chain shows.

        An endpoint that does not answer is left out, and `EndpointsUnavailable` raised if none
        does.
        """
        transfers: list[Transfer] = []
        failure: EndpointsUnavailable | None = None
        answered = 0
        try:
            transfers += self.read(tokens, receivers, first, last)
            answered += 1
        except EndpointsUnavailable as error:
            failure = error
        for _ in self._reader.others():
            with suppress(EndpointsUnavailable):
                if self.is_canonical(base):
                    transfers = merge(transfers, self.read(tokens, receivers, first, last))
                    answered += 1
        if failure is not None and not answered:
            raise failure
        return transfers

    def first_readable(
        self, tokens: Sequence[str], receivers: Sequence[str] | None, first: int, base: BlockMark
    ) -> int:
        """Return the first block from `first` to `base` whose logs an endpoint shows, and those of
        all after it: nodes delete the oldest. One more than `base` if there is none.
        """
        some = None if receivers is None else receivers[:1]
        low, high = first, base.number + 1
        while low < high:
            middle = (low + high) // 2
            try:
                self.read_everywhere(tokens[:1], some, middle, middle, base)
            except EndpointsUnavailable:
                low = middle + 1
            else:
                high = middle
        return low

    def find_failing_tokens(
        self, tokens: Sequence[str], receivers: Sequence[str] | None, base: BlockMark
    ) -> list[str]:
        """Return the tokens whose logs of one block no endpoint shows. Empty if it shows none."""
        some = None if receivers is None else receivers[:1]
        failing = [each for each in tokens if not self.can_read(each, some, base)]
        return failing if len(failing) < len(tokens) else []

    def can_read(self, token: str, receivers: Sequence[str] | None, base: BlockMark) -> bool:
        """Return whether an endpoint shows the logs of a token in a block."""
        try:
            self.read_everywhere([token], receivers, base.number, base.number, base)
        except (EndpointsUnavailable, RangeTooLarge):
            return False
        return True

    def _doubts(self, reading: str, number: int) -> bool:
        """Return whether to do a reading again, because the header and the logs of a block do not
        fit together. However many blocks do not fit, the reading goes on after some tries.
        """
        self._doubted[reading] += 1
        self._alerts.warn("chain_logs_missing", number, block=number)
        return self._doubted[reading] <= DOUBTS

    def _note_bloom(self, block: Block) -> None:
        self._shows_blooms = self._shows_blooms or any(block.bloom)

    def _is_refuted(self, block: Block, transfer: Transfer) -> bool:
        """Return whether the header of a log's block proves that it has no such log.

        Some chains show zeros for every block, so these prove something only of a block without
        transactions, or once the chain has shown a bloom.
        """
        if len(block.bloom) != BLOOM_BYTES:
            return False
        if not any(block.bloom):
            return block.is_empty or self._shows_blooms
        padding = bytes(12)
        topics = (
            padding + bytes.fromhex(each[2:]) for each in (transfer.sender, transfer.receiver)
        )
        items = (bytes.fromhex(transfer.token[2:]), _TRANSFER, *topics)
        return not may_contain(block.bloom, items)

    def _refuse(self, transfer: Transfer, reason: str) -> None:
        self._alerts.begin(
            "chain_log_refuted",
            transfer,
            block=transfer.block_number,
            tx_hash=transfer.tx_hash,
            reason=reason,
        )

    def observe(
        self,
        transfers: Iterable[Transfer],
        receivers: Iterable[Receiver],
        known: Sequence[Block] = (),
        *,
        reading: str,
    ) -> list[Observation] | None:
        """Return the transfers that count, with their block's time; None when a block is gone, and
        `reading`, which names what is read, is done again.

        A log that its block's header refutes does not count, nor do another token than the
        invoice's, a zero value, a block that was there before the address was handed out, and a
        block after the monitoring's end. `known` are blocks that were read before.
        """
        owners = {(each.token, each.address): each for each in receivers}
        blocks: dict[int, Block | None] = {block.number: block for block in known}
        seen = []
        for transfer in transfers:
            owner = owners.get((transfer.token, transfer.receiver))
            number = transfer.block_number
            if owner is None or transfer.amount == 0 or number <= owner.after_block:
                continue
            if number not in blocks:
                blocks[number] = self._reader.block(number)
            block = blocks[number]
            if block is None:
                return None
            self._note_bloom(block)
            if block.hash != transfer.block_hash:
                # The chain moved, which the step finds out, or nodes are on several branches.
                if self._doubts(reading, number):
                    return None
                self._refuse(transfer, "its block is not on the chain")
                continue
            if self._is_refuted(block, transfer):
                self._refuse(transfer, "the header's bloom has no such log")
                continue
            if owner.handed_out_at and block.timestamp < owner.handed_out_at - CLOCK_SLACK:
                continue
            block_mark = self.mark(block)
            if block_mark.timestamp <= owner.monitoring_ends_at:
                seen.append(
                    Observation(
                        receiver=owner,
                        block=block_mark,
                        tx_hash=transfer.tx_hash,
                        log_index=transfer.log_index,
                        sender=transfer.sender,
                        amount=transfer.amount,
                    )
                )
        self._doubted.pop(reading, None)
        return seen

    # Where invoices begin.

    def anchor(self, newcomers: Sequence[Newcomer], head: Block) -> dict[str, int]:
        """Return for each newcomer the block right before its first one, by invoice id.

        One is left out while an endpoint may still show the newest block of its creation.
        """
        by_time: dict[datetime, int] = {}
        anchors = {}
        for each in newcomers:
            noted, anchor = each.creation_head, each.creation_block
            if noted is not None:
                if noted > head.number and self._now() - each.created_at < ANCHOR_WAIT:
                    continue
                found = self._reader.block(noted) if noted <= head.number else None
                if found is not None and found.hash == each.creation_head_hash:
                    anchor = noted
            if anchor is None:
                # One search serves all invoices of a minute.
                minute = each.created_at.replace(second=0, microsecond=0)
                if minute not in by_time:
                    by_time[minute] = self._last_block_before(minute - CLOCK_SLACK, head)
                # Dates can be wrong: the block was no higher than the newest one then.
                anchor = by_time[minute] if noted is None else min(noted, by_time[minute])
            anchors[each.receiver.invoice_id] = anchor
        return anchors

    def _last_block_before(self, moment: datetime, head: Block) -> int:
        """Return the last block dated before `moment`, -1 if there is none.

        It looks ever further below the head, because nodes delete the oldest blocks.
        """
        low, high, reach = 0, head.number + 1, 1
        while reach <= head.number:
            block = self._reader.block(head.number - reach)
            if block is not None and block.timestamp < moment:
                low = head.number - reach + 1
                break
            high, reach = head.number - reach, reach * 4
        while low < high:
            middle = (low + high) // 2
            block = head if middle == head.number else self._reader.block(middle)
            if block is not None and block.timestamp < moment:
                low = middle + 1
            else:
                high = middle
        return low - 1


def merge(known: Sequence[Transfer], more: Iterable[Transfer]) -> list[Transfer]:
    """Return the transfers of one answer, and those of another one that it does not show.

    Endpoints may number logs in different ways, so a log with another number is the same one, as
    long as neither answer shows more logs like it.
    """
    merged = list(dict.fromkeys(known))
    others = list(dict.fromkeys(more))
    exact = set(merged) & set(others)
    left = Counter(replace(each, log_index=0) for each in merged if each not in exact)
    for each in others:
        if each not in exact:
            content = replace(each, log_index=0)
            if left[content] > 0:
                left[content] -= 1
            else:
                merged.append(each)
    return merged


def tokens_of(receivers: Iterable[Receiver]) -> list[str]:
    """Return the tokens that the receivers wait for, each once."""
    return sorted({receiver.token for receiver in receivers})


def _chunks(values: Sequence[str] | None, size: int) -> list[Sequence[str] | None]:
    if values is None:
        return [None]
    return [values[start : start + size] for start in range(0, len(values), size)]


def _may_hide(
    block: Block,
    tokens: Sequence[str],
    receivers: Sequence[str] | None,
    transfers: Sequence[Transfer],
) -> bool:
    """Return whether the block's bloom promises a transfer to a receiver without any."""
    if not is_selective(block.bloom, len(tokens if receivers is None else receivers)):
        return False
    shown = {transfer.token for transfer in transfers}
    paid = {transfer.receiver for transfer in transfers}
    for token in tokens:
        log = (bytes.fromhex(token[2:]), _TRANSFER)
        if not may_contain(block.bloom, log):
            continue
        if receivers is None and token not in shown:
            return True
        if any(
            may_contain(block.bloom, (bytes(12) + bytes.fromhex(receiver[2:]),))
            for receiver in receivers or ()
            if receiver not in paid
        ):
            return True
    return False
