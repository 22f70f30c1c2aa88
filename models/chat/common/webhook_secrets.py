"""The secret that signs an outgoing webhook's requests, and a token derived from it for receivers
that only compare a text in the body.
"""

import hashlib
import hmac
from collections.abc import Mapping

from models.chat.common.vault import Vault


def purpose_of(user_id: int) -> str:
    """Return the purpose that a bot's secret is sealed for."""
    return f"outgoing_webhook:{user_id}"


def open_secret(vault: Vault, user_id: int, sealed: str) -> str | None:
    """Return the secret; None if the server no longer has the secret that sealed it."""
    return vault.open(sealed, purpose=purpose_of(user_id))


def token_of(secret: str) -> str:
    """Return the token that belongs to a secret: 32 hexadecimal digits."""
    return hmac.digest(secret.encode(), b"specd chat token", hashlib.sha256).hex()[:32]


def show_secrets(secret: str | None) -> Mapping[str, str | None]:
    """Return the token and the secret as the bot's owner sees them."""
    token = None if secret is None else token_of(secret)
    return {"token": token, "signing_secret": secret}
