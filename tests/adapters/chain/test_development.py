"""Actions on development chains: on anvil, on py-evm, and on other nodes."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from adapters.chain import development
from adapters.chain.development import Head, NodeRefuses, RpcDevelopmentChains
from adapters.chain.gateway import ChainUnreachable, NoEndpoint
from adapters.chain.json_rpc import RpcError
from demo.chain.testnet import CHAIN_ID, PAYER, TOKEN
from tests.live.chain_fixture import LocalChain, running_anvil, running_pyevm

DEPOSIT = "0x58A57ed9d8d624cBD12e2C467D34787555bB1b25"


@pytest.fixture(scope="module", params=["anvil", "py-evm"])
def node(request: pytest.FixtureRequest) -> Iterator[LocalChain]:
    running = running_anvil if request.param == "anvil" else running_pyevm
    with running() as chain:
        yield chain


@pytest.fixture
def chains(node: LocalChain) -> RpcDevelopmentChains:
    return RpcDevelopmentChains([node.url], timeout_s=10.0)


def balance(chains: RpcDevelopmentChains) -> int:
    return asyncio.run(chains.balance(CHAIN_ID, TOKEN, DEPOSIT))


def newest(node: LocalChain) -> dict[str, Any]:
    block: dict[str, Any] = node.call("eth_getBlockByNumber", "latest", False)
    return block


def test_pays_in_as_many_transactions_as_amounts(chains: RpcDevelopmentChains) -> None:
    before = balance(chains)
    sent = asyncio.run(chains.pay(CHAIN_ID, TOKEN, DEPOSIT, [3, 4]))
    assert balance(chains) == before + 7
    assert [each.amount for each in sent] == [3, 4]
    assert {each.sender.lower() for each in sent} == {PAYER.lower()}
    assert len({each.tx_hash for each in sent}) == 2
    assert all(each.block_number for each in sent)


def test_other_payer_is_funded(chains: RpcDevelopmentChains) -> None:
    (sent,) = asyncio.run(chains.pay(CHAIN_ID, TOKEN, DEPOSIT, [5], payer=1))
    assert sent.sender.lower() != PAYER.lower()


def test_unmined_transaction_is_withdrawn_after_its_time(node: LocalChain) -> None:
    chains = RpcDevelopmentChains([node.url], timeout_s=0.5)
    node.hold_blocks()
    try:
        sent = asyncio.run(chains.pay(CHAIN_ID, TOKEN, DEPOSIT, [1, 2, 3]))
    finally:
        node.mine()
        node.resume_blocks()
    assert [each.block_number for each in sent] == [None, None, None]
    assert len({each.tx_hash for each in sent}) == 3


def test_payment_can_have_a_time(chains: RpcDevelopmentChains, node: LocalChain) -> None:
    after_s = int(newest(node)["timestamp"], 16) + 100
    asyncio.run(chains.pay(CHAIN_ID, TOKEN, DEPOSIT, [1], after_s=after_s))
    assert int(newest(node)["timestamp"], 16) == after_s + 1


def test_mines_moves_the_clock_and_reorganizes(
    chains: RpcDevelopmentChains, node: LocalChain
) -> None:
    height, before = node.height, balance(chains)
    first = asyncio.run(chains.mine(CHAIN_ID, 2))
    assert first.number == height + 2
    asyncio.run(chains.pay(CHAIN_ID, TOKEN, DEPOSIT, [1]))
    later = asyncio.run(chains.advance(CHAIN_ID, 500))
    assert later.number == height + 4
    assert later.time_s >= first.time_s + 500
    again = asyncio.run(chains.reorganise(CHAIN_ID, 2))
    assert again.number == later.number
    assert balance(chains) == before


def test_unsupported_actions_are_reported(chains: RpcDevelopmentChains, node: LocalChain) -> None:
    for act, words in (
        (chains.pay(CHAIN_ID, DEPOSIT, DEPOSIT, [1]), "has no token at"),
        (chains.pay(CHAIN_ID, TOKEN, DEPOSIT, [1], payer=99), "so payer 99 is unknown"),
        (chains.pay(CHAIN_ID, TOKEN, DEPOSIT, [2**256 - 1]), "that can pay"),
        (chains.reorganise(CHAIN_ID, node.height + 5), "blocks"),
    ):
        with pytest.raises(NodeRefuses, match=words):
            asyncio.run(act)


def test_chain_without_an_endpoint_or_with_another_id_is_rejected(node: LocalChain) -> None:
    with pytest.raises(NoEndpoint):
        asyncio.run(RpcDevelopmentChains([], timeout_s=1.0).mine(CHAIN_ID, 1))
    with pytest.raises(NoEndpoint):
        asyncio.run(RpcDevelopmentChains([node.url], timeout_s=1.0).mine(1, 1))
    with pytest.raises(ChainUnreachable):
        asyncio.run(RpcDevelopmentChains([node.url], timeout_s=10.0).mine(4242, 1))


class TestNodes:
    """Scripted nodes that are not development chains."""

    @pytest.fixture
    def answers(self, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
        answers: dict[str, Any] = {"eth_chainId": hex(CHAIN_ID), "eth_accounts": []}

        async def call(_client: object, _endpoint: object, method: str, *_: Any, **__: Any) -> Any:
            if method not in answers:
                raise RpcError(-32601, "Method not found")
            answer = answers[method]
            if answer is None:
                await asyncio.Event().wait()
            return answer

        monkeypatch.setattr(development, "call_async", call)
        return answers

    def act(self) -> RpcDevelopmentChains:
        return RpcDevelopmentChains(["http://127.0.0.1:1"], timeout_s=0.05)

    def test_node_without_unlocked_accounts_cannot_pay(self, answers: dict[str, Any]) -> None:
        with pytest.raises(NodeRefuses, match=r"no unlocked accounts \(eth_accounts\); use a"):
            asyncio.run(self.act().pay(CHAIN_ID, TOKEN, DEPOSIT, [1]))

    def test_node_without_manual_mining_is_reported(self, answers: dict[str, Any]) -> None:
        with pytest.raises(NodeRefuses, match="rejects anvil_mine: Method not found"):
            asyncio.run(self.act().mine(CHAIN_ID, 1))

    def test_node_that_never_responds(
        self, answers: dict[str, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(development, "WITHIN_S", 0.05)
        answers["eth_chainId"] = None
        with pytest.raises(ChainUnreachable):
            asyncio.run(self.act().mine(CHAIN_ID, 1))

    def test_node_with_malformed_responses(self, answers: dict[str, Any]) -> None:
        answers |= {"anvil_mine": True, "eth_getBlockByNumber": ["?"]}
        with pytest.raises(ChainUnreachable):
            asyncio.run(self.act().mine(CHAIN_ID, 1))
        answers["eth_getBlockByNumber"] = {"number": "0x5", "timestamp": "0x9"}
        assert asyncio.run(self.act().mine(CHAIN_ID, 1)) == Head(5, 9)
