"""Reads blocks and transfers for a watcher's step, in requests that the endpoint accepts, and
computes block ranges. Writes nothing.
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
"""A stored block is this near to the head, so that reorganizations up to this depth can be walked
back to it.
"""

NEAR = 4
"""The maximum number of new blocks that are read one by one, each by its hash."""

SPAN = 1000
REQUESTS = 24
"""A step makes one request for logs, or up to `REQUESTS` if together they span at most `SPAN`
blocks. So the fixed cost of a step is shared by many blocks even if requests are narrow.
"""

CLOCK_SLACK = timedelta(minutes=2)
"""The tolerated difference between two clocks (ours and the chain's, or those of two branches) if
only time separates an invoice's transfers from older ones.
"""

ANCHOR_WAIT = timedelta(seconds=30)
"""How long an invoice waits until an endpoint has the block that was the newest at its creation."""

DOUBTS = 3
"""How often a reading is repeated because headers and logs are inconsistent."""
_BY_HASH = "blocks by hash"

_TRANSFER = bytes.fromhex(TRANSFER_TOPIC[2:])


class ChainView:
    """A view of one chain through one reader. Every method may raise EndpointsUnavailable."""

    def __init__(self, reader: ChainReader, now: Callable[[], datetime], alerts: Alerts) -> None:
        self._reader = reader
        self._now = now
        self._alerts = alerts
        self._requests = REQUESTS
        self._doubted: Counter[str] = Counter()
        self._shows_blooms = False

    # Blocks.

    def mark(self, block: Block) -> BlockMark:
        """Convert a block for the database.

        A timestamp in the future is replaced with the current time, because test chains can jump in
        time, and a payment that was seen before an invoice's expiry is not late.
        """
        return BlockMark(block.number, block.hash, min(block.timestamp, self._now()))

    def span(self, *, everywhere: bool = False) -> int:
        """Return how many blocks a step reads. `everywhere`: whether it uses all endpoints."""
        width = self._reader.narrowest if everywhere else self._reader.limits.width
        return width * max(1, min(self._requests, SPAN // width))

    def note_step(self, *, is_done: bool) -> None:
        """Record the outcome of a step. After a failure the next step is small, then they grow.

        A failed request fails the complete step, so a long step would never succeed if requests
        fail sporadically.
        """
        self._requests = min(REQUESTS, self._requests * 2) if is_done else 1

    def tip(self, head: Block, base: BlockMark, *, exactly: bool = False) -> Block | None:
        """Return the last block to read from `base` in one step, at most the head, or None if the
        chain became shorter.

        If a step of more than `SHALLOW` blocks would reach the head, it ends `SHALLOW` blocks
        before the head, so that there is a checkpoint to walk back to, unless `exactly` is true.
        """
        last = min(head.number, base.number + self.span())
        if last == head.number and last - base.number > SHALLOW and not exactly:
            last = head.number - SHALLOW
        return head if last == head.number else self._reader.block(last)

    def links(self, head: Block, base: BlockMark) -> list[Block] | None:
        """Return the blocks above `base` up to `head`, each the parent of the next.

        Return an empty list if there are more than `NEAR` or the headers have no parent hashes.
        Return None if the parents do not lead to `base`.
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
        """Return linked blocks without the last one, the head, if the endpoint returns another
        block or none for the head's number.
        """
        with suppress(BlockMissing):
            if self.is_canonical(linked[-1]):
                return linked
        return linked[:-1]

    def ends(self, head: Block) -> tuple[BlockMark | None, BlockMark] | None:
        """Return block 0 and the first checkpoint, which is `SHALLOW` blocks below the head.

        Return None if the chain changed meanwhile. Block 0 is None if the endpoint has pruned it.
        """
        start = self._reader.block(max(0, head.number - SHALLOW))
        if start is None or not self.is_canonical(head):
            return None
        genesis = self._reader.genesis()
        return None if genesis is None else self.mark(genesis), self.mark(start)

    def is_canonical(self, block: Block | BlockMark) -> bool:
        """Return whether this block is on the current chain."""
        found = self._reader.block(block.number)
        return found is not None and found.hash == block.hash

    def newest_canonical(self, known: Sequence[BlockMark]) -> BlockMark | None:
        """Return the last of `known` (oldest first) that is on the chain, or None if none is.

        A binary search is possible, because the ancestors of a canonical block are canonical.
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
        """Return the transfers of the tokens to the receivers in the blocks. If `receivers` is
        None, return transfers to all addresses.

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
        """Return the transfers in linked blocks, each read by its hash.

        Return None if a block's bloom filter indicates more transfers, so that it must be read
        again later. Raise `BlockUnreadable`.
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
        """Return the transfers in one block, read by its hash. Raise `BlockUnreadable`."""
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
        """Return the combined transfers from all endpoints that have `base` on their chain.

        Endpoints that do not answer are skipped. Raise `EndpointsUnavailable` if none answers.
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
        """Return the first block from `first` to `base` from which on logs are available at an
        endpoint, because nodes delete the oldest logs. Return the number after `base` if no logs
        are available.
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
        """Return the tokens whose logs no endpoint returns for the block `base`. Return an empty
        list if that is true for all tokens.
        """
        some = None if receivers is None else receivers[:1]
        failing = [each for each in tokens if not self.can_read(each, some, base)]
        return failing if len(failing) < len(tokens) else []

    def can_read(self, token: str, receivers: Sequence[str] | None, base: BlockMark) -> bool:
        """Return whether an endpoint returns a token's logs for the block `base`."""
        try:
            self.read_everywhere([token], receivers, base.number, base.number, base)
        except (EndpointsUnavailable, RangeTooLarge):
            return False
        return True

    def _doubts(self, reading: str, number: int) -> bool:
        """Return whether to repeat a reading because the header and logs of a block are
        inconsistent. The number of repetitions is limited for all blocks together.
        """
        self._doubted[reading] += 1
        self._alerts.warn("chain_logs_missing", number, block=number)
        return self._doubted[reading] <= DOUBTS

    def _note_bloom(self, block: Block) -> None:
        self._shows_blooms = self._shows_blooms or any(block.bloom)

    def _is_refuted(self, block: Block, transfer: Transfer) -> bool:
        """Return whether the header of a log's block proves that the block has no such log.

        Some chains have an empty bloom filter in every block. So an empty filter proves something
        only if the block has no transactions or another block had a non-empty filter.
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
        """Return the transfers that count, with the time of their block. Return None if a block is
        gone or inconsistent with its logs, so that the reading must be repeated. `reading` is the
        name under which repetitions are counted.

        A transfer does not count if the header of its block excludes it, the token is not the
        invoice's, the value is zero, or the block is from before the address was assigned or after
        the end of the monitoring. `known` are blocks that have already been read.
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
                # The chain changed, which the step detects, or nodes are on different branches.
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

    # The first blocks of invoices.

    def anchor(self, newcomers: Sequence[Newcomer], head: Block) -> dict[str, int]:
        """Return the number of the block before each newcomer's first block, by invoice id.

        A newcomer is omitted while an endpoint may still get the block that was the newest at its
        creation.
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
                # All invoices of a minute share one search.
                minute = each.created_at.replace(second=0, microsecond=0)
                if minute not in by_time:
                    by_time[minute] = self._last_block_before(minute - CLOCK_SLACK, head)
                # Timestamps can be wrong, so the newest block at the creation is an upper limit.
                anchor = by_time[minute] if noted is None else min(noted, by_time[minute])
            anchors[each.receiver.invoice_id] = anchor
        return anchors

    def _last_block_before(self, moment: datetime, head: Block) -> int:
        """Return the number of the last block before `moment`, or -1 if there is none.

        The search starts at the head, because nodes delete the oldest blocks.
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
    """Return the transfers of one response, and those of another response that it does not contain.

    Endpoints may number logs differently. So logs that differ only in their number are the same,
    unless one of the responses has more logs with this content.
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
    """Return the distinct tokens of the receivers, sorted."""
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
    """Return whether the block's bloom filter indicates a transfer that is not in `transfers`."""
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
