"""The gateway's check of a chain, with faulty endpoints of many kinds."""

import asyncio
import logging
import time
from contextlib import ExitStack

import pytest
import structlog

from adapters.chain.gateway import ChainUnreachable, NoEndpoint, RpcChainGateway
from models.payment.invoices import NewestBlock
from models.payment.methods import MAIN_NETS
from tests.adapters.chain.rpc_endpoint import Answers, Question, healthy, serving

TIMEOUT_S = 1.0
SHORT_S = 0.2
"""For endpoints of which none responds in time."""
PATIENCE_S = 20.0
"""For a healthy endpoint on a busy machine that is not limited by a faulty endpoint."""


def check(chain_id: int, *urls: str, timeout_s: float = TIMEOUT_S) -> None:
    asyncio.run(RpcChainGateway(urls, timeout_s=timeout_s).check(chain_id))


def check_endpoints(*answers: Answers, chain_id: int = 31337, timeout_s: float = TIMEOUT_S) -> None:
    with ExitStack() as stack:
        urls = [stack.enter_context(serving(each)).url for each in answers]
        check(chain_id, *urls, timeout_s=timeout_s)


ILL: dict[str, Answers] = {
    "hangs": Question.hang,
    "drips": lambda question: question.drip(0.05),
    "floods": lambda question: question.flood(64 * 1024 * 1024),
    "cuts the answer": Question.cut,
    "answers HTTP 500": lambda question: question.body(b"oops", status=500),
    "answers HTTP 302": lambda question: question.body(b"", status=302, Location="/elsewhere"),
    "quotes its key": lambda question: question.error(-32000, "the key s3cr3t is unknown"),
    "answers an error": lambda question: question.error(-32601, "no such method"),
    "answers an error of the wrong shape": lambda question: question.error("x", None),
    "answers HTML": lambda question: question.body(b"<html>"),
    "answers nothing": lambda question: question.body(b""),
    "answers invalid UTF-8": lambda question: question.body(b'{"result": "\xff"}'),
    "answers a deep nest": lambda question: question.body(b"[" * 60_000),
    "answers a list": lambda question: question.json([1]),
    "answers null": lambda question: question.result(None),
    "answers a number": lambda question: question.result(31337),
    "answers a decimal": lambda question: question.result("31337"),
    "answers bad hex": lambda question: question.result("0xzz"),
    "answers a negative": lambda question: question.result("-0x7a69"),
    "answers a huge quantity": lambda question: question.result("0x" + "f" * 60_000),
    "answers packed": lambda question: question.body(b"x", Content_Encoding="gzip"),
}


SLOW = ("hangs", "drips", "floods")


class TestCheck:
    def test_passes_if_the_endpoint_reports_the_chain(self) -> None:
        check_endpoints(healthy())

    @pytest.mark.parametrize("illness", ILL)
    def test_fails_if_the_only_endpoint_is_faulty(self, illness: str) -> None:
        timeout_s = SHORT_S if illness in SLOW else PATIENCE_S
        started = time.monotonic()
        with pytest.raises(ChainUnreachable):
            check_endpoints(ILL[illness], timeout_s=timeout_s)
        assert time.monotonic() - started < PATIENCE_S / 2

    @pytest.mark.parametrize("illness", ILL)
    def test_passes_if_one_of_two_endpoints_is_faulty(self, illness: str) -> None:
        timeout_s = 3 * TIMEOUT_S if illness in SLOW else PATIENCE_S
        check_endpoints(ILL[illness], healthy(), timeout_s=timeout_s)

    def test_fails_if_the_connection_is_refused(self) -> None:
        with pytest.raises(ChainUnreachable):
            check(31337, "http://127.0.0.1:1/")

    @pytest.mark.parametrize("stranger", [1, 11155111, 137])
    def test_fails_if_any_endpoint_reports_another_chain(self, stranger: int) -> None:
        with pytest.raises(ChainUnreachable):
            check_endpoints(healthy(), healthy(chain_id=stranger))

    @pytest.mark.parametrize("main_net", sorted(MAIN_NETS))
    def test_main_net_is_rejected_even_if_configured(self, main_net: int) -> None:
        with serving(healthy(chain_id=main_net)) as endpoint:
            with pytest.raises(NoEndpoint):
                check(main_net, f"{main_net}={endpoint.url}")
            assert endpoint.asked == []

    def test_fails_without_an_endpoint_for_the_chain(self) -> None:
        with pytest.raises(NoEndpoint):
            check(31337, "80002=http://127.0.0.1:1/")

    def test_endpoints_are_called_concurrently(self) -> None:
        started = time.monotonic()
        with pytest.raises(ChainUnreachable):
            check_endpoints(*[Question.hang] * 5)
        assert time.monotonic() - started < 2 * TIMEOUT_S + 1

    def test_hanging_endpoint_does_not_block_the_event_loop(self) -> None:
        async def ticks_during_check(url: str) -> int:
            checking = asyncio.create_task(RpcChainGateway([url], timeout_s=TIMEOUT_S).check(31337))
            ticks = 0
            while not checking.done():
                await asyncio.sleep(0.01)
                ticks += 1
            with pytest.raises(ChainUnreachable):
                await checking
            return ticks

        with serving(Question.hang) as endpoint:
            assert asyncio.run(ticks_during_check(endpoint.url)) > 10

    def test_endpoint_of_another_chain_is_not_called(self) -> None:
        with serving(healthy()) as endpoint, serving(healthy(chain_id=80002)) as other_endpoint:
            check(31337, endpoint.url, f"80002={other_endpoint.url}")
            assert other_endpoint.asked == []


class TestIsConfigured:
    def test_chain_with_an_endpoint_is_configured(self) -> None:
        gateway = RpcChainGateway(["31337=http://127.0.0.1:1"], timeout_s=1)
        assert gateway.is_configured(31337)
        assert not gateway.is_configured(80002)

    def test_plain_url_serves_any_test_chain_and_no_main_net(self) -> None:
        gateway = RpcChainGateway(["http://127.0.0.1:1/v3/a=b"], timeout_s=1)
        assert gateway.is_configured(31337)
        assert not any(gateway.is_configured(main_net) for main_net in MAIN_NETS)


@pytest.mark.parametrize("illness", ILL)
def test_key_is_not_in_logs_or_errors(illness: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with (
        serving(ILL[illness], secret="v3/s3cr3t?apikey=s3cr3t") as endpoint,
        structlog.testing.capture_logs() as lines,
        pytest.raises(ChainUnreachable) as refusal,
    ):
        check(31337, endpoint.url.replace("http://", "http://user:s3cr3t@"))
    assert lines
    assert "s3cr3t" not in caplog.text
    assert "127.0.0.1" in str(lines)
    assert "s3cr3t" not in f"{lines} {refusal.value!r} {refusal.value.__context__!r}"


class TestNewestBlock:
    def test_block_of_the_first_healthy_endpoint_is_returned(self) -> None:
        with ExitStack() as stack:
            ill = [stack.enter_context(serving(ILL[each])).url for each in ("cuts the answer",)]
            other = stack.enter_context(serving(healthy(chain_id=80002, height=9))).url
            good = stack.enter_context(serving(healthy(height=7))).url
            gateway = RpcChainGateway([*ill, other, good], timeout_s=PATIENCE_S)
            assert gateway.find_newest_block(31337) == NewestBlock(7, f"0x{7:064x}")

    def test_block_is_cached_for_a_second(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with serving(healthy(height=7)) as endpoint:
            gateway = RpcChainGateway([endpoint.url], timeout_s=PATIENCE_S)
            for _ in range(3):
                assert gateway.find_newest_block(31337) == NewestBlock(7, f"0x{7:064x}")
            assert endpoint.asked == ["eth_chainId", "eth_getBlockByNumber"]
            endpoint.answers = healthy(height=8)
            monkeypatch.setattr("adapters.chain.gateway._REMEMBER_S", 0.0)
            assert gateway.find_newest_block(31337) == NewestBlock(8, f"0x{8:064x}")

    @pytest.mark.parametrize("illness", [each for each in ILL if each != "floods"])
    def test_none_if_the_only_endpoint_is_faulty(self, illness: str) -> None:
        with serving(ILL[illness]) as endpoint:
            timeout_s = SHORT_S if illness in SLOW else PATIENCE_S
            gateway = RpcChainGateway([endpoint.url], timeout_s=timeout_s)
            assert gateway.find_newest_block(31337) is None
            asked = len(endpoint.asked)
            assert gateway.find_newest_block(31337) is None
            assert len(endpoint.asked) == asked, "the failure is cached, too"

    def test_none_for_chains_without_configuration(self) -> None:
        with serving(healthy()) as endpoint:
            gateway = RpcChainGateway([f"80002={endpoint.url}"], timeout_s=TIMEOUT_S)
            assert gateway.find_newest_block(31337) is None
            assert gateway.find_newest_block(1) is None
            assert endpoint.asked == []
