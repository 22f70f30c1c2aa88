"""Acts on a local test chain: deploys the token, pays as a customer, mines and reorganises.

It changes only the chain that the caller names, 31337 by default. The payer's account is unlocked
on the node, which signs for it, so no private key is used here.
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
    """The local chain cannot do that; the text is one sentence for people, without a URL."""


class TestnetUnreachable(TestnetError):
    """Nothing answers at the endpoint."""


class Testnet:
    """One local chain at `url`. Every method blocks and raises `TestnetError`.

    Transactions are waited for until they have a receipt, so the chain must mine: automatically, on
    an interval, or by `mine`.
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
        """Raise unless the endpoint is the local test chain, because this class changes history."""
        chain_id = self.quantity("eth_chainId")
        if chain_id != self._chain_id:
            raise TestnetError(
                f"{self._endpoint} reports chain id {chain_id}; only the local test chain"
                f" {self._chain_id} is paid on, mined and reorganised"
            )

    def require_payer(self) -> None:
        """Raise unless the node signs for the payer, as local development chains do."""
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
        """The head's number."""
        return self.quantity("eth_blockNumber")

    def has_code(self, address: str) -> bool:
        """Return whether there is a contract at the address."""
        return bool(self.call("eth_getCode", address, "latest") not in ("0x", None))

    def ensure_token(self) -> str:
        """Return the address of the test token, which the payer's first transaction deploys."""
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
        """Create a contract from the payer; return its EIP-55 address."""
        receipt = self.send({"data": artifact.bytecode})
        return checksummed(receipt["contractAddress"])

    def balance(self, address: str, *, token: str = TOKEN) -> int:
        """Return the atoms of `token` at `address`."""
        data = self._encode("TestToken", "balanceOf", [address])
        return self.quantity("eth_call", {"to": token, "data": data}, "latest")

    def pay(self, to: str, atoms: int, *, token: str = TOKEN) -> str:
        """Send `atoms` of the token from the payer; return the hash of the mined transaction."""
        return str(self.send(self._transfer(to, atoms, token))["transactionHash"])

    def submit_pay(self, to: str, atoms: int, *, token: str = TOKEN) -> str:
        """Do the same without waiting: the transaction may still be in the pool."""
        return self.submit(self._transfer(to, atoms, token))

    def mine(self, count: int = 1) -> int:
        """Mine `count` blocks now; return the head's number."""
        self.require_local()
        self.call("anvil_mine", hex(count))
        return self.height

    def reorg(self, depth: int) -> int:
        """Replace the newest `depth` blocks by empty ones of the same numbers; return the head's
        number. The dropped transactions do not come back by themselves.
        """
        self.require_local()
        height = self.height
        if not 0 < depth <= height:
            raise TestnetError(f"the depth must be 1 to {height}, the chain's height")
        self.call("anvil_reorg", depth, [])
        return self.height

    def submit(self, transaction: dict[str, Any]) -> str:
        """Submit the payer's transaction to the node; return its hash."""
        self.require_local()
        return str(
            self.call("eth_sendTransaction", {"from": PAYER, "gas": hex(2_000_000), **transaction})
        )

    def send(self, transaction: dict[str, Any]) -> dict[str, Any]:
        """Submit a transaction, require its success, and return the receipt."""
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
        """Return the data of a call, without web3, whose import would take most of `pay`'s time."""
        from eth_abi.abi import encode  # imports a parser and pydantic
        from eth_utils.crypto import keccak

        abi = load_artifact(contract).abi
        entry = next(each for each in abi if each.get("name") == function)
        types = [each["type"] for each in entry["inputs"]]
        selector = keccak(text=f"{function}({','.join(types)})")[:4]
        return "0x" + (selector + encode(types, arguments)).hex()
