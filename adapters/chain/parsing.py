"""Parses a node's blocks and Transfer logs, and rejects logs that were not requested."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from adapters.chain.json_rpc import EndpointFailed
from adapters.chain.reader import TRANSFER_TOPIC, Block, Transfer
from models.payment.addresses import checksummed

if TYPE_CHECKING:
    from web3.types import BlockData

_WORD = re.compile("0x[0-9a-fA-F]{64}")


def parse_block(data: BlockData) -> Block:
    """Convert a block of web3. Raise `EndpointFailed`."""
    parent = data.get("parentHash")
    return Block(
        natural(data["number"]),
        _hash(data["hash"]),
        datetime.fromtimestamp(data["timestamp"], UTC),
        _hash(parent) if parent is not None else "",
        bytes(data.get("logsBloom") or b""),
        data.get("transactions") == [],
    )


def parse_transfers(
    logs: Any, tokens: Collection[str], first: int, last: int, *, block_hash: str | None = None
) -> Iterator[Transfer]:
    """Yield each ERC-20 transfer of an eth_getLogs result once. Other logs are skipped.

    Raise `EndpointFailed` for logs that were not requested and for malformed ones.
    """
    if not isinstance(logs, list):
        raise EndpointFailed("answered something that is not a list of logs")
    addresses = {token.lower() for token in tokens}
    checksum = cache(checksummed)
    seen = set()
    for log in logs:
        topics, data = log["topics"], log["data"]
        # NFT logs have a fourth topic. Logs that a reorganization removed are no longer valid.
        if log.get("removed") or len(topics) != 3 or topics[0].lower() != TRANSFER_TOPIC:
            continue
        if len(data) != 66:
            continue
        number, index = natural(int(log["blockNumber"], 16)), natural(int(log["logIndex"], 16))
        token, own_hash = log["address"].lower(), _word(log["blockHash"])
        if token not in addresses or not first <= number <= last:
            raise EndpointFailed("answered logs that were not asked for")
        if block_hash is not None and own_hash != block_hash:
            raise EndpointFailed("answered logs of another block")
        tx_hash = _word(log["transactionHash"])
        # Some nodes number logs per transaction instead of per block.
        if (own_hash, tx_hash, index) in seen:
            continue
        seen.add((own_hash, tx_hash, index))
        yield Transfer(
            token=checksum(token),
            sender=checksum("0x" + _word(topics[1])[26:]),
            receiver=checksum("0x" + _word(topics[2])[26:]),
            amount=int(_word(data), 16),
            tx_hash=tx_hash,
            log_index=index,
            block_number=number,
            block_hash=own_hash,
        )


def natural(value: int) -> int:
    """Return the number if it fits the database's 64-bit columns. Raise `EndpointFailed` if not."""
    if not 0 <= value < 2**63:
        raise EndpointFailed("answered a number out of range")
    return value


def _word(value: str) -> str:
    """Return 0x and 64 lower-case hex digits. Raise `EndpointFailed` for any other text."""
    if _WORD.fullmatch(value) is None:
        raise EndpointFailed("answered a hash or topic that is not 32 bytes of hex")
    return value.lower()


def _hash(value: bytes) -> str:
    """Return 0x and 64 hex digits (`HexBytes.hex()` omits the 0x). Raise `EndpointFailed`."""
    if len(value) != 32:
        raise EndpointFailed("answered a hash that is not 32 bytes")
    return "0x" + bytes(value).hex()
