"""Recognizes the error texts with which RPC providers reject a block range as too large.

After any failed request for several blocks, the next range is narrower. The text decides only how
long the rejected width is remembered, and whether even one block was too large.
"""

from __future__ import annotations

import re

# The range is above the node's head or its ends are swapped, so a narrower range does not help.
_NOT_A_LIMIT = re.compile(
    r"beyond current head|out ?of ?range ?error|block height is|unknown block|header not found"
    r"|invalid block range params|fromblock.{0,30}(greater|higher|after).{0,30}toblock",
    re.IGNORECASE,
)

# The node has deleted the blocks: texts of geth, reth, erigon, nethermind and providers' plans. The
# code is from EIP-4444.
_PRUNED = re.compile(
    r"pruned|history (is )?(unavailable|not available|expired)|(needs?|requires?|use) an? archive"
    r"|archive (node|plan|access|data|request|state)|missing trie node|historical (state|logs|data)"
    r"|older than|(receipts|logs|blocks?) (is|are)? ?(not|no longer) available",
    re.IGNORECASE,
)
_PRUNED_HISTORY = 4444

# Too many requests, not a request that is too large: another endpoint or a pause helps.
_RATE = re.compile(
    r"rate.?limit|too many requests|request rate|requests? (count|quota)|per (second|minute|day)"
    r"|compute units|capacity|throttl",
    re.IGNORECASE,
)

# Texts of Infura, Alchemy, QuickNode, Ankr, Cloudflare, BSC, Base, Polygon, Avalanche, drpc,
# Chainstack, OKX, Coinbase, thirdweb, jsonrpsee, geth, erigon and reth.
_LIMIT = re.compile(
    r"query returned more than|more than [\d,]+ (results|logs)|(response|log).{0,10} size"
    r"|response (is )?too (large|big)|(block|blocks|log|logs) ?range"
    r"|range.{0,20}(too (large|wide|big)|exceed|limit)|exceed.{0,40}range"
    r"|(limited|limit).{0,20} to.{0,30}(range|blocks)|ranges? over"
    r"|exceeds? max(imum)? (results|block)|too many (blocks|logs|results)"
    r"|query (exceeds|timed? ?out)"
    r"|max(imum)? (is|range|block|allowed)|[\d,]+ range\b|at most [\d,]+ blocks"
    r"|deadline exceeded|(execution|request) (timeout|timed out)|specify an address",
    re.IGNORECASE,
)

_NAMED = re.compile(
    r"(?P<before>[\d,]+)(?P<kilo>k)?[- ]?(?:block|range)"
    r"|(?:max(?:imum)?|most|limit(?:ed)?|exceed\w*|over|than|range|up to)\D{0,40}?"
    r"(?P<after>[\d,]+)(?P<kilos>k)?",
    re.IGNORECASE,
)

# EIP-1474 "limit exceeded". Providers also use it for rate limits, so the text is checked first.
_LIMIT_EXCEEDED = -32005


def is_range_too_large(code: int, message: str) -> bool:
    """Return whether an eth_getLogs error means that the range is too large."""
    if _NOT_A_LIMIT.search(message) or is_pruned(code, message):
        return False
    if _LIMIT.search(message):
        return True
    return code == _LIMIT_EXCEEDED and not _RATE.search(message)


def is_pruned(code: int, message: str) -> bool:
    """Return whether an error means that the node has deleted the blocks."""
    return code == _PRUNED_HISTORY or _PRUNED.search(message) is not None


def is_rate_limit(code: int, message: str) -> bool:
    """Return whether an error is a rate limit, which does not depend on the size of the request."""
    return code == 429 or (_RATE.search(message) is not None and not _LIMIT.search(message))


def is_above_head(message: str) -> bool:
    """Return whether an error means that the node does not have the blocks yet, or that the range
    is invalid.
    """
    return _NOT_A_LIMIT.search(message) is not None


def find_named_width(message: str, *, below: int) -> int | None:
    """Return the largest number below `below` that an error text allows, or None if there is none.

    The number is only a hint: a wrong one costs a few additional requests.
    """
    named = []
    for match in _NAMED.finditer(message):
        digits = (match["before"] or match["after"]).replace(",", "")
        if 0 < len(digits) <= 9:
            named.append(int(digits) * (1000 if match["kilo"] or match["kilos"] else 1))
    return max((number for number in named if 0 < number < below), default=None)
