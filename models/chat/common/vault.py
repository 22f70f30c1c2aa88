"""Sealed secrets of the chat service (specd/_db/sealing.py), under the secret for API keys."""

from specd.db import SealedTexts


class Vault(SealedTexts):
    """Seals short texts under the current secret, and opens texts sealed with the current or the
    previous secret.
    """

    def __init__(self, secret: bytes, previous: bytes | None = None) -> None:
        super().__init__(secret, previous, label=b"specd chat vault")
