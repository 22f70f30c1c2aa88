"""The secret that signs the requests of an outgoing webhook, and a token derived from it for
receivers that can only compare a text in the body.
"""

import hashlib
import hmac
from collections.abc import Mapping

from models.chat.common.vault import Vault


def purpose_of(user_id: int) -> str:
    """Return the purpose for sealing a bot's secret."""
    return f"outgoing_webhook:{user_id}"


def open_secret(vault: Vault, user_id: int, sealed: str) -> str | None:
    """Return the secret, or None if the server no longer has the secret that sealed it."""
    return vault.open(sealed, purpose=purpose_of(user_id))


def token_of(secret: str) -> str:
    """Return the token derived from a secret: 32 hexadecimal digits."""
    return hmac.digest(secret.encode(), b"specd chat token", hashlib.sha256).hex()[:32]


def show_secrets(secret: str | None) -> Mapping[str, str | None]:
    """Return the token and the secret in the API's form for the bot's owner."""
    token = None if secret is None else token_of(secret)
    return {"token": token, "signing_secret": secret}
