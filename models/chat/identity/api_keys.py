"""API keys: 32 letters and digits, which are derived and not stored.

A key is an HMAC of its user's nonce under the server's secret. The database contains the nonce and
the SHA-256 of the key. A reader of the database can neither use nor derive a key, and
`fetch_api_key` can still return a user's key again. A new nonce creates a new key. After a change
of the secret, old keys work until their users fetch new ones. docs/decisions contains the reasons.
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
    """Derives API keys from the current secret, or from the previous secret if a user's key was
    derived from it.
    """

    def __init__(self, secret: bytes, previous: bytes | None = None) -> None:
        if len(secret) < SECRET_BYTES:
            raise ValueError(f"the secret of API keys needs at least {SECRET_BYTES} bytes")
        self._secrets = [secret] if previous is None else [secret, previous]

    def key_of(self, user: User) -> str:
        """Return the user's key. The row changes only if the key was derived neither from the
        current nor from the previous secret: then the key is replaced.
        """
        key = self.find_key(user.api_key_nonce, user.api_key_sha256)
        if key is None:
            key = self._derive(user.api_key_nonce, self._secrets[0])
            user.api_key_sha256 = digest_of(key)
        return key

    def find_key(self, nonce: str, digest: str) -> str | None:
        """Return the key with this nonce and digest, or None if it was derived neither from the
        current nor from the previous secret.
        """
        keys = (self._derive(nonce, secret) for secret in self._secrets)
        return next((key for key in keys if digest_of(key) == digest), None)

    def renew(self, user: User) -> str:
        """Give the user a new key. The old key stops working."""
        user.api_key_nonce = secrets.token_hex(16)
        return self.key_of(user)

    def mail_tokens(self, nonce: str, facts: bytes) -> list[bytes]:
        """Return the proofs for an email address with these facts, given to the user whose key has
        this nonce. The first is under the current secret, the second under the previous secret, if
        any.
        """
        text = b"specd chat mail " + nonce.encode("ascii") + b" " + facts
        return [hmac.digest(secret, text, "sha256") for secret in self._secrets]

    def seal(self, secret: str) -> str:
        """Return a digest for comparing secrets. It cannot be inverted without the server's
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
    """Return the current secret and the previous secret or None, for `KeyMaker` and `Vault`."""
    return secret_files.load_secrets(data_dir / "chat-secret", secret, previous)
