"""What a watcher's step asks a chain, in questions that its endpoint accepts, and the arithmetic of
blocks. Writes nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from adapters.chain.reader import Block, ChainReader, RangeTooLarge, Transfer
from models.payment import receivers
from models.payment.checkpoints import BlockMark
from models.payment.receivers import Newcomer, Receiver
from models.payment.watching import Observation

SHALLOW = 64
"""Reorganisations up to this depth are walked back to a checkpoint of ours that lies this near."""

REREAD = 4
"""Blocks below the base that a question includes again where there is room. Behind one URL may be
several nodes: the one asked for logs may lack the newest block that the others have."""

CLOCK_SLACK = timedelta(hours=1)
"""How far a chain's clock may be behind ours without an invoice's start being taken too late."""


RECEIVERS_AT_ONCE = 100
GROW_AFTER = 8


class TransferScan:
    """The widest question the endpoint took lately, and how to ask within it.

    `width` is in blocks. It is halved when the endpoint refuses, and doubled back towards `widest`
    after a row of full-width answers, so that one bad hour does not slow the watcher for ever.
    """

    def __init__(self, reader: ChainReader, *, widest: int) -> None:
        self.width = self.widest = widest
        self._reader = reader
        self.takes_whole_token = True
        self._at_once = RECEIVERS_AT_ONCE
        self._successes = 0

    def read(
        self, wanted: Mapping[str, Sequence[str] | None], first: int, last: int
    ) -> list[Transfer]:
        """The transfers of each token, to its receivers (None: to anybody), in blocks first..last.

        Raises RangeTooLarge after making the next question smaller: fewer blocks, then no whole
        tokens, then fewer receivers. Raises `Exhausted` when nothing smaller can be asked.
        """
        try:
            found = [
                transfer
                for token, receivers in wanted.items()
                for chunk in self._chunks(receivers)
                for transfer in self._reader.transfers(token, chunk, first, last)
            ]
        except RangeTooLarge:
            self._narrow(last - first + 1, whole_token=None in wanted.values())
            raise
        self._widen(last - first + 1)
        return found

    def _chunks(self, receivers: Sequence[str] | None) -> list[Sequence[str] | None]:
        if receivers is None:
            return [None]
        return [
            receivers[start : start + self._at_once]
            for start in range(0, len(receivers), self._at_once)
        ]

    def _narrow(self, tried: int, *, whole_token: bool) -> None:
        self._successes = 0
        if tried > 1:
            self.width = tried // 2
        elif whole_token:
            self.takes_whole_token = False
        elif self._at_once > 1:
            self._at_once = max(1, self._at_once // 2)
        else:
            raise Exhausted("the endpoint refuses one block and one receiver") from None

    def _widen(self, asked: int) -> None:
        self._successes = self._successes + 1 if asked >= self.width else self._successes
        if self._successes >= GROW_AFTER and self.width < self.widest:
            self.width = min(self.widest, self.width * 2)
            self._successes = 0


class Exhausted(Exception):
    """Even the smallest question is too large for the endpoint."""


class ChainView:
    """One chain through one reader. Every method may raise EndpointsUnavailable."""

    def __init__(self, reader: ChainReader, *, widest: int) -> None:
        self._reader = reader
        self.scan = TransferScan(reader, widest=widest)

    def read(
        self, wanted: Mapping[str, Sequence[str] | None], first: int, last: int
    ) -> list[Transfer]:
        """See TransferScan.read. May raise RangeTooLarge."""
        return self.scan.read(wanted, first, last)

    def tip(self, head: Block, base: BlockMark, *, exactly: bool = False) -> Block | None:
        """The block to read up to from `base`: as far as one question reaches, at most the head.

        A leap stops `SHALLOW` blocks before the head, so that a checkpoint lies there to walk back
        to; `exactly` forbids that. None when the chain became shorter.
        """
        last = min(head.number, base.number + self.scan.width)
        if last == head.number and last - base.number > SHALLOW and not exactly:
            last = head.number - SHALLOW
        return head if last == head.number else self._reader.block(last)

    def first(self, base: BlockMark, tip: Block) -> int:
        """The block to read from to `tip`: right above `base`, or a few that were read already."""
        return max(0, tip.number + 1 - self.scan.width, base.number + 1 - REREAD)

    def ends(self, head: Block) -> tuple[Block, Block] | None:
        """Block 0, and the block to begin with: a little below the head, to walk back to."""
        genesis, start = self._reader.block(0), self._reader.block(max(0, head.number - SHALLOW))
        if genesis is None or start is None or not self.is_canonical(head):
            return None
        return genesis, start

    def is_canonical(self, block: Block | BlockMark) -> bool:
        """Is this block on the chain as it is now?"""
        found = self._reader.block(block.number)
        return found is not None and found.hash == block.hash

    def newest_canonical(self, known: Sequence[BlockMark]) -> BlockMark | None:
        """The last of `known` (oldest first) that is on the chain.

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

    def observe(
        self, transfers: Iterable[Transfer], receivers: Iterable[Receiver]
    ) -> list[Observation] | None:
        """The transfers that count, with their block's time; None when a block is no longer there.

        Another token than the invoice's, a zero value, and a block after the monitoring's end do
        not count.
        """
        owners = {(each.token, each.address): each for each in receivers}
        blocks: dict[int, Block | None] = {}
        seen = []
        for transfer in transfers:
            owner = owners.get((transfer.token, transfer.receiver))
            if owner is None or transfer.amount == 0:
                continue
            number = transfer.block_number
            if number not in blocks:
                blocks[number] = self._reader.block(number)
            block = blocks[number]
            if block is None or block.hash != transfer.block_hash:
                return None
            if block.timestamp <= owner.monitoring_ends_at:
                seen.append(
                    Observation(
                        receiver=owner,
                        block=mark(block),
                        tx_hash=transfer.tx_hash,
                        log_index=transfer.log_index,
                        sender=transfer.sender,
                        amount=transfer.amount,
                    )
                )
        return seen

    def starts(self, newcomers: Sequence[Newcomer], base: BlockMark) -> dict[str, int]:
        """The first block to read for each newcomer, by invoice id."""
        unknown = [each.created_at for each in newcomers if _start(each, base) is None]
        by_time = self._first_block_since(min(unknown), base) if unknown else 0
        starts = {}
        for each in newcomers:
            start = _start(each, base)
            starts[each.receiver.invoice_id] = by_time if start is None else start
        return starts

    def _first_block_since(self, moment: datetime, base: BlockMark) -> int:
        """The first block dated after `moment` less some slack; a short chain is read whole."""
        low, high = 0, base.number
        if high < self.scan.width:
            return 0
        while low < high:
            middle = (low + high) // 2
            block = self._reader.block(middle)
            if block is not None and block.timestamp < moment - CLOCK_SLACK:
                low = middle + 1
            else:
                high = middle
        return low


def by_token(receivers: Iterable[Receiver]) -> dict[str, list[str]]:
    """Receiving addresses by the token they wait for."""
    addresses: defaultdict[str, list[str]] = defaultdict(list)
    for receiver in receivers:
        addresses[receiver.token].append(receiver.address)
    return addresses


def mark(block: Block) -> BlockMark:
    """A block of the chain as our books name it."""
    return BlockMark(block.number, block.hash, block.timestamp)


def _start(newcomer: Newcomer, base: BlockMark) -> int | None:
    if newcomer.catch_up_block != receivers.NEVER_LOOKED_AT:
        return newcomer.catch_up_block
    if newcomer.creation_block is None:
        return None
    return max(0, min(newcomer.creation_block, base.number) - SHALLOW)
