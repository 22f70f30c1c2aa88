"""Encrypts secrets that must be readable later, so that a dump of the database does not contain
them in plain text.

The cipher is AES-256-GCM, with a key derived (HKDF-SHA-256, RFC 5869) from a secret of the service.
`label` separates the services. `purpose` names the kind and the owner of a sealed text. It is
authenticated, so a text that was moved to another row or is used for another purpose cannot be
opened. docs/decisions has the reasons.
"""

from __future__ import annotations

import base64
import binascii
import secrets
from typing import TYPE_CHECKING

import structlog

from specd._settings import MissingExtra

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE_BYTES = 12
PREFIX = "v1."


class SealedTexts:
    """Seals short texts under the current secret. Opens texts that were sealed under the current or
    the previous secret.
    """

    def __init__(self, secret: bytes, previous: bytes | None = None, *, label: bytes) -> None:
        """Raise `MissingExtra` without the extra `sealing`."""
        self._cipher = _cipher(secret, label)
        self._ciphers = (
            (self._cipher,) if previous is None else (self._cipher, _cipher(previous, label))
        )

    def seal(self, text: str, *, purpose: str) -> str:
        """Return the sealed text in URL-safe characters. The result differs each time."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        sealed = nonce + self._cipher.encrypt(nonce, text.encode("utf-8"), purpose.encode("utf-8"))
        return PREFIX + base64.urlsafe_b64encode(sealed).decode("ascii").rstrip("=")

    def open(self, sealed: str, *, purpose: str) -> str | None:
        """Return the text that was sealed for this purpose, or None if it cannot be opened, for
        example because it was sealed under an older secret.
        """
        for cipher in self._ciphers:
            opened = _open(cipher, sealed, purpose)
            if opened is not None:
                return opened
        _log.warning("cannot_open", purpose=purpose.partition(":")[0])
        return None

    def opens(self, sealed: str, *, purpose: str) -> bool:
        """Return whether a text was sealed under one of the two secrets for this purpose."""
        return any(_open(cipher, sealed, purpose) is not None for cipher in self._ciphers)

    def is_present(self, sealed: str, *, purpose: str) -> bool:
        """Return whether a text was sealed under the current secret for this purpose."""
        return _open(self._cipher, sealed, purpose) is not None


def _cipher(secret: bytes, label: bytes) -> AESGCM:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF
    except ImportError as error:
        raise MissingExtra("Sealing secrets", "sealing") from error
    derive = HKDF(algorithm=SHA256(), length=32, salt=None, info=label)
    return AESGCM(derive.derive(secret))


def _open(cipher: AESGCM, sealed: str, purpose: str) -> str | None:
    from cryptography.exceptions import InvalidTag

    try:
        text = sealed.removeprefix(PREFIX)
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        opened = cipher.decrypt(raw[:NONCE_BYTES], raw[NONCE_BYTES:], purpose.encode("utf-8"))
    except (binascii.Error, InvalidTag, ValueError):
        return None
    return opened.decode("utf-8")


_log = structlog.get_logger(__name__)
