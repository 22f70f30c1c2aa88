"""Deposit addresses: child 0/i of the project's extended public key (BIP 32), EIP-55."""

import hmac
from functools import lru_cache

from bip_utils import Bip32Slip10Secp256k1
from coincurve import PublicKey
from eth_utils import keccak, to_checksum_address


@lru_cache(maxsize=1024)
def external_branch(xpub: str) -> tuple[bytes, bytes, PublicKey]:
    """Chain code and compressed key of child 0, from which all deposit addresses descend."""
    branch = Bip32Slip10Secp256k1.FromExtendedKey(xpub).ChildKey(0)
    compressed = branch.PublicKey().RawCompressed().ToBytes()
    return branch.ChainCode().ToBytes(), compressed, PublicKey(compressed)


def deposit_address(xpub: str, index: int) -> str:
    chain_code, compressed, key = external_branch(xpub)
    tweak = hmac.digest(chain_code, compressed + index.to_bytes(4, "big"), "sha512")[:32]
    return to_checksum_address(keccak(key.add(tweak).format(compressed=False)[1:])[-20:])
