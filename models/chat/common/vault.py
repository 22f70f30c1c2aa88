"""The chat service's sealed secrets (specd/_db/sealing.py), under the secret that API keys are made
with.
"""

from specd.db import SealedTexts


class Vault(SealedTexts):
    """Seals short texts under the present secret; opens what that or the previous one sealed."""

    def __init__(self, secret: bytes, previous: bytes | None = None) -> None:
        super().__init__(secret, previous, label=b"specd chat vault")
