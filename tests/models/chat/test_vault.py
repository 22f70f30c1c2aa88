"""Sealed texts open only with the purpose and the secret that sealed them."""

import pytest

from models.chat.common.vault import Vault

VAULT = Vault(b"the secret of these tests, 32 bytes or more")


@pytest.mark.parametrize("text", ["", "a", "käse \U0001f9c0", "x" * 20_000])
def test_sealed_text_is_opened(text: str) -> None:
    sealed = VAULT.seal(text, purpose="jwt_key:1")
    assert VAULT.open(sealed, purpose="jwt_key:1") == text
    assert len(text) < 4 or text not in sealed
    assert sealed != VAULT.seal(text, purpose="jwt_key:1")


def test_other_purpose_or_secret_does_not_open_it() -> None:
    sealed = VAULT.seal("hush", purpose="jwt_key:1")
    assert VAULT.open(sealed, purpose="jwt_key:2") is None
    other = Vault(b"another secret of these tests, 32 bytes!")
    assert other.open(sealed, purpose="jwt_key:1") is None


def test_altered_text_is_not_opened() -> None:
    sealed = VAULT.seal("hush", purpose="p")
    for altered in ("", "v1.", "v1.AAAA", sealed[:-1], "é" + sealed, sealed[:5] + "A" + sealed[6:]):
        assert altered == sealed or VAULT.open(altered, purpose="p") is None
