"""A real local chain for tests: anvil on a free port with the token deployed.

A test directory uses it through `pytest_plugins`, or by importing the fixtures into its conftest:

    from tests.live.chain_fixture import anvil  # noqa: F401

Each test has a separate chain (40 ms). Anvil is searched for like in the product: `SPECD_ANVIL`,
PATH, node_modules. Without it the tests are skipped with the reason.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from demo.chain.anvil import find_anvil, start_anvil
from demo.chain.artifacts import load_artifact
from demo.chain.embedded import PyEvmServed
from demo.chain.testnet import CHAIN_ID, TOKEN, Testnet, TestnetError
from tests.live.running_server import free_port

NO_ANVIL = "anvil is not installed: set SPECD_ANVIL, or npm install @foundry-rs/anvil"


class LocalChain(Testnet):
    """A `Testnet` with a URL and additional ways of paying."""

    def __init__(self, url: str, *, chain_id: int = CHAIN_ID) -> None:
        super().__init__(url, chain_id=chain_id)
        self.url = url

    def pay_native(self, to: str, wei: int) -> str:
        """Send the chain's native coin, which no invoice accepts."""
        return str(self.send({"to": to, "value": hex(wei)})["transactionHash"])

    def deploy_second_token(self) -> str:
        """Deploy another token with the same code: the wrong one for every invoice."""
        return self.deploy(load_artifact("TestToken"))

    def deploy_payer_contract(self, atoms: int, *, token: str = TOKEN) -> str:
        """Deploy a contract that has `atoms` and can pay with them."""
        address = self.deploy(load_artifact("PayFromContract"))
        self.pay(address, atoms, token=token)
        return address

    def pay_by_contract(self, contract: str, to: str, atoms: int, *, token: str = TOKEN) -> str:
        """Pay once from the contract, which is the sender of the transfer."""
        data = self._encode("PayFromContract", "pay", [token, to, atoms])
        return str(self.send({"to": contract, "data": data})["transactionHash"])

    def pay_twice_by_contract(
        self, contract: str, to: str, first: int, second: int, *, token: str = TOKEN
    ) -> str:
        """Pay twice from the contract in one transaction."""
        data = self._encode("PayFromContract", "payTwice", [token, to, first, second])
        return str(self.send({"to": contract, "data": data})["transactionHash"])

    def advance_clock(self, seconds: int) -> None:
        """Increase the next block's timestamp by `seconds`."""
        self.call("evm_increaseTime", hex(seconds))

    def hold_blocks(self) -> None:
        """Disable automatic mining: transactions wait in the pool until `mine`."""
        self.call("evm_setAutomine", False)

    def resume_blocks(self) -> None:
        """Mine every transaction immediately again."""
        self.call("evm_setAutomine", True)

    def raw_transactions_above(self, number: int) -> list[str]:
        """Return the transactions of the blocks after `number`, in order, as they were sent."""
        return [
            self.call("eth_getRawTransactionByHash", tx_hash)
            for height in range(number + 1, self.height + 1)
            for tx_hash in self.call("eth_getBlockByNumber", hex(height), False)["transactions"]
        ]

    def set_next_timestamp(self, unix_s: int) -> None:
        """Set the next block's timestamp, which must be later than the head's."""
        self.call("evm_setNextBlockTimestamp", unix_s)

    def mine_within(self, count: int, *, block_seconds: int) -> int:
        """Mine `count` blocks that are `block_seconds` apart on the chain's clock."""
        self.call("anvil_mine", hex(count), hex(block_seconds))
        return self.height


def wait_until_listening(process: subprocess.Popen[bytes], port: int, *, within_s: float) -> bool:
    """Return whether the process accepts connections before it ends and before the deadline."""
    deadline = time.monotonic() + within_s
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.01)
    return False


# Read before tests change the environment.
_NAMED_ANVIL = os.environ.get("SPECD_ANVIL", "")


def find_anvil_or_skip() -> Path:
    """The anvil binary. Skip the test without one."""
    binary = find_anvil(_NAMED_ANVIL)
    if binary is None:
        pytest.skip(NO_ANVIL)
    return binary


@contextmanager
def running_anvil(
    *, state: Path | None = None, port: int | None = None, chain_id: int = CHAIN_ID
) -> Iterator[LocalChain]:
    """Run anvil with the token deployed (block 1) until the end. Skip the test without anvil."""
    binary = find_anvil_or_skip()
    for _ in range(5):
        chosen = port or free_port()
        process = start_anvil(binary, port=chosen, state=state, chain_id=chain_id)
        if wait_until_listening(process, chosen, within_s=10):
            break
        stop(process)
    else:
        raise TestnetError("anvil does not start")
    chain = LocalChain(f"http://127.0.0.1:{chosen}", chain_id=chain_id)
    try:
        chain.ensure_token()
        yield chain
    finally:
        chain.close()
        stop(process)


@cache
def _derive_keys_once() -> None:
    """Derive the keys of py-evm's accounts once in this process. A chain derives them twice, which
    takes a quarter of a second.
    """
    from eth_tester.backends.pyevm import main  # type: ignore[import-untyped]

    main.get_account_keys_from_mnemonic = cache(main.get_account_keys_from_mnemonic)


@contextmanager
def running_pyevm() -> Iterator[LocalChain]:
    """The in-process chain with the token deployed. Skip the test without the extra `chain`."""
    pytest.importorskip("eth_tester", reason="eth-tester is not installed: the extra `chain`")
    _derive_keys_once()
    served = PyEvmServed(free_port())
    chain = LocalChain(served.url)
    try:
        chain.ensure_token()
        yield chain
    finally:
        chain.close()
        served.stop()


def stop(process: subprocess.Popen[bytes]) -> None:
    """End the process, first by SIGTERM."""
    process.terminate()
    try:
        process.communicate(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


@pytest.fixture
def anvil() -> Iterator[LocalChain]:
    """A new chain that mines every transaction immediately."""
    with running_anvil() as chain:
        yield chain


@pytest.fixture
def pyevm() -> Iterator[LocalChain]:
    """The same from py-evm, which starts instantly but has an EVM in Python."""
    with running_pyevm() as chain:
        yield chain
