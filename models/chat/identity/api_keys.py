"""API keys: 32 letters and digits, derived, never stored.

A key is an HMAC of its user's nonce under the server's secret. The database has the nonce and the
key's SHA-256: whoever reads it can neither use a key nor derive one, yet `fetch_api_key` can return
a user's key again. A new nonce is a new key; a new secret leaves old keys working until their users
fetch new ones. docs/decisions gives the reasons.
"""

import hmac
import secrets
from pathlib import Path

from models import secret_files
from models.chat.identity.key_digests import digest_of
from models.chat.tables import User
from models.secret_files import SECRET_BYTES

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
LENGTH = 32


class KeyMaker:
    """Derives API keys from the present secret, and from the previous one if a user's key still is
    of that.
    """

    def __init__(self, secret: bytes, previous: bytes | None = None) -> None:
        if len(secret) < SECRET_BYTES:
            raise ValueError(f"the secret of API keys needs at least {SECRET_BYTES} bytes")
        self._secrets = [secret] if previous is None else [secret, previous]

    def key_of(self, user: User) -> str:
        """Return the user's key. A key of a secret that is neither the present nor the previous one
        is replaced: then, and only then, the row changes.
        """
        key = self.find_key(user.api_key_nonce, user.api_key_sha256)
        if key is None:
            key = self._derive(user.api_key_nonce, self._secrets[0])
            user.api_key_sha256 = digest_of(key)
        return key

    def find_key(self, nonce: str, digest: str) -> str | None:
        """Return the key with this nonce and digest; None if its secret is neither the present nor
        the previous one.
        """
        keys = (self._derive(nonce, secret) for secret in self._secrets)
        return next((key for key in keys if digest_of(key) == digest), None)

    def renew(self, user: User) -> str:
        """Give the user a new key; the old one stops working."""
        user.api_key_nonce = secrets.token_hex(16)
        return self.key_of(user)

    def mail_tokens(self, nonce: str, facts: bytes) -> list[bytes]:
        """Return the proofs that the user whose key has this nonce was given an email address with
        these facts: under the present secret, and under the previous one.
        """
        text = b"specd chat mail " + nonce.encode("ascii") + b" " + facts
        return [hmac.digest(secret, text, "sha256") for secret in self._secrets]

    def seal(self, secret: str) -> str:
        """Return a digest by which secrets can be compared, but not found without the server's own
        secret.
        """
        text = b"specd chat sealed " + secret.encode("utf-8")
        return hmac.digest(self._secrets[0], text, "sha256").hex()

    @staticmethod
    def _derive(nonce: str, secret: bytes) -> str:
        digest = hmac.digest(secret, b"specd chat api key " + nonce.encode("ascii"), "sha256")
        number = int.from_bytes(digest, "big")
        letters = []
        for _ in range(LENGTH):
            number, letter = divmod(number, len(ALPHABET))
            letters.append(ALPHABET[letter])
        return "".join(letters)


def load_secrets(data_dir: Path, secret: str, previous: str) -> tuple[bytes, bytes | None]:
    """Return the present secret and the previous one, if any, for `KeyMaker` and `Vault`."""
    return secret_files.load_secrets(data_dir / "chat-secret", secret, previous)
