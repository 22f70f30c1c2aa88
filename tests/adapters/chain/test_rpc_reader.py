"""The reader with endpoints that hang, lie, lag and limit."""

import logging
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime

import pytest
import structlog

from adapters.chain import json_rpc, node
from adapters.chain.reader import (
    Block,
    BlockUnreadable,
    ChainReplaced,
    EndpointsBehind,
    EndpointsUnavailable,
    RangeTooLarge,
)
from adapters.chain.rpc_reader import RpcChainReader
from tests.adapters.chain.rpc_endpoint import (
    Answers,
    FakeEndpoint,
    Question,
    block,
    healthy,
    serving,
    transfer_log,
)
from tests.adapters.chain.test_gateway import ILL

TIMEOUT_S = 1.0
TOKEN = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
OTHER_TOKEN = "0xDc64a140Aa3E981100a9becA4E685f962f0cF6C9"
ANNA = "0x00000000000000000000000000000000000000A1"
BELA = "0x00000000000000000000000000000000000000b2"


class Readers:
    """Creates endpoints and readers, and closes all at the end."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def endpoint(self, answers: Answers, *, secret: str = "") -> FakeEndpoint:
        return self._stack.enter_context(serving(answers, secret=secret))

    def over(
        self,
        *endpoints: FakeEndpoint | str,
        chain_id: int = 31337,
        checkpoint: int = 0,
        genesis: str | None = None,
    ) -> RpcChainReader:
        urls = [each if isinstance(each, str) else each.url for each in endpoints]
        reader = RpcChainReader(
            urls, chain_id, TIMEOUT_S, lambda: checkpoint, genesis=lambda: genesis
        )
        self._stack.callback(reader.close)
        return reader

    def over_node(self, answers: Answers) -> RpcChainReader:
        """Return a reader whose step is open on one node."""
        reader = self.over(self.endpoint(answers))
        reader.head()
        return reader


@pytest.fixture
def readers() -> Iterator[Readers]:
    with ExitStack() as stack:
        yield Readers(stack)


def with_logs(answer: Answers, *, height: int = 100) -> Answers:
    """Return a healthy node with `answer` as the response to eth_getLogs."""
    node = healthy(height=height)
    return lambda question: (answer if question.method == "eth_getLogs" else node)(question)


def other_chain(height: int) -> Answers:
    """Return a healthy node of another chain with the same id."""

    def answer(question: Question) -> None:
        if question.method != "eth_getBlockByNumber":
            return healthy(height=height)(question)
        at = question.params[0]
        number = height if at == "latest" else int(at, 16)
        return question.result({**block(number), "hash": "0x" + "e" * 63 + f"{number % 16:x}"})

    return answer


class TestHead:
    def test_reads_the_newest_block(self, readers: Readers) -> None:
        reader = readers.over(readers.endpoint(healthy(height=7)))
        stamp = datetime.fromtimestamp(1_800_000_007, UTC)
        assert reader.head() == Block(7, f"0x{7:064x}", stamp)

    @pytest.mark.parametrize("illness", ILL)
    def test_second_endpoint_is_used_if_the_first_is_faulty(
        self, illness: str, readers: Readers
    ) -> None:
        reader = readers.over(readers.endpoint(ILL[illness]), readers.endpoint(healthy(height=5)))
        assert reader.head().number == 5

    @pytest.mark.parametrize("illness", ILL)
    def test_fails_in_time_if_the_only_endpoint_is_faulty(
        self, illness: str, readers: Readers
    ) -> None:
        reader = readers.over(readers.endpoint(ILL[illness]))
        started = time.monotonic()
        with pytest.raises(EndpointsUnavailable):
            reader.head()
        # The first call also imports web3.
        assert time.monotonic() - started < 2 * TIMEOUT_S + 8

    def test_failed_endpoint_is_skipped_for_a_while(self, readers: Readers) -> None:
        hanging, second = readers.endpoint(Question.hang), readers.endpoint(healthy())
        reader = readers.over(hanging, second)
        for _ in range(5):
            reader.head()
        assert len(hanging.asked) == 1

    def test_skipped_endpoint_is_called_if_the_others_fail(self, readers: Readers) -> None:
        first, second = readers.endpoint(Question.cut), readers.endpoint(healthy(height=5))
        reader = readers.over(first, second)
        assert reader.head().number == 5
        first.answers, second.answers = healthy(height=6), Question.cut
        assert reader.head().number == 6

    def test_first_endpoint_is_preferred_after_its_recovery(self, readers: Readers) -> None:
        first, second = readers.endpoint(Question.cut), readers.endpoint(healthy(height=5))
        reader = readers.over(first, second)
        reader.head()
        first.answers, second.answers = healthy(height=6), Question.cut
        reader.head()
        second.answers = healthy(height=5)
        assert reader.head().number == 6

    @pytest.mark.parametrize("stranger", [1, 80002])
    def test_endpoint_of_another_chain_is_not_used(self, stranger: int, readers: Readers) -> None:
        wrong = readers.endpoint(healthy(chain_id=stranger, height=9))
        with pytest.raises(EndpointsUnavailable, match=f"reports chain id {stranger}"):
            readers.over(wrong).head()
        assert readers.over(wrong, readers.endpoint(healthy(height=5))).head().number == 5

    def test_main_net_is_not_used(self, readers: Readers) -> None:
        endpoint = readers.endpoint(healthy(chain_id=1))
        with pytest.raises(EndpointsUnavailable):
            readers.over(endpoint, chain_id=1).head()
        assert endpoint.asked == []

    def test_endpoint_behind_the_checkpoint_is_not_used(self, readers: Readers) -> None:
        behind, level = readers.endpoint(healthy(height=4)), readers.endpoint(healthy(height=5))
        assert readers.over(behind, level, checkpoint=5).head().number == 5
        with pytest.raises(EndpointsBehind):
            readers.over(behind, checkpoint=5).head()

    def test_lagging_and_failing_endpoints_are_distinguished(self, readers: Readers) -> None:
        behind, broken = readers.endpoint(healthy(height=4)), readers.endpoint(Question.cut)
        with pytest.raises(EndpointsUnavailable) as failure:
            readers.over(behind, broken, checkpoint=5).head()
        assert not isinstance(failure.value, EndpointsBehind)

    def test_chain_id_is_checked_periodically(
        self, readers: Readers, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        endpoint = readers.endpoint(healthy())
        reader = readers.over(endpoint)
        for _ in range(5):
            reader.head()
        assert endpoint.asked.count("eth_chainId") == 1
        endpoint.answers = healthy(chain_id=1)
        monkeypatch.setattr(node, "IDENTIFY_S", 0.0)
        reader._nodes[0]._identified_until = 0.0
        with pytest.raises(EndpointsUnavailable):
            reader.head()

    def test_chain_id_is_checked_after_a_failure(self, readers: Readers) -> None:
        endpoint = readers.endpoint(healthy())
        reader = readers.over(endpoint)
        reader.head()
        endpoint.answers = Question.cut
        with pytest.raises(EndpointsUnavailable):
            reader.head()
        endpoint.answers = healthy(chain_id=1)
        with pytest.raises(EndpointsUnavailable, match="reports chain id 1"):
            reader.head()

    def test_endpoint_with_another_block_0_is_not_used(self, readers: Readers) -> None:
        right, stranger = readers.endpoint(healthy(height=5)), readers.endpoint(other_chain(9))
        genesis = f"0x{0:064x}"
        assert readers.over(stranger, right, genesis=genesis).head().number == 5
        with pytest.raises(ChainReplaced):
            readers.over(stranger, genesis=genesis).head()
        with pytest.raises(EndpointsUnavailable) as failure:
            readers.over(stranger, readers.endpoint(Question.cut), genesis=genesis).head()
        assert not isinstance(failure.value, ChainReplaced), "the right endpoint may be unavailable"

    @pytest.mark.parametrize(
        "refuse",
        [
            lambda question: question.error(4444, "pruned history unavailable"),
            lambda question: question.result(None),
        ],
    )
    def test_endpoint_that_has_pruned_block_0_is_used(
        self, refuse: Answers, readers: Readers
    ) -> None:
        whole = healthy(height=5)

        def pruned(question: Question) -> None:
            (refuse if question.params[:1] == ["0x0"] else whole)(question)

        reader = readers.over(readers.endpoint(pruned), genesis="0x" + "1" * 64)
        assert reader.head().number == 5
        assert reader.genesis() is None

    @pytest.mark.parametrize(
        "busy",
        [
            lambda question: question.body(b"{}", status=429, Retry_After="60"),
            lambda question: question.error(429, "slow down"),
        ],
        ids=["HTTP", "JSON-RPC"],
    )
    def test_retry_after_is_respected(self, busy: Answers, readers: Readers) -> None:
        endpoint = readers.endpoint(busy)
        reader = readers.over(endpoint)
        for _ in range(11):
            with pytest.raises(EndpointsUnavailable):
                reader.head()
        assert len(endpoint.asked) == 1

    def test_other_endpoints_are_used_in_turn(self, readers: Readers) -> None:
        first, lagging = readers.endpoint(healthy(height=5)), readers.endpoint(healthy(height=3))
        broken, other = readers.endpoint(Question.cut), readers.endpoint(healthy(height=7))
        reader = readers.over(first, lagging, broken, other, checkpoint=5)
        reader.head()
        assert [(head.number, reader.block(7) is None) for head in reader.others()] == [(7, False)]
        assert reader.block(7) is None, "the step's endpoint is called last"

    def test_other_endpoints_are_asked_for_a_missing_block(self, readers: Readers) -> None:
        keeping, lagging = readers.endpoint(healthy(height=99)), readers.endpoint(healthy(height=9))
        other = readers.endpoint(other_chain(100))
        reader = readers.over(other, lagging, keeping)
        reader.head()
        assert reader.is_kept_elsewhere(50, f"0x{50:064x}")
        assert reader.head().number == 99, "the endpoint with the block is used from now on"
        reader = readers.over(other, lagging)
        reader.head()
        assert not reader.is_kept_elsewhere(5, f"0x{5:064x}"), "a lagging endpoint does not count"

    def test_endpoint_with_the_block_is_used_despite_an_earlier_failure(
        self, readers: Readers
    ) -> None:
        keeping, other = readers.endpoint(Question.cut), readers.endpoint(other_chain(100))
        reader = readers.over(keeping, other)
        assert reader.head().number == 100
        keeping.answers = healthy(height=99)
        assert reader.is_kept_elsewhere(50, f"0x{50:064x}")
        assert reader.head().number == 99

    def test_endpoint_of_the_majority_is_used_despite_an_earlier_failure(
        self, readers: Readers
    ) -> None:
        alone = readers.endpoint(other_chain(100))
        some = [readers.endpoint(Question.cut) for _ in range(2)]
        reader = readers.over(*some, alone)
        assert reader.head().number == 100
        for each in some:
            each.answers = healthy(height=99)
        own = reader.block(50)
        assert own is not None
        assert reader.is_disputed(50, own.hash)
        assert reader.head().number == 99

    @pytest.mark.parametrize(
        "wrong",
        [
            {"number": None},
            {"hash": "0x12"},
            {"timestamp": "0x" + "f" * 30},
            {"number": "0x" + "f" * 30},
        ],
    )
    def test_malformed_block_is_rejected(self, wrong: dict[str, object], readers: Readers) -> None:
        def answer(question: Question) -> None:
            if question.method == "eth_chainId":
                return question.result("0x7a69")
            good = {"number": "0x1", "hash": "0x" + "1" * 64, "timestamp": "0x1"}
            return question.result({**good, **wrong})

        with pytest.raises(EndpointsUnavailable):
            readers.over(readers.endpoint(answer)).head()

    def test_key_is_not_shown(self, readers: Readers, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)
        endpoint = readers.endpoint(Question.cut, secret="v3/s3cr3t?k=s3cr3t")
        reader = readers.over(endpoint.url.replace("//", "//u:s3cr3t@"), "http://[bad/s3cr3t")
        with structlog.testing.capture_logs() as lines, pytest.raises(EndpointsUnavailable) as all_:
            reader.head()
        assert "127.0.0.1" in str(all_.value)
        assert "s3cr3t" not in caplog.text
        assert "s3cr3t" not in f"{lines} {all_.value!r} {all_.value.__context__!r}"


class TestBlock:
    def test_none_above_the_head(self, readers: Readers) -> None:
        assert readers.over_node(healthy(height=5)).block(6) is None

    def test_requires_an_open_step(self, readers: Readers) -> None:
        with pytest.raises(EndpointsUnavailable):
            readers.over(readers.endpoint(healthy())).block(1)

    def test_endpoint_of_the_step_is_used(self, readers: Readers) -> None:
        first, second = readers.endpoint(healthy()), readers.endpoint(healthy())
        reader = readers.over(first, second)
        reader.head()
        first.answers = Question.cut
        with pytest.raises(EndpointsUnavailable):
            reader.block(5)
        assert second.asked == []
        reader.head()
        assert reader.block(5) is not None

    def test_other_block_than_requested_is_rejected(self, readers: Readers) -> None:
        node = healthy()
        endpoint = readers.endpoint(node)
        reader = readers.over(endpoint)
        reader.head()
        liar = Question.result
        endpoint.answers = lambda question: liar(
            question, {"number": "0x9", "hash": "0x" + "1" * 64, "timestamp": "0x1"}
        )
        with pytest.raises(EndpointsUnavailable):
            reader.block(5)


class TestTransfers:
    def test_transfers_are_in_chain_order_without_duplicates(self, readers: Readers) -> None:
        late = transfer_log(TOKEN, ANNA, 5, 9, 1)
        early = transfer_log(TOKEN, BELA, 2**256 - 1, 8, 4)
        found = readers.over_node(healthy(logs=[late, early, late])).transfers([TOKEN], None, 1, 10)
        assert [(each.receiver, each.amount, each.block_number) for each in found] == [
            (BELA, 2**256 - 1, 8),
            (ANNA, 5, 9),
        ]
        assert found[0].token == TOKEN
        assert found[0].sender == "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
        assert found[0].block_hash == f"0x{8:064x}"
        assert found[0].log_index == 4

    def test_logs_of_two_transactions_with_the_same_number_are_distinguished(
        self, readers: Readers
    ) -> None:
        one = transfer_log(TOKEN, ANNA, 6, 9, 0)
        other = {**transfer_log(TOKEN, ANNA, 4, 9, 1), "logIndex": "0x0"}
        reader = readers.over_node(healthy(logs=[one, other, one, other]))
        assert [each.amount for each in reader.transfers([TOKEN], [ANNA], 1, 10)] == [6, 4]

    def test_transfers_to_other_receivers_are_dropped(self, readers: Readers) -> None:
        logs = [transfer_log(TOKEN, ANNA, 1, 1, 0), transfer_log(TOKEN, BELA, 2, 1, 1)]
        reader = readers.over_node(healthy(logs=logs))
        assert [each.amount for each in reader.transfers([TOKEN], [BELA], 1, 10)] == [2]

    def test_no_receivers_need_no_request(self, readers: Readers) -> None:
        assert readers.over_node(with_logs(Question.cut)).transfers([TOKEN], [], 1, 10) == []

    def test_other_logs_than_erc20_transfers_are_skipped(self, readers: Readers) -> None:
        good = transfer_log(TOKEN, ANNA, 1, 1, 0)
        nft = {**good, "topics": [*good["topics"], "0x" + "0" * 64], "data": "0x"}
        bare = {**good, "topics": good["topics"][:1], "data": "0x" + "0" * 192}
        reorged = {**good, "removed": True}
        other = {**good, "topics": ["0x" + "1" * 64, *good["topics"][1:]]}
        reader = readers.over_node(healthy(logs=[nft, bare, reorged, other]))
        assert reader.transfers([TOKEN], None, 1, 10) == []

    @pytest.mark.parametrize(
        "wrong",
        [
            {"address": OTHER_TOKEN},
            {"blockNumber": "0x63"},
            {"blockNumber": None},
            {"blockHash": "0x12"},
            {"transactionHash": None},
            {"logIndex": "0x" + "f" * 40},
            {"topics": None},
        ],
    )
    def test_malformed_response_is_rejected(
        self, wrong: dict[str, object], readers: Readers
    ) -> None:
        log = {**transfer_log(TOKEN, ANNA, 1, 1, 0), **wrong}
        with pytest.raises(EndpointsUnavailable):
            readers.over_node(healthy(logs=[log])).transfers([TOKEN], None, 1, 1)

    @pytest.mark.parametrize(
        "limited",
        [
            lambda question: question.error(-32005, "query returned more than 10000 results"),
            lambda question: question.error(-32602, "block range is too wide", status=400),
            lambda question: question.body(b"", status=413),
        ],
    )
    def test_range_is_reduced_after_a_range_error(self, limited: Answers, readers: Readers) -> None:
        reader = readers.over_node(with_logs(limited))
        with pytest.raises(RangeTooLarge):
            reader.transfers([TOKEN], None, 1, 10)
        # The step continues with the same endpoint.
        assert reader.block(1) is not None

    def test_range_is_reduced_after_a_large_response(
        self, readers: Readers, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(json_rpc, "MAX_ANSWER_BYTES", 1024 * 1024)
        reader = readers.over_node(with_logs(lambda question: question.flood(64 * 1024 * 1024)))
        with pytest.raises(RangeTooLarge):
            reader.transfers([TOKEN], None, 1, 10)

    @pytest.mark.parametrize("illness", [each for each in ILL if each != "floods"])
    def test_step_ends_if_the_endpoint_fails_for_one_block(
        self, illness: str, readers: Readers
    ) -> None:
        """The range of one block cannot be reduced."""
        reader = readers.over_node(with_logs(ILL[illness]))
        with pytest.raises(EndpointsUnavailable):
            reader.transfers([TOKEN], None, 1, 1)
        with pytest.raises(EndpointsUnavailable, match="head first"):
            reader.block(1)

    @pytest.mark.parametrize("illness", [each for each in ILL if each not in ("floods", "hangs")])
    def test_range_is_reduced_if_the_only_endpoint_fails(
        self, illness: str, readers: Readers
    ) -> None:
        reader = readers.over_node(with_logs(ILL[illness]))
        with pytest.raises(RangeTooLarge):
            reader.transfers([TOKEN], None, 1, 100)
        assert reader.limits.width == 50

    def test_other_endpoint_is_used_if_one_fails(self, readers: Readers) -> None:
        broken = readers.endpoint(with_logs(Question.cut))
        reader = readers.over(broken, readers.endpoint(healthy(height=7)))
        reader.head()
        with pytest.raises(EndpointsUnavailable):
            reader.transfers([TOKEN], None, 1, 100)
        assert reader.head().number == 7


class TestTransfersOfABlock:
    BLOCK = Block(5, f"0x{5:064x}", datetime(2026, 1, 1, tzinfo=UTC))

    def test_block_is_requested_by_hash(self, readers: Readers) -> None:
        questions = []

        def answer(question: Question) -> None:
            questions.append(question.params[0])
            question.result([transfer_log(TOKEN, ANNA, 7, 5, 0)])

        [found] = readers.over_node(with_logs(answer)).transfers_in([TOKEN], [ANNA], self.BLOCK)
        assert (found.amount, found.block_number) == (7, 5)
        assert questions[0]["blockHash"] == self.BLOCK.hash
        assert not questions[0].keys() & {"fromBlock", "toBlock"}

    def test_unknown_block_is_not_an_empty_block(self, readers: Readers) -> None:
        reader = readers.over_node(with_logs(lambda each: each.error(-32000, "unknown block")))
        for _ in range(3):
            assert reader.limits.takes_hashes
            with pytest.raises(BlockUnreadable):
                reader.transfers_in([TOKEN], [ANNA], self.BLOCK)
        assert not reader.limits.takes_hashes, "it may not support such requests"

    def test_logs_of_another_block_are_rejected(self, readers: Readers) -> None:
        logs = [transfer_log(TOKEN, ANNA, 7, 6, 0)]
        with pytest.raises(EndpointsUnavailable):
            readers.over_node(healthy(logs=logs)).transfers_in([TOKEN], [ANNA], self.BLOCK)
