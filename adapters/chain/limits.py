"""Recognising "ask for fewer blocks" among the many ways in which RPC providers say it."""

from __future__ import annotations

import re

# Said of a question that lies above the node's head or is inside out: fewer blocks do not help.
_NOT_A_LIMIT = re.compile(
    r"beyond current head|out ?of ?range ?error|block height is|unknown block|header not found"
    r"|invalid block range params|fromblock.{0,30}(greater|higher|after).{0,30}toblock",
    re.IGNORECASE,
)

# Said of too many questions, not of a question too large: another endpoint or patience helps.
_RATE = re.compile(
    r"rate.?limit|too many requests|request rate|requests? (count|quota)|per (second|minute|day)"
    r"|compute units|capacity|throttl",
    re.IGNORECASE,
)

# Texts of Infura, Alchemy, QuickNode, Ankr, Cloudflare, BSC, Base, Polygon, Avalanche, drpc,
# Chainstack, OKX, geth, erigon and reth.
_LIMIT = re.compile(
    r"query returned more than|more than [\d,]+ (results|logs)|response size|response too large"
    r"|(block|blocks|log|logs) ?range|range.{0,20}(too (large|wide|big)|exceed|limit)"
    r"|(limited|limit) to.{0,30}(range|blocks)|ranges? over|exceeds? max(imum)? (results|block)"
    r"|too many (blocks|logs|results)|query (exceeds|timeout)|max(imum)? (is|range|block)"
    r"|[\d,]+ range\b",
    re.IGNORECASE,
)

# EIP-1474 "limit exceeded": used for rates as well, so the text decides first.
_LIMIT_EXCEEDED = -32005


def is_range_too_large(code: int, message: str) -> bool:
    """Whether an eth_getLogs error asks for a smaller range, by its text, then by its code."""
    if _NOT_A_LIMIT.search(message):
        return False
    if _LIMIT.search(message):
        return True
    return code == _LIMIT_EXCEEDED and not _RATE.search(message)
