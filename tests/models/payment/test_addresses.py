"""Deposit addresses, judged by other libraries' derivations of the same accounts."""

from hashlib import sha256

import pytest
from bip_utils import Base58Decoder, Base58Encoder, Bip32Slip10Secp256k1, EthAddrEncoder
from eth_account import Account

from models.payment.addresses import (
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


def _changed(place: int, value: bytes) -> str:
    """Ada's key with other bytes there, and the checksum that goes with them."""
    raw = bytearray(Base58Decoder.CheckDecode(ADA_XPUB))
    raw[place : place + len(value)] = value
    encoded: str = Base58Encoder.CheckEncode(bytes(raw))
    return encoded


def _not_a_point() -> str:
    return _changed(45, b"\x02" + bytes(31) + b"\x05")


def _not_hardened() -> str:
    return _changed(9, bytes(4))


class TestDeriveDepositAddress:
    @pytest.mark.parametrize("index", [0, 1, 2, 19, 1000, 2**31 - 1])
    @pytest.mark.parametrize(("account", "xpub"), [(0, ADA_XPUB), (1, BEN_XPUB)])
    def test_is_the_address_the_owners_wallet_shows(
        self, account: int, xpub: str, index: int
    ) -> None:
        Account.enable_unaudited_hdwallet_features()
        path = f"m/44'/60'/{account}'/0/{index}"
        expected = Account.from_mnemonic(MNEMONIC, account_path=path).address
        assert derive_deposit_address(xpub, index) == expected
        assert write_derivation_path(xpub, index) == path

    @pytest.mark.parametrize("seed", range(20))
    def test_is_the_address_that_a_library_derives(self, seed: int) -> None:
        root = Bip32Slip10Secp256k1.FromSeed(sha256(seed.to_bytes(4, "big")).digest())
        account = root.DerivePath(f"m/44'/60'/{seed}'")
        receiving = account.DerivePath("0")
        xpub = account.PublicKey().ToExtended()
        for index in (0, 7, 2**31 - 1 - seed):
            key = receiving.ChildKey(index).PublicKey().KeyObject()
            assert derive_deposit_address(xpub, index) == EthAddrEncoder.EncodeKey(key)

    def test_gives_the_cast_their_addresses(self) -> None:
        assert tuple(derive_deposit_address(ADA_XPUB, n) for n in range(3)) == ADA_DEPOSITS


class TestCheckXpub:
    def test_takes_an_account_level_key(self) -> None:
        check_xpub(ADA_XPUB)

    @pytest.mark.parametrize(
        "key",
        [ADA_XPRV, f" {ADA_XPRV}", ADA_XPRV[:-4], "xprv-anything", "tprv8ZgxMBicQ", "ZPRV123"],
    )
    def test_refuses_private_keys_by_their_look_alone(self, key: str) -> None:
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
    def test_refuses_anything_but_an_account_level_public_key(self, key: str) -> None:
        with pytest.raises(InvalidXpub) as caught:
            check_xpub(key)
        assert not isinstance(caught.value, PrivateKeyRefused)

    @pytest.mark.parametrize("key", [ADA_XPRV, ADA_XPRV[:-1] + "x", ROOT])
    def test_never_repeats_the_key(self, key: str) -> None:
        with pytest.raises(InvalidXpub) as caught:
            check_xpub(key)
        told = f"{caught.value!s} {caught.value!r} {caught.value.__cause__!r}"
        assert key[4:24] not in told
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


class TestParseTokenAddress:
    TOKEN = "0x5FbDB2315678afecb367f032d93F642f64180aa3"

    @pytest.mark.parametrize("text", [TOKEN, TOKEN.lower()])
    def test_spells_it_as_eip_55(self, text: str) -> None:
        assert parse_token_address(text) == self.TOKEN

    @pytest.mark.parametrize(
        "text", ["", "0x", TOKEN[2:], TOKEN[:-1], TOKEN + "0", TOKEN[:-1] + "A", "0x" + "g" * 40]
    )
    def test_refuses_what_is_no_address_or_has_a_wrong_checksum(self, text: str) -> None:
        with pytest.raises(InvalidMethod):
            parse_token_address(text)
