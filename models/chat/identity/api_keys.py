"""API keys: 32 letters and digits, derived, never stored.

A key is an HMAC of its user's nonce under the server's secret. The database holds the nonce and the
key's SHA-256: whoever reads it can neither use a key nor make one, yet `fetch_api_key` can tell a
user their key again. A new nonce is a new key; a new secret leaves old keys working until their
users fetch new ones. docs/decisions tells why.
"""

import hmac
import secrets
from pathlib import Path
from typing import Protocol

from models import secret_files
from models.chat.identity.key_digests import digest_of
from models.chat.tables import User
from models.secret_files import SECRET_BYTES

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
LENGTH = 32


class HoldsKey(Protocol):
    """A row with what a key is made of, or a `User`."""

    @property
    def api_key_nonce(self) -> str: ...
    @property
    def api_key_sha256(self) -> str: ...


class KeyMaker:
    """Makes API keys under the present secret; keys of the previous one are told as they are."""

    def __init__(self, secret: bytes, previous: bytes | None = None) -> None:
        if len(secret) < SECRET_BYTES:
            raise ValueError(f"the secret of API keys needs at least {SECRET_BYTES} bytes")
        self._secret, self._previous = secret, previous

    def key_of(self, user: User) -> str:
        """The user's key, made again. A key made under a secret that is neither the present nor the
        previous one is replaced: then, and only then, the row changes.
        """
        key = self._derive(user.api_key_nonce, self._secret)
        digest = digest_of(key)
        if user.api_key_sha256 != digest and self._previous is not None:
            earlier = self._derive(user.api_key_nonce, self._previous)
            if user.api_key_sha256 == digest_of(earlier):
                return earlier
        if user.api_key_sha256 != digest:
            user.api_key_sha256 = digest
        return key

    def find_key(self, user: HoldsKey) -> str | None:
        """The user's key, made again, of a row that stays as it is. None for a key made under a
        secret that is neither the present nor the previous one.
        """
        for secret in (self._secret, self._previous):
            key = None if secret is None else self._derive(user.api_key_nonce, secret)
            if key is not None and digest_of(key) == user.api_key_sha256:
                return key
        return None

    def renew(self, user: User) -> str:
        """Give the user a new key; the old one stops working."""
        user.api_key_nonce = secrets.token_hex(16)
        return self.key_of(user)

    def mail_token(self, nonce: str, facts: bytes) -> bytes:
        """What proves that somebody whose key has this nonce was given an address for mail."""
        return self._mail_token(nonce, facts, self._secret)

    def mail_tokens(self, nonce: str, facts: bytes) -> list[bytes]:
        """The same under the present secret and the previous one."""
        known = (self._secret, self._previous)
        return [self._mail_token(nonce, facts, secret) for secret in known if secret is not None]

    @staticmethod
    def _mail_token(nonce: str, facts: bytes, secret: bytes) -> bytes:
        text = b"specd chat mail " + nonce.encode("ascii") + b" " + facts
        return hmac.digest(secret, text, "sha256")

    def seal(self, secret: str) -> str:
        """A digest that tells whether two secrets are the same, and cannot be searched for them
        without the server's own.
        """
        text = b"specd chat sealed " + secret.encode("utf-8")
        return hmac.digest(self._secret, text, "sha256").hex()

    @staticmethod
    def _derive(nonce: str, secret: bytes) -> str:
        digest = hmac.digest(secret, b"specd chat api key " + nonce.encode("ascii"), "sha256")
        number = int.from_bytes(digest, "big")
        letters = []
        for _ in range(LENGTH):
            number, letter = divmod(number, len(ALPHABET))
            letters.append(ALPHABET[letter])
        return "".join(letters)


def load_secrets(data_dir: Path, given: str, previous: str) -> tuple[bytes, bytes | None]:
    """The present secret and the previous one, if any: for `KeyMaker` and `Vault`."""
    return secret_files.load_secrets(data_dir / "chat-secret", given, previous)
