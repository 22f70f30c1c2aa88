"""Whether a second endpoint shows a transfer, too: a header's bloom does not cover amounts.

An endpoint that has the block and does not show the transfer disputes it. One that fails, or whose
head is far below, is not a witness. One that is a few blocks behind will be, so the transfer waits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from enum import Enum

from adapters.chain.reader import (
    Block,
    BlockMissing,
    BlockUnreadable,
    ChainReader,
    EndpointsUnavailable,
    RangeTooLarge,
    Transfer,
)
from models.payment.checkpoints import BlockMark
from models.payment.watching import Observation
from workers.chain_view import ChainView

NEAR_HEAD = 8
"""An endpoint that is at most so many blocks below a transfer's block will soon be its witness."""
MAX_RECEIPTS = 10
"""How many receipts of one block are requested from an endpoint that does not show the logs."""


class Verdict(Enum):
    """What the endpoints together say of one transfer."""

    COUNTS = "counts"
    """Two endpoints show it, or no other endpoint can answer."""
    LAGS = "lags"
    """The only other endpoints that answer do not have its block yet."""
    DISPUTED = "disputed"
    """One endpoint shows it, and another one that is as far does not."""


@dataclass(slots=True)
class _Answers:
    """What endpoints said of the transfers of one block."""

    shown: Counter[Observation] = field(default_factory=Counter)
    disputed: set[Observation] = field(default_factory=set)
    is_lagging: bool = False


class Witnesses:
    """Asks the endpoints of one chain about transfers that are new."""

    def __init__(self, reader: ChainReader, view: ChainView) -> None:
        self._reader = reader
        self._view = view

    def judge(self, new: Iterable[Observation]) -> dict[Observation, Verdict]:
        """Return the verdict on each of the transfers."""
        by_block: dict[BlockMark, list[Observation]] = {}
        for each in new:
            by_block.setdefault(each.block, []).append(each)
        verdicts: dict[Observation, Verdict] = {}
        for mark, group in by_block.items():
            verdicts |= self._judge(Block(mark.number, mark.hash, mark.timestamp), group)
        return verdicts

    def _judge(self, block: Block, group: Sequence[Observation]) -> dict[Observation, Verdict]:
        answers = _Answers()
        with closing(self._reader.others(block.number - NEAR_HEAD)) as others:
            for head in others:
                if head.number < block.number:
                    answers.is_lagging = True
                else:
                    self._ask(block, group, answers)
        # The other endpoint may be the only one that shows it.
        self._ask(block, [each for each in group if answers.shown[each] == 1], answers)
        return {each: _verdict(each, answers) for each in group}

    def _ask(self, block: Block, group: Sequence[Observation], answers: _Answers) -> None:
        """Add the answer of the reader's endpoint."""
        if not group:
            return
        try:
            logs = self._read(block, group)
        except BlockMissing:
            answers.is_lagging = True
            return
        except (EndpointsUnavailable, RangeTooLarge):
            return
        shown = find_shown(group, logs)
        missing = [each for each in group if each not in shown]
        for tx_hash in list(dict.fromkeys(each.tx_hash for each in missing))[:MAX_RECEIPTS]:
            shown |= self._find_in_receipt(block, [e for e in missing if e.tx_hash == tx_hash])
        answers.shown.update(shown)
        answers.disputed |= set(group) - shown

    def _read(self, block: Block, group: Sequence[Observation]) -> list[Transfer]:
        """Return the block's logs; none if the endpoint has another block with its number."""
        tokens = sorted({each.receiver.token for each in group})
        receivers = sorted({each.receiver.address for each in group})
        try:
            return self._view.read_block(tokens, receivers, block)
        except BlockUnreadable:
            found = self._reader.block(block.number)
        if found is None:
            raise BlockMissing(f"no block {block.number}")
        if found.hash != block.hash:
            return []
        logs = self._view.read(tokens, receivers, block.number, block.number)
        return [each for each in logs if each.block_hash == block.hash]

    def _find_in_receipt(self, block: Block, group: Sequence[Observation]) -> set[Observation]:
        """Return those of a transaction that its receipt shows: an index of logs may have gaps."""
        tokens = sorted({each.receiver.token for each in group})
        try:
            logs = self._reader.transfers_of(group[0].tx_hash, tokens, block)
        except EndpointsUnavailable:
            return set()
        return find_shown(group, logs or ())


def find_shown(group: Iterable[Observation], logs: Iterable[Transfer]) -> set[Observation]:
    """Return the transfers that the logs contain, each log being one transfer at most.

    Endpoints may number the logs of a block in different ways, so the number is only preferred.
    """
    numbered = {(_content_of(each), each.log_index) for each in logs}
    shown = {each for each in group if (_content(each), each.log_index) in numbered}
    left = Counter(content for content, _ in numbered)
    left.subtract(_content(each) for each in shown)
    for each in group:
        if each not in shown and left[_content(each)] > 0:
            left[_content(each)] -= 1
            shown.add(each)
    return shown


def _verdict(each: Observation, answers: _Answers) -> Verdict:
    if answers.shown[each] >= 2:
        return Verdict.COUNTS
    if each in answers.disputed:
        return Verdict.DISPUTED
    if answers.is_lagging and not answers.shown[each]:
        return Verdict.LAGS
    return Verdict.COUNTS


def _content(each: Observation) -> tuple[object, ...]:
    receiver = each.receiver
    return (each.tx_hash, receiver.token, each.sender, receiver.address, each.amount)


def _content_of(each: Transfer) -> tuple[object, ...]:
    return (each.tx_hash, each.token, each.sender, each.receiver, each.amount)
