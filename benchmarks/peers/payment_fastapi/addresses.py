"""Deposit addresses: child 0/i of the project's extended public key (BIP 32), EIP-55."""

import hmac
from functools import lru_cache

from base58 import b58decode_check
from btclib_secp256k1 import keys
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak


@lru_cache(maxsize=1024)
def external_branch(xpub: str) -> tuple[bytes, bytes]:
    """Return the chain code and compressed key of child 0, the parent of all deposit addresses."""
    raw = b58decode_check(xpub)
    key, chain_code = child(raw[13:45], raw[45:], 0)
    return chain_code, keys.reserialize(key)


def child(chain_code: bytes, compressed: bytes, index: int) -> tuple[bytes, bytes]:
    digest = hmac.digest(chain_code, compressed + index.to_bytes(4, "big"), "sha512")
    return keys.pubkey_tweak_add(compressed, digest[:32], compressed=False), digest[32:]


def deposit_address(xpub: str, index: int) -> str:
    key, _ = child(*external_branch(xpub), index)
    return to_checksum_address(keccak(key[1:])[-20:])
