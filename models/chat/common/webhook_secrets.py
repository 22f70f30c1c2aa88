"""What an outgoing webhook's requests are signed with: one secret, and a token made from it for
receivers that only compare a text in the body.
"""

import hashlib
import hmac
from collections.abc import Mapping

from models.chat.common.vault import Vault
from models.webhooks import signing


def purpose_of(user_id: int) -> str:
    """What the secret of a bot is sealed for."""
    return f"outgoing_webhook:{user_id}"


def new_sealed_secret(vault: Vault, user_id: int) -> str:
    return vault.seal(signing.new_secret(), purpose=purpose_of(user_id))


def open_secret(vault: Vault, user_id: int, sealed: str) -> str | None:
    """The secret; None for one that was sealed under a secret of the server which is gone."""
    return vault.open(sealed, purpose=purpose_of(user_id))


def token_of(secret: str) -> str:
    """32 hexadecimal digits."""
    return hmac.digest(secret.encode(), b"specd chat token", hashlib.sha256).hex()[:32]


def show_secrets(secret: str | None) -> Mapping[str, str | None]:
    """As the bot's owner is told them."""
    token = None if secret is None else token_of(secret)
    return {"token": token, "signing_secret": secret}
