"""The logs bloom filter in a block's header (Ethereum yellow paper, 4.3.1).

If the bits of an item are not set, no log of the block contains the item. If they are set, a log
may contain it, so an empty response should be checked with a second request.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from models.payment.addresses import keccak

BLOOM_BYTES = 256
_MAX_MISTAKES = 0.02
"""The maximum expected number of false positives in a block."""


def is_selective(bloom: bytes, among: int) -> bool:
    """Return whether a filter is sparse enough: it is not empty, and false positives are unlikely
    among `among` items.
    """
    filled = int.from_bytes(bloom, "big").bit_count() / (BLOOM_BYTES * 8)
    return len(bloom) == BLOOM_BYTES and filled > 0 and among * filled**3 <= _MAX_MISTAKES


def may_contain(bloom: bytes, items: Iterable[bytes]) -> bool:
    """Return whether a block's logs may contain all of `items` (addresses and topics)."""
    bits = int.from_bytes(bloom, "big")
    return all(bits & mask == mask for mask in map(_mask, items))


@lru_cache(maxsize=65_536)
def _mask(item: bytes) -> int:
    """Return a mask of an item's three bits. The low 11 bits of each of the first three byte pairs
    of its Keccak digest select one.
    """
    digest = keccak(item)
    mask = 0
    for start in (0, 2, 4):
        mask |= 1 << (int.from_bytes(digest[start : start + 2], "big") & 2047)
    return mask
