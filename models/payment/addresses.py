"""Deposit addresses from a watch-only key: the children `0/i` of an account-level BIP-32 xpub.

libsecp256k1 does the arithmetic on the curve, through bindings with wheels for each supported
Python. The other required parts of BIP-32, one encoding and one derivation, are implemented here.
"""

import hmac
import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from struct import Struct

from btclib_secp256k1 import keys

from models.payment.errors import InvalidMethod, InvalidXpub, PrivateKeyRefused

ACCOUNT_DEPTH = 3  # m / purpose' / coin' / account'
RECEIVING = 0

_PRIVATE = re.compile(r"\s*[a-z]prv", re.IGNORECASE)
_TOKEN = re.compile(r"0x[0-9a-fA-F]{40}")
_DIGITS = {
    letter: digit
    for digit, letter in enumerate("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz")
}
"""The digits of base 58."""
_XPUB_LENGTH = 111
_XPUB_VERSION = 0x0488B21E
_HARDENED = 1 << 31
_CHECKSUM_LENGTH = 4
_SERIALIZED = Struct(">I B 4s I 32s 33s")
"""BIP-32, "Serialization format": version, depth, parent's fingerprint, index, chain code, key."""


def check_xpub(xpub: str) -> None:
    """Raise `PrivateKeyRefused` or `InvalidXpub` unless this is an account-level public key.

    Neither the errors nor their causes repeat the text: it may be a secret pasted by mistake.
    """
    if _PRIVATE.match(xpub):
        raise PrivateKeyRefused()
    _receiving_node(xpub)


def derive_deposit_address(xpub: str, index: int) -> str:
    """Return the EIP-55 address of child `0/index`. Raise `InvalidXpub`."""
    point, _ = _receiving_node(xpub).derive(index)
    return checksummed("0x" + keccak(point[1:])[-20:].hex())


def write_derivation_path(xpub: str, index: int) -> str:
    """Return the path of child `0/index` in a wallet that has the account, such as
    `m/44'/60'/0'/0/17`. An extended key contains only the account; purpose and coin are those of
    Ethereum (BIP-44). Raise `InvalidXpub`.
    """
    return f"m/44'/60'/{_account_of(xpub)}'/{RECEIVING}/{index}"


def parse_token_address(text: str) -> str:
    """Return a contract address with its EIP-55 checksum. Raise `InvalidMethod` for any other text,
    including mixed case with a wrong checksum.
    """
    address = checksummed(text) if _TOKEN.fullmatch(text) else ""
    if text not in (address, address.lower()) or not text:
        raise InvalidMethod(
            problem="The token must be a contract address: 0x and 40 hex digits, "
            "all lower case or with its EIP-55 checksum."
        )
    return address


def checksummed(address: str) -> str:
    """Return an address, 0x and 40 hex digits, with its EIP-55 checksum: a letter is upper case if
    the digest of the lower-case digits has at least 8 at its position.
    """
    digits = address[2:].lower()
    digest = keccak(digits.encode()).hex()
    pairs = zip(digits, digest, strict=False)
    return "0x" + "".join([digit.upper() if case >= "8" else digit for digit, case in pairs])


@dataclass(frozen=True, slots=True)
class Node:
    """The public half of a node, from which its children derive. `point` is uncompressed."""

    point: bytes
    compressed: bytes
    chain_code: bytes

    def derive(self, index: int) -> tuple[bytes, bytes]:
        """Return the point and the chain code of a child that is not hardened (BIP-32, CKDpub): the
        parent's point plus the generator times the left half of the digest.
        """
        data = self.compressed + index.to_bytes(4, "big")
        digest = hmac.digest(self.chain_code, data, "sha512")
        return keys.pubkey_tweak_add(self.point, digest[:32], compressed=False), digest[32:]


@lru_cache(maxsize=1024)
def _receiving_node(xpub: str) -> Node:
    """Return the node `0` of an account. Raise `InvalidXpub`."""
    version, depth, _, index, chain_code, key = _SERIALIZED.unpack(_decode(xpub))
    if version != _XPUB_VERSION or depth != ACCOUNT_DEPTH or index < _HARDENED:
        raise InvalidXpub()
    try:
        account = Node(keys.reserialize(key, compressed=False), key, chain_code)
    except ValueError:  # not a point of the curve
        raise InvalidXpub() from None
    point, chain_code = account.derive(RECEIVING)
    return Node(point, keys.reserialize(point), chain_code)


@lru_cache(maxsize=1024)
def _account_of(xpub: str) -> int:
    """Return the number of the account. Raise `InvalidXpub`."""
    index: int = _SERIALIZED.unpack(_decode(xpub))[3]
    return index - _HARDENED


def _decode(xpub: str) -> bytes:
    """Return the decoded bytes of an extended key in Base58Check. Raise `InvalidXpub`."""
    if len(xpub) != _XPUB_LENGTH or not _DIGITS.keys() >= set(xpub):
        raise InvalidXpub()
    number = 0
    for letter in xpub:
        number = number * 58 + _DIGITS[letter]
    whole = number.to_bytes(_SERIALIZED.size + _CHECKSUM_LENGTH, "big")
    serialized, checksum = whole[: _SERIALIZED.size], whole[_SERIALIZED.size :]
    if sha256(sha256(serialized).digest()).digest()[:_CHECKSUM_LENGTH] != checksum:
        raise InvalidXpub()
    return serialized


def keccak(data: bytes) -> bytes:
    """Return the 32 bytes of Keccak-256."""
    from Crypto.Hash import keccak as hashing  # imported late: it loads a C parser

    digest: bytes = hashing.new(data=data, digest_bits=256).digest()
    return digest
