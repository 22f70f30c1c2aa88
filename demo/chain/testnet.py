"""Controls a local test chain: deploys the token, pays as a customer, mines and reorganizes.

It changes only the chain with the given id, by default 31337. The payer's account is unlocked on
the node, which signs for it, so no private key is used here.
"""

from __future__ import annotations

import time
from typing import Any

import httpx

from adapters.chain.json_rpc import (
    Endpoint,
    EndpointFailed,
    RpcError,
    call,
    parse_quantity,
    sync_client,
)
from demo.chain.artifacts import Artifact, load_artifact
from models.payment.addresses import checksummed

CHAIN_ID = 31337
# The well-known mnemonic of every development chain; the payer is its account 0,
# m/44'/60'/0'/0/0, and the token is what that account deploys first.
MNEMONIC = "test test test test test test test test test test test junk"
PAYER = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
TOKEN = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
TOKEN_SYMBOL = "TUSD"


class TestnetError(Exception):
    """The local chain rejected an operation. The message is a sentence for users, without a URL."""


class TestnetUnreachable(TestnetError):
    """The endpoint does not answer."""


class Testnet:
    """A local chain at `url`. Every method blocks and raises `TestnetError`.

    `send`, `pay` and `deploy` wait for the receipt, so the chain must mine automatically, at
    intervals, or by concurrent calls of `mine`.
    """

    def __init__(self, url: str, *, timeout_s: float = 10.0, chain_id: int = CHAIN_ID) -> None:
        self._endpoint = Endpoint(1, url)
        self._chain_id = chain_id
        self._timeout_s = timeout_s
        self._client: httpx.Client = sync_client(self._endpoint)

    def close(self) -> None:
        self._client.close()

    def call(self, method: str, *params: Any) -> Any:
        """Return the result of one JSON-RPC call."""
        try:
            return call(
                self._client, self._endpoint, method, list(params), timeout_s=self._timeout_s
            )
        except EndpointFailed as error:
            raise TestnetUnreachable(f"no chain at {self._endpoint}: {error}") from None
        except RpcError as error:
            raise TestnetError(f"the chain refuses {method}: {error.message}") from None

    def require_local(self) -> None:
        """Raise if the endpoint has another chain id, because this class changes the chain."""
        chain_id = self.quantity("eth_chainId")
        if chain_id != self._chain_id:
            raise TestnetError(
                f"{self._endpoint} reports chain id {chain_id}; only the local test chain"
                f" {self._chain_id} is paid on, mined and reorganised"
            )

    def require_payer(self) -> None:
        """Raise if the node does not sign for the payer, as local development chains do."""
        accounts = self.call("eth_accounts")
        if not isinstance(accounts, list) or PAYER.lower() not in [
            str(account).lower() for account in accounts
        ]:
            raise TestnetError(
                f"{self._endpoint} does not sign for the payer {PAYER} of development chains; pay"
                " with a wallet of your own"
            )

    def quantity(self, method: str, *params: Any) -> int:
        """Return the result of one call as a number."""
        try:
            return parse_quantity(self.call(method, *params))
        except EndpointFailed as error:
            raise TestnetError(f"{self._endpoint} {error} to {method}") from None

    @property
    def height(self) -> int:
        """The number of the newest block."""
        return self.quantity("eth_blockNumber")

    def has_code(self, address: str) -> bool:
        """Return whether there is a contract at the address."""
        return bool(self.call("eth_getCode", address, "latest") not in ("0x", None))

    def ensure_token(self) -> str:
        """Deploy the test token if it is missing, which must be the payer's first transaction.
        Return its address.
        """
        self.require_local()
        if self.has_code(TOKEN):
            return TOKEN
        if self.quantity("eth_getTransactionCount", PAYER, "latest") != 0:
            raise TestnetError(
                f"the payer has been used on this chain before the token was deployed, so the token"
                f" cannot get its address {TOKEN}; start a new chain"
            )
        return self.deploy(load_artifact("TestToken"))

    def deploy(self, artifact: Artifact) -> str:
        """Create a contract from the payer's account. Return its EIP-55 address."""
        receipt = self.send({"data": artifact.bytecode})
        return checksummed(receipt["contractAddress"])

    def balance(self, address: str, *, token: str = TOKEN) -> int:
        """Return the token balance of an address in atoms."""
        data = self._encode("TestToken", "balanceOf", [address])
        return self.quantity("eth_call", {"to": token, "data": data}, "latest")

    def pay(self, to: str, atoms: int, *, token: str = TOKEN) -> str:
        """Send tokens from the payer's account. Return the hash of the mined transaction."""
        return str(self.send(self._transfer(to, atoms, token))["transactionHash"])

    def submit_pay(self, to: str, atoms: int, *, token: str = TOKEN) -> str:
        """Do the same as `pay` without waiting until the transaction is mined."""
        return self.submit(self._transfer(to, atoms, token))

    def mine(self, count: int = 1) -> int:
        """Mine `count` blocks now. Return the number of the newest block."""
        self.require_local()
        self.call("anvil_mine", hex(count))
        return self.height

    def reorg(self, depth: int) -> int:
        """Replace the newest `depth` blocks with empty ones. Return the number of the newest block.
        The dropped transactions are not mined again automatically.
        """
        self.require_local()
        height = self.height
        if not 0 < depth <= height:
            raise TestnetError(f"the depth must be 1 to {height}, the chain's height")
        self.call("anvil_reorg", depth, [])
        return self.height

    def submit(self, transaction: dict[str, Any]) -> str:
        """Submit a transaction of the payer. Return its hash."""
        self.require_local()
        return str(
            self.call("eth_sendTransaction", {"from": PAYER, "gas": hex(2_000_000), **transaction})
        )

    def send(self, transaction: dict[str, Any]) -> dict[str, Any]:
        """Submit a transaction of the payer, and wait for its receipt. Raise if it failed."""
        tx_hash = self.submit(transaction)
        deadline = time.monotonic() + self._timeout_s
        while True:
            receipt = self.call("eth_getTransactionReceipt", tx_hash)
            if receipt is not None:
                break
            if time.monotonic() > deadline:
                raise TestnetError(f"transaction {tx_hash} was not mined in {self._timeout_s:g} s")
            time.sleep(0.02)
        if parse_quantity(receipt["status"]) != 1:
            raise TestnetError(f"transaction {tx_hash} failed on the chain")
        return dict(receipt)

    def _transfer(self, to: str, atoms: int, token: str) -> dict[str, Any]:
        return {"to": token, "data": self._encode("TestToken", "transfer", [to, atoms])}

    @staticmethod
    def _encode(contract: str, function: str, arguments: list[Any]) -> str:
        """Encode the data of a call, without web3, whose import would take most of `pay`'s time."""
        from eth_abi.abi import encode  # a slow import
        from eth_utils.crypto import keccak

        abi = load_artifact(contract).abi
        entry = next(each for each in abi if each.get("name") == function)
        types = [each["type"] for each in entry["inputs"]]
        selector = keccak(text=f"{function}({','.join(types)})")[:4]
        return "0x" + (selector + encode(types, arguments)).hex()
