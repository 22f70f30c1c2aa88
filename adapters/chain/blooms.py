"""The logs bloom of a block's header (Ethereum yellow paper, 4.3.1).

A filter without an item's bits proves that no log of the block has the item. With the bits there
may be one, so an empty answer is worth a second question.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from models.payment.addresses import keccak

BLOOM_BYTES = 256
_MAX_MISTAKES = 0.02
"""The most expected items that seem to be in a block by chance."""


def is_selective(bloom: bytes, among: int) -> bool:
    """Return whether a filter has so few of its bits set that hardly any of `among` items that are
    not in the block seems to be.
    """
    filled = int.from_bytes(bloom, "big").bit_count() / (BLOOM_BYTES * 8)
    return len(bloom) == BLOOM_BYTES and filled > 0 and among * filled**3 <= _MAX_MISTAKES


def may_contain(bloom: bytes, items: Iterable[bytes]) -> bool:
    """Return whether a block's logs may contain all of `items` (addresses and topics)."""
    bits = int.from_bytes(bloom, "big")
    return all(bits & mask == mask for mask in map(_mask, items))


@lru_cache(maxsize=65_536)
def _mask(item: bytes) -> int:
    """Return an item's three bits: the low 11 bits of the first three pairs of its digest."""
    digest = keccak(item)
    mask = 0
    for start in (0, 2, 4):
        mask |= 1 << (int.from_bytes(digest[start : start + 2], "big") & 2047)
    return mask
