"""Faults that are planted in the watcher, to show that the histories of lying nodes detect them.

One or more of each class: wrong amounts, data that a header refutes, removal without proof, a
failing reading that delays others, and wrong events for merchants.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from adapters.chain import parsing, rpc_reader
from adapters.chain.reader import Block, BlockMissing
from adapters.chain.rpc_reader import RpcChainReader
from models.payment import settlement, watching
from models.payment.events import InvoicePaymentReorged, InvoiceReorged
from models.payment.watching import Observation
from workers.chain_books import ChainBooks
from workers.chain_view import ChainView
from workers.chain_watcher import ChainWatcher

Plant = Callable[[pytest.MonkeyPatch], None]


def _count_one_log_of_each_number(patch: pytest.MonkeyPatch) -> None:
    """If logs of two transactions of a block have the same number, the second is dropped."""
    parse = parsing.parse_transfers

    def parse_some(*asked: Any, **more: Any) -> Iterator[Any]:
        seen = set()
        for transfer in parse(*asked, **more):
            if (transfer.block_hash, transfer.log_index) not in seen:
                seen.add((transfer.block_hash, transfer.log_index))
                yield transfer

    patch.setattr(rpc_reader, "parse_transfers", parse_some)


def _count_a_second_reading_again(patch: pytest.MonkeyPatch) -> None:
    """Logs of a second reading are treated as different logs."""
    reread = ChainBooks.reread

    def write(self: ChainBooks, checkpoint: Any, seen: Iterable[Observation], **more: Any) -> int:
        again = [replace(each, log_index=each.log_index + 1000) for each in seen]
        return reread(self, checkpoint, again, **more)

    patch.setattr(ChainBooks, "reread", write)


def _drop_every_fifth_payment(patch: pytest.MonkeyPatch) -> None:
    """A payment is dropped because of its transaction's hash."""
    record = watching.record

    def write(session: Any, chain_id: int, seen: Iterable[Observation], **more: Any) -> set[str]:
        kept = [each for each in seen if int(each.tx_hash, 16) % 5]
        return record(session, chain_id, kept, **more)

    patch.setattr(watching, "record", write)


def _believe_refuted_logs(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ChainView, "_is_refuted", lambda *_: False)


def _take_back_what_an_answer_lacks(patch: pytest.MonkeyPatch) -> None:
    """A null means that a block is gone, and a payment missing in a response is dropped."""

    def find(
        self: ChainWatcher, head: Any, base: Any, blocks: Any, seen: Iterable[Observation], **_: Any
    ) -> set[str]:
        shown = {each.block.hash for each in seen}
        return {each.block_hash for each in self._books.paid_above(base.number)} - shown

    read = RpcChainReader.block

    def block(self: RpcChainReader, number: int) -> Block | None:
        try:
            return read(self, number)
        except BlockMissing:
            return None

    patch.setattr(RpcChainReader, "block", block)
    patch.setattr(ChainWatcher, "_find_dropped", find)


def _never_give_up(patch: pytest.MonkeyPatch) -> None:
    """Invoices that cannot be read are read before the new ones, forever."""
    read = ChainWatcher._read_alone

    def serve(
        self: ChainWatcher, head: Any, checkpoint: Any, newcomers: Any, *, in_turn: bool
    ) -> bool:
        old = [each for each in newcomers if each.is_rereading]
        if old:
            read(self, head, checkpoint, old)
            return True
        return self._catch_up(head, checkpoint, newcomers) if newcomers else False

    patch.setattr(ChainWatcher, "_serve", serve)
    patch.setattr(ChainWatcher, "_try_give_up", lambda *_: False)


def _leave_out(event: type) -> Plant:
    """One kind of event is not sent to merchants."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        events = settlement._events

        def some(*asked: Any, **more: Any) -> Iterator[Any]:
            return (each for each in events(*asked, **more) if type(each) is not event)

        patch.setattr(settlement, "_events", some)

    return plant


MUTANTS: Mapping[str, Plant] = {
    "counted: one log of each number": _count_one_log_of_each_number,
    "counted: twice": _count_a_second_reading_again,
    "counted: dropped": _drop_every_fifth_payment,
    "refuted: believed": _believe_refuted_logs,
    "taken back: without proof": _take_back_what_an_answer_lacks,
    "progress: held up": _never_give_up,
    "told: no payment taken off": _leave_out(InvoicePaymentReorged),
    "told: paid left in silence": _leave_out(InvoiceReorged),
}
