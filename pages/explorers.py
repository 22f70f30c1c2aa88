"""Block explorers of public test networks, with URLs as in EIP-3091. Other chains have no links."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

EXPLORERS: Mapping[int, str] = MappingProxyType(
    {
        97: "https://testnet.bscscan.com",
        10200: "https://gnosis-chiado.blockscout.com",
        17000: "https://holesky.etherscan.io",
        59141: "https://sepolia.lineascan.build",
        80002: "https://amoy.polygonscan.com",
        84532: "https://sepolia.basescan.org",
        421614: "https://sepolia.arbiscan.io",
        534351: "https://sepolia.scrollscan.com",
        560048: "https://hoodi.etherscan.io",
        11155111: "https://sepolia.etherscan.io",
        11155420: "https://sepolia-optimism.etherscan.io",
    }
)
"""The explorer's URL by chain id, without a slash at the end."""


def transaction_url(chain_id: int, tx_hash: str) -> str | None:
    """Return the URL of a transaction's page, or None if the chain has no known explorer."""
    explorer = EXPLORERS.get(chain_id)
    return f"{explorer}/tx/{tx_hash}" if explorer else None
