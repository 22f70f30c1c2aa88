"""Deposit addresses, compared with the vectors of BIP-32 and with another library.

eth-account derives private keys with an independent implementation.
"""

import hmac
from hashlib import sha256

import pytest
from base58 import b58decode_check, b58encode_check
from Crypto.Hash import RIPEMD160
from eth_account import Account
from eth_account.hdaccount.deterministic import HardNode, HDPath, derive_child_key
from eth_keys.datatypes import PrivateKey, PublicKey

from models.payment.addresses import (
    Node,
    check_xpub,
    derive_deposit_address,
    parse_token_address,
    write_derivation_path,
)
from models.payment.errors import InvalidMethod, InvalidXpub, PrivateKeyRefused
from tests.support.payment.factories import ADA_DEPOSITS, ADA_XPUB, BEN_XPUB

MNEMONIC = "legal winner thank year wave sausage worth useful legal winner thank yellow"
ADA_XPRV = (
    "xprv9xhjoAai6MhLHcQm4Z2mWqkq96G2DqRUUrfF39fiomwGU2dKKRZUS4hXCCDSpqZyQwWCsG4e9NJknKd9TQHHF7jjizn"
    "DpUqUQZ9CNSWZeZg"
)
ROOT = (
    "xpub661MyMwAqRbcFS99u1xBNnVxPAryKPgzZkXXUngFVKHWRx6uJMCLsz4U56FN7PxTSeVqL8tPJpiCrs1KZh1dV2Bh6Qy"
    "AbmNmjFRPnkrZP52"
)
RECEIVING = (
    "xpub6EPuWo2Zez8qnWR1a44VViRzRwan7Ct5XaKCz2anC2xSQLCUUvhGEnGYBohKCsocJHEkYQ143QJH8fixW8ixUxrh6bU"
    "52qG2tPe1vqCJjiD"
)


# The steps of BIP-32's test vectors 1 and 2 that are not hardened: parent, index, child.
STEPS = {
    "1: m/0H/1": (
        "xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6LHhwBZeNK1VTsfTFUHCdrfp1bgwQ9"
        "xv5ski8PX9rL2dZXvgGDnw",
        1,
        "xpub6ASuArnXKPbfEwhqN6e3mwBcDTgzisQN1wXN9BJcM47sSikHjJf3UFHKkNAWbWMiGj7Wf5uMash7SyYq527Hq"
        "ck2AxYysAA7xmALppuCkwQ",
    ),
    "1: m/0H/1/2H/2": (
        "xpub6D4BDPcP2GT577Vvch3R8wDkScZWzQzMMUm3PWbmWvVJrZwQY4VUNgqFJPMM3No2dFDFGTsxxpG5uJh7n7epu"
        "4trkrX7x7DogT5Uv6fcLW5",
        2,
        "xpub6FHa3pjLCk84BayeJxFW2SP4XRrFd1JYnxeLeU8EqN3vDfZmbqBqaGJAyiLjTAwm6ZLRQUMv1ZACTj37sR62c"
        "fN7fe5JnJ7dh8zL4fiyLHV",
    ),
    "1: m/0H/1/2H/2/1000000000": (
        "xpub6FHa3pjLCk84BayeJxFW2SP4XRrFd1JYnxeLeU8EqN3vDfZmbqBqaGJAyiLjTAwm6ZLRQUMv1ZACTj37sR62c"
        "fN7fe5JnJ7dh8zL4fiyLHV",
        1_000_000_000,
        "xpub6H1LXWLaKsWFhvm6RVpEL9P4KfRZSW7abD2ttkWP3SSQvnyA8FSVqNTEcYFgJS2UaFcxupHiYkro49S8yGasT"
        "vXEYBVPamhGW6cFJodrTHy",
    ),
    "2: m/0": (
        "xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BD"
        "zTJY47LJhkJ8UB7WEGuduB",
        0,
        "xpub69H7F5d8KSRgmmdJg2KhpAK8SR3DjMwAdkxj3ZuxV27CprR9LgpeyGmXUbC6wb7ERfvrnKZjXoUmmDznezpbZ"
        "b7ap6r1D3tgFxHmwMkQTPH",
    ),
    "2: m/0/2147483647H/1": (
        "xpub6ASAVgeehLbnwdqV6UKMHVzgqAG8Gr6riv3Fxxpj8ksbH9ebxaEyBLZ85ySDhKiLDBrQSARLq1uNRts8RuJiH"
        "jaDMBU4Zn9h8LZNnBC5y4a",
        1,
        "xpub6DF8uhdarytz3FWdA8TvFSvvAh8dP3283MY7p2V4SeE2wyWmG5mg5EwVvmdMVCQcoNJxGoWaU9DCWh89LojfZ"
        "537wTfunKau47EL2dhHKon",
    ),
    "2: m/0/2147483647H/1/2147483646H/2": (
        "xpub6ERApfZwUNrhLCkDtcHTcxd75RbzS1ed54G1LkBUHQVHQKqhMkhgbmJbZRkrgZw4koxb5JaHWkY4ALHY2grBG"
        "RjaDMzQLcgJvLJuZZvRcEL",
        2,
        "xpub6FnCn6nSzZAw5Tw7cgR9bi15UV96gLZhjDstkXXxvCLsUXBGXPdSnLFbdpq8p9HmGsApME5hQTZ3emM2rnY5a"
        "gb9rXpVGyy3bdW6EEgAtqt",
    ),
}


def _node(xpub: str) -> Node:
    raw = b58decode_check(xpub)
    key = PublicKey.from_compressed_bytes(raw[45:])
    return Node(b"\x04" + key.to_bytes(), raw[45:], raw[13:45])


def _account(seed: bytes, number: int) -> str:
    """Return the xpub of `m/44'/60'/number'`."""
    digest = hmac.digest(b"Bitcoin seed", seed, "sha512")
    key, chain_code = digest[:32], digest[32:]
    for index in (44, 60, number):
        parent = PrivateKey(key).public_key.to_compressed_bytes()
        key, chain_code = derive_child_key(key, chain_code, HardNode(index))
    fingerprint = RIPEMD160.new(sha256(parent).digest()).digest()[:4]
    place = b"\x03" + fingerprint + (number + 2**31).to_bytes(4, "big")
    own = PrivateKey(key).public_key.to_compressed_bytes()
    return b58encode_check(bytes.fromhex("0488b21e") + place + chain_code + own).decode()


def _changed(place: int, value: bytes) -> str:
    """Return Ada's key with other bytes at an offset and the matching checksum."""
    raw = bytearray(b58decode_check(ADA_XPUB))
    raw[place : place + len(value)] = value
    return b58encode_check(bytes(raw)).decode()


def _not_a_point() -> str:
    return _changed(45, b"\x02" + bytes(31) + b"\x05")


def _not_hardened() -> str:
    return _changed(9, bytes(4))


class TestDeriveDepositAddress:
    @pytest.mark.parametrize("index", [0, 1, 2, 19, 1000, 2**31 - 1])
    @pytest.mark.parametrize(("account", "xpub"), [(0, ADA_XPUB), (1, BEN_XPUB)])
    def test_address_is_the_one_in_the_owners_wallet(
        self, account: int, xpub: str, index: int
    ) -> None:
        Account.enable_unaudited_hdwallet_features()
        path = f"m/44'/60'/{account}'/0/{index}"
        expected = Account.from_mnemonic(MNEMONIC, account_path=path).address
        assert derive_deposit_address(xpub, index) == expected
        assert write_derivation_path(xpub, index) == path

    @pytest.mark.parametrize("seed", range(20))
    def test_address_is_the_one_of_another_library(self, seed: int) -> None:
        secret = sha256(seed.to_bytes(4, "big")).digest()
        xpub = _account(secret, seed)
        for index in (0, 7, 2**31 - 1 - seed):
            key = HDPath(f"m/44'/60'/{seed}'/0/{index}").derive(secret)
            assert derive_deposit_address(xpub, index) == Account.from_key(key).address

    @pytest.mark.parametrize("step", STEPS)
    def test_derivation_matches_the_vectors_of_bip_32(self, step: str) -> None:
        parent, index, child = STEPS[step]
        point, chain_code = _node(parent).derive(index)
        assert (point, chain_code) == (_node(child).point, _node(child).chain_code)

    def test_cast_has_known_addresses(self) -> None:
        assert tuple(derive_deposit_address(ADA_XPUB, n) for n in range(3)) == ADA_DEPOSITS


class TestCheckXpub:
    def test_account_level_key_is_accepted(self) -> None:
        check_xpub(ADA_XPUB)

    @pytest.mark.parametrize(
        "key",
        [ADA_XPRV, f" {ADA_XPRV}", ADA_XPRV[:-4], "xprv-anything", "tprv8ZgxMBicQ", "ZPRV123"],
    )
    def test_private_key_is_rejected_by_its_prefix(self, key: str) -> None:
        with pytest.raises(PrivateKeyRefused):
            check_xpub(key)

    @pytest.mark.parametrize(
        "key",
        [
            pytest.param(ROOT, id="the root"),
            pytest.param(RECEIVING, id="one level too deep"),
            pytest.param("", id="empty"),
            pytest.param("xpub", id="a prefix"),
            pytest.param(ADA_XPUB[:-1], id="too short"),
            pytest.param(ADA_XPUB[:-1] + "4", id="a wrong checksum"),
            pytest.param(ADA_XPUB + "1", id="too long"),
            pytest.param("1" + ADA_XPUB, id="a zero before it"),
            pytest.param("z" * 111, id="too large a number"),
            pytest.param(_not_a_point(), id="not a point"),
            pytest.param(_not_hardened(), id="not hardened"),
            pytest.param(ADA_XPUB[:20] + "0" + ADA_XPUB[21:], id="not base58"),
            pytest.param("\u00fc" * 111, id="umlauts"),
            pytest.param(ADA_DEPOSITS[0], id="an address"),
        ],
    )
    def test_any_other_key_is_rejected(self, key: str) -> None:
        with pytest.raises(InvalidXpub) as caught:
            check_xpub(key)
        assert not isinstance(caught.value, PrivateKeyRefused)

    @pytest.mark.parametrize("key", [ADA_XPRV, ADA_XPRV[:-1] + "x", ROOT])
    def test_error_does_not_repeat_the_key(self, key: str) -> None:
        with pytest.raises(InvalidXpub) as caught:
            check_xpub(key)
        told = f"{caught.value!s} {caught.value!r} {caught.value.__cause__!r}"
        assert key[4:24] not in told
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


class TestParseTokenAddress:
    TOKEN = "0x5FbDB2315678afecb367f032d93F642f64180aa3"

    @pytest.mark.parametrize("text", [TOKEN, TOKEN.lower()])
    def test_address_is_returned_with_eip_55_checksum(self, text: str) -> None:
        assert parse_token_address(text) == self.TOKEN

    @pytest.mark.parametrize(
        "text", ["", "0x", TOKEN[2:], TOKEN[:-1], TOKEN + "0", TOKEN[:-1] + "A", "0x" + "g" * 40]
    )
    def test_invalid_address_or_checksum_is_rejected(self, text: str) -> None:
        with pytest.raises(InvalidMethod):
            parse_token_address(text)
