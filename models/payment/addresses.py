"""Deposit addresses from a watch-only key: the children `0/i` of an account-level BIP-32 xpub."""

import hmac
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from bip_utils import Base58ChecksumError, Bip32KeyError, Bip32Slip10Secp256k1
from eth_utils.address import is_address, to_checksum_address
from eth_utils.crypto import keccak

from models.payment.errors import InvalidMethod, InvalidXpub, PrivateKeyRefused

ACCOUNT_DEPTH = 3  # m / purpose' / coin' / account'
RECEIVING = 0

_PRIVATE = re.compile(r"\s*[a-z]prv", re.IGNORECASE)


def check_xpub(xpub: str) -> None:
    """Raise `PrivateKeyRefused` or `InvalidXpub` unless this is an account-level public key.

    Neither the errors nor their causes repeat the text: it may be a secret pasted by mistake.
    """
    if _PRIVATE.match(xpub):
        raise PrivateKeyRefused()
    _receiving_node(xpub)


def derive_deposit_address(xpub: str, index: int) -> str:
    """The EIP-55 address of child `0/index`. Raises `InvalidXpub`."""
    parent = _receiving_point(xpub)
    # BIP-32, CKDpub: the parent's point plus as many times the generator as the left half says.
    told = parent.compressed + index.to_bytes(4, "big")
    child = parent.point.add(hmac.digest(parent.chain_code, told, "sha512")[:32])
    return to_checksum_address(keccak(child.format(compressed=False)[1:])[-20:])


def parse_token_address(text: str) -> str:
    """A contract address in EIP-55 spelling. Mixed case must carry the right checksum."""
    # eth_utils' is_address takes mixed case with a wrong checksum: a typing error, so not here.
    spellings = (text.lower(), to_checksum_address(text)) if is_address(text) else ()
    if text not in spellings or not text.startswith("0x"):
        raise InvalidMethod(
            problem="The token must be a contract address: 0x and 40 hex digits, "
            "all lower case or with its EIP-55 checksum."
        )
    return to_checksum_address(text)


class _Point(Protocol):
    """coincurve's public key, with which bip_utils counts as well."""

    def add(self, scalar: bytes, /) -> "_Point": ...
    def format(self, compressed: bool) -> bytes: ...


@dataclass(frozen=True, slots=True)
class _Parent:
    """The public half of the node `0`: all that its children's addresses follow from."""

    point: _Point
    compressed: bytes
    chain_code: bytes


@lru_cache(maxsize=1024)
def _receiving_point(xpub: str) -> _Parent:
    """Decoding and the first derivation are paid once per key. Raises `InvalidXpub`."""
    node = _receiving_node(xpub)
    point = node.PublicKey().KeyObject().UnderlyingObject()
    return _Parent(point, point.format(compressed=True), node.ChainCode().ToBytes())


def _receiving_node(xpub: str) -> Bip32Slip10Secp256k1:
    try:
        account = Bip32Slip10Secp256k1.FromExtendedKey(xpub)
    except (Base58ChecksumError, Bip32KeyError, ValueError, IndexError):
        raise InvalidXpub() from None
    if not account.IsPublicOnly():
        raise PrivateKeyRefused()
    if account.Depth().ToInt() != ACCOUNT_DEPTH or not account.Index().IsHardened():
        raise InvalidXpub()
    return account.ChildKey(RECEIVING)
