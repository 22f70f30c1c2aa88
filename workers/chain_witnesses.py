"""Checks new transfers with a second endpoint, because bloom filters do not cover amounts.

An endpoint that has the block but does not return the transfer disputes it. An endpoint that fails,
or whose head is far below, is not a witness. If an endpoint is a few blocks behind, the transfer
waits for it.
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
"""A transfer waits for an endpoint whose head is at most this many blocks below its block."""
MAX_RECEIPTS = 10
"""The maximum number of receipts per block to request from an endpoint without the logs."""


class Verdict(Enum):
    """The result for one transfer from all endpoints."""

    COUNTS = "counts"
    """Two endpoints return it, or no other endpoint can answer."""
    LAGS = "lags"
    """The only other endpoints that answer do not have its block yet."""
    DISPUTED = "disputed"
    """An endpoint that has the block does not return it, and fewer than two endpoints return it."""


@dataclass(slots=True)
class _Answers:
    """The responses of endpoints about the transfers of one block."""

    shown: Counter[Observation] = field(default_factory=Counter)
    disputed: set[Observation] = field(default_factory=set)
    is_lagging: bool = False


class Witnesses:
    """Asks the other endpoints of a chain about new transfers."""

    def __init__(self, reader: ChainReader, view: ChainView) -> None:
        self._reader = reader
        self._view = view

    def judge(self, new: Iterable[Observation]) -> dict[Observation, Verdict]:
        """Return the verdict for each transfer."""
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
        # The transfer may come only from that other endpoint, so the step's endpoint is asked, too.
        self._ask(block, [each for each in group if answers.shown[each] == 1], answers)
        return {each: _verdict(each, answers) for each in group}

    def _ask(self, block: Block, group: Sequence[Observation], answers: _Answers) -> None:
        """Add the response of the reader's current endpoint."""
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
        """Return the block's logs, or an empty list if the endpoint has another block with its
        number. Raise `BlockMissing` if it has none.
        """
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
        """Return the transfers of one transaction that are in its receipt. This helps if the node's
        log index has gaps.
        """
        tokens = sorted({each.receiver.token for each in group})
        try:
            logs = self._reader.transfers_of(group[0].tx_hash, tokens, block)
        except EndpointsUnavailable:
            return set()
        return find_shown(group, logs or ())


def find_shown(group: Iterable[Observation], logs: Iterable[Transfer]) -> set[Observation]:
    """Return the transfers that are in the logs. Each log matches at most one transfer.

    Endpoints may number the logs of a block differently, so a log with another number also matches
    if there is none with the same number.
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
