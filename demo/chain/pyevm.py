"""The local chain without anvil: eth-tester's py-evm backend with the required functions of anvil.

Each transaction is mined immediately unless automine is off. The chain exists only in this process.
It is new at each start, and its genesis has the current time, so no block of an earlier run recurs.
Importing this module requires py-evm and eth-tester, the optional extra `chain`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from eth.vm.forks.prague import PragueVM
from eth_tester import PyEVMBackend  # type: ignore[import-untyped]
from eth_tester.exceptions import (  # type: ignore[import-untyped]
    TransactionFailed,
    ValidationError,
)
from eth_utils.exceptions import ValidationError as EthValidationError
from eth_utils.hexadecimal import decode_hex, encode_hex

from demo.chain.testnet import CHAIN_ID, MNEMONIC

CLIENT = "specd/py-evm"
_HD_PATH = "m/44'/60'/0'/0"
_MAX_BLOCKS_AT_ONCE = 100_000


class Refused(Exception):
    """The chain rejected a request. It is returned as a JSON-RPC error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class _LocalVM(PragueVM):
    """Prague, except that blocks may have equal timestamps, as on anvil, so that mining many blocks
    does not advance the clock.
    """

    @classmethod
    def validate_header(cls, header: Any, parent_header: Any) -> None:
        if parent_header is not None and header.timestamp == parent_header.timestamp:
            header = header.copy(timestamp=parent_header.timestamp + 1)
        super().validate_header(header, parent_header)


class PyEvmChain:
    """A chain in memory. It is not thread-safe. `pyevm_server` serves it."""

    def __init__(self) -> None:
        state = PyEVMBackend.generate_genesis_state(
            mnemonic=MNEMONIC, num_accounts=10, hd_path=_HD_PATH
        )
        self._backend = PyEVMBackend(
            genesis_state=state,
            vm_configuration=((0, _LocalVM),),
            mnemonic=MNEMONIC,
            hd_path=_HD_PATH,
        )
        # Each backend has a separate class, so this does not change other chains.
        type(self._backend.chain).chain_id = CHAIN_ID
        self._clock_offset_s = 0
        self._next_timestamp: int | None = None
        self._automine = True
        # History for requests: blocks and logs by number, receipts and transactions by hash.
        self._blocks: list[dict[str, Any]] = []
        self._logs: list[list[dict[str, Any]]] = []
        self._receipts: dict[str, dict[str, Any]] = {}
        self._transactions: dict[str, dict[str, Any]] = {}
        self._note_block()

    @property
    def height(self) -> int:
        return len(self._blocks) - 1

    def accounts(self) -> list[str]:
        """Return the funded, unlocked accounts. The first one is the payer."""
        return [encode_hex(account) for account in self._backend.get_accounts()]

    def block(self, number: int) -> dict[str, Any] | None:
        """Return a block in the form of eth_getBlockByNumber, with transaction hashes."""
        return self._blocks[number] if 0 <= number <= self.height else None

    def block_by_hash(self, block_hash: str) -> dict[str, Any] | None:
        return next((block for block in self._blocks if block["hash"] == block_hash.lower()), None)

    def logs(self, first: int, last: int) -> list[dict[str, Any]]:
        """Return all logs of blocks `first` to `last`, in order."""
        return [log for logs in self._logs[first : last + 1] for log in logs]

    def receipt(self, tx_hash: str) -> dict[str, Any] | None:
        return self._receipts.get(tx_hash.lower())

    def transaction(self, tx_hash: str) -> dict[str, Any] | None:
        return self._transactions.get(tx_hash.lower())

    def call(self, transaction: dict[str, Any], number: int) -> bytes:
        """Return the result of a call with the state after block `number`."""
        with _refusals():
            return bytes(self._backend.call(_evm_fields(transaction, self.accounts()[0]), number))

    def estimate_gas(self, transaction: dict[str, Any]) -> int:
        with _refusals():
            fields = _evm_fields(transaction, self.accounts()[0])
            return int(self._backend.estimate_gas(fields, "latest"))

    def balance(self, address: str, number: int) -> int:
        return int(self._backend.get_balance(decode_hex(address), number))

    def code(self, address: str, number: int) -> bytes:
        return bytes(self._backend.get_code(decode_hex(address), number))

    def nonce(self, address: str, number: int | None) -> int:
        """Return the number of transactions up to block `number`, or including pending ones if it
        is None.
        """
        if number is None:
            return int(self._backend.chain.get_vm().state.get_nonce(decode_hex(address)))
        return int(self._backend.get_nonce(decode_hex(address), number))

    def base_fee(self) -> int:
        return int(self._backend.get_base_fee("latest"))

    def send(self, transaction: dict[str, Any]) -> str:
        """Sign a transaction for an unlocked account and apply it. Return the hash."""
        fields = _evm_fields(transaction, self.accounts()[0])
        if encode_hex(fields["from"]) not in self.accounts():
            raise Refused(-32602, "No Signer available")
        fields.setdefault("gas", 3_000_000)
        if "gas_price" not in fields:
            fee = 2 * self.base_fee() + 10**9
            fields.setdefault("max_fee_per_gas", fee)
            fields.setdefault("max_priority_fee_per_gas", 10**9)
        fields.setdefault("nonce", self.nonce(encode_hex(fields["from"]), None))
        self._prepare_header()
        with _refusals():
            return self._applied(self._backend.send_transaction(fields))

    def send_raw(self, raw: bytes) -> str:
        """Apply a signed transaction. Return the hash."""
        self._prepare_header()
        with _refusals():
            return self._applied(self._backend.send_raw_transaction(raw))

    def mine(self, count: int = 1) -> None:
        """Mine `count` blocks. The first one includes the pending transactions."""
        if not 0 < count <= _MAX_BLOCKS_AT_ONCE:
            raise Refused(-32602, f"mine 1 to {_MAX_BLOCKS_AT_ONCE} blocks")
        for _ in range(count):
            self._prepare_header()
            self._backend.mine_blocks(1)
            self._next_timestamp = None
            self._note_block()

    def reorg(self, depth: int) -> None:
        """Replace the newest `depth` blocks with empty ones. Their transactions are lost."""
        if not 0 < depth <= self.height:
            raise Refused(-32602, f"the depth must be 1 to {self.height}")
        for _ in range(depth):
            for tx_hash in self._blocks.pop()["transactions"]:
                del self._receipts[tx_hash], self._transactions[tx_hash]
            self._logs.pop()
        self._backend.revert_to_snapshot(decode_hex(self._blocks[-1]["hash"]))
        self.mine(depth)

    def set_automine(self, automine: bool) -> None:
        self._automine = automine

    def increase_time(self, seconds: int) -> int:
        """Advance the clock of later blocks. Return the total offset."""
        self._clock_offset_s += seconds
        return self._clock_offset_s

    def set_next_timestamp(self, unix_s: int) -> None:
        """Set the next block's timestamp. The clock continues from there, as on anvil."""
        if unix_s < int(self._blocks[-1]["timestamp"], 16):
            raise Refused(-32602, "Timestamp error: it is lower than the previous block's")
        self._next_timestamp = unix_s
        self._clock_offset_s = unix_s - int(time.time())

    def _prepare_header(self) -> None:
        """Set the pending block's timestamp, which must not be before its parent's."""
        now = self._next_timestamp or int(time.time()) + self._clock_offset_s
        self._backend.chain.set_header_timestamp(max(now, int(self._blocks[-1]["timestamp"], 16)))

    def _applied(self, tx_hash: bytes) -> str:
        if self._automine:
            self.mine()
        return encode_hex(tx_hash)

    def _note_block(self) -> None:
        """Store the head in JSON-RPC form."""
        backend = self._backend
        block = wire(backend.get_block_by_number("latest", full_transaction=False))
        logs: list[dict[str, Any]] = []
        for tx_hash in block["transactions"]:
            receipt = wire(backend.get_transaction_receipt(decode_hex(tx_hash)))
            for log in receipt["logs"]:
                log["logIndex"] = hex(len(logs))
                log["removed"] = False
                log.pop("type", None)
                logs.append(log)
            self._receipts[tx_hash] = receipt
            self._transactions[tx_hash] = wire(backend.get_transaction_by_hash(decode_hex(tx_hash)))
        self._blocks.append(block)
        self._logs.append(logs)


@contextmanager
def _refusals() -> Iterator[None]:
    """Convert the EVM's errors to `Refused`."""
    try:
        yield
    except TransactionFailed as error:
        raise Refused(3, f"execution reverted: {error}") from None
    except (ValidationError, EthValidationError) as error:
        raise Refused(-32000, str(error)) from None


# JSON-RPC names that differ from the snake_case name in camelCase.
_NAMES = {"coinbase": "miner", "data": "input", "sha3_uncles": "sha3Uncles"}


def wire(value: Any, name: str = "") -> Any:
    """Convert a backend's record to JSON-RPC: camelCase names, quantities and bytes as hex."""
    if isinstance(value, dict):
        is_log = "topics" in value
        return {
            ("data" if is_log and key == "data" else _camel(key)): wire(each, key)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [wire(each) for each in value]
    if isinstance(value, bool) or value is None:
        return value
    if name in ("logs_bloom", "bloom"):
        return f"0x{value:0512x}"
    if isinstance(value, int):
        return hex(value)
    if isinstance(value, bytes):
        return None if name in ("to", "contract_address") and not value else encode_hex(value)
    return value


def _camel(name: str) -> str:
    if name in _NAMES:
        return _NAMES[name]
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


_INTEGERS = {
    "gas": "gas",
    "gasPrice": "gas_price",
    "maxFeePerGas": "max_fee_per_gas",
    "maxPriorityFeePerGas": "max_priority_fee_per_gas",
    "nonce": "nonce",
    "value": "value",
}


def _evm_fields(transaction: dict[str, Any], default_sender: str) -> dict[str, Any]:
    """Convert a JSON-RPC transaction for the backend. Raise `Refused` if it is malformed."""
    try:
        fields: dict[str, Any] = {
            _INTEGERS[name]: int(value, 16)
            for name, value in transaction.items()
            if name in _INTEGERS and value is not None
        }
        fields["from"] = decode_hex(transaction.get("from") or default_sender)
        fields["to"] = decode_hex(transaction["to"]) if transaction.get("to") else b""
        fields["data"] = decode_hex(transaction.get("input") or transaction.get("data") or "0x")
    except (ValueError, TypeError) as error:
        raise Refused(-32602, f"malformed transaction: {error}") from None
    if len(fields["from"]) != 20 or len(fields["to"]) not in (0, 20):
        raise Refused(-32602, "malformed transaction: an address is not 20 bytes")
    return fields
