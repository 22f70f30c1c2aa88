"""Blocks and Transfer logs out of a node's JSON; whatever is not as asked is not believed."""

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


def parse_block(found: BlockData) -> Block:
    """Return a block out of web3's reading of it. Raises `EndpointFailed`."""
    stamp = datetime.fromtimestamp(found["timestamp"], UTC)
    parent = found.get("parentHash")
    return Block(
        natural(found["number"]),
        _hash(found["hash"]),
        stamp,
        _hash(parent) if parent is not None else "",
        bytes(found.get("logsBloom") or b""),
    )


def parse_transfers(
    logs: Any, tokens: Collection[str], first: int, last: int, *, block_hash: str | None = None
) -> Iterator[Transfer]:
    """Yield the ERC-20 transfers of an eth_getLogs result, each once; other logs are passed over.

    What was not asked for is not believed: `EndpointFailed`, as for anything malformed.
    """
    if not isinstance(logs, list):
        raise EndpointFailed("answered something that is not a list of logs")
    addresses = {token.lower() for token in tokens}
    spelled = cache(checksummed)
    seen = set()
    for log in logs:
        topics, data = log["topics"], log["data"]
        # NFTs index the amount too; a log that a reorg took back is not there any more.
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
        if (own_hash, index) in seen:
            continue
        seen.add((own_hash, index))
        yield Transfer(
            token=spelled(token),
            sender=spelled("0x" + _word(topics[1])[26:]),
            receiver=spelled("0x" + _word(topics[2])[26:]),
            amount=int(_word(data), 16),
            tx_hash=_word(log["transactionHash"]),
            log_index=index,
            block_number=number,
            block_hash=own_hash,
        )


def natural(value: int) -> int:
    """Return a number that fits the database's 64-bit columns. Raises `EndpointFailed`."""
    if not 0 <= value < 2**63:
        raise EndpointFailed("answered a number out of range")
    return value


def _word(value: str) -> str:
    """Return 0x + 64 lower-case hex. Raises `EndpointFailed`."""
    if _WORD.fullmatch(value) is None:
        raise EndpointFailed("answered a hash or topic that is not 32 bytes of hex")
    return value.lower()


def _hash(value: bytes) -> str:
    """Return 0x + 64 hex; HexBytes' own `hex()` has no 0x. Raises `EndpointFailed`."""
    if len(value) != 32:
        raise EndpointFailed("answered a hash that is not 32 bytes")
    return "0x" + bytes(value).hex()
