"""Deposit addresses from a watch-only key: the children `0/i` of an account-level BIP-32 xpub."""

import re
from functools import lru_cache

from bip_utils import Base58ChecksumError, Bip32KeyError, Bip32Slip10Secp256k1, EthAddrEncoder
from eth_utils.address import is_address, to_checksum_address

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
    child = _receiving_node(xpub).ChildKey(index)
    return str(EthAddrEncoder.EncodeKey(child.PublicKey().KeyObject()))


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


@lru_cache(maxsize=1024)
def _receiving_node(xpub: str) -> Bip32Slip10Secp256k1:
    """The node `0` below the account: decoding and the first derivation are paid once per key."""
    try:
        account = Bip32Slip10Secp256k1.FromExtendedKey(xpub)
    except (Base58ChecksumError, Bip32KeyError, ValueError, IndexError):
        raise InvalidXpub() from None
    if not account.IsPublicOnly():
        raise PrivateKeyRefused()
    if account.Depth().ToInt() != ACCOUNT_DEPTH or not account.Index().IsHardened():
        raise InvalidXpub()
    return account.ChildKey(RECEIVING)
