"""The payment service's sealed secrets (specd/_db/sealing.py), which sign webhooks."""

from pathlib import Path

from models import secret_files
from specd.db import SealedTexts


class WebhookVault(SealedTexts):
    """Seals the signing secrets of endpoints, each for one endpoint."""

    def __init__(self, secret: bytes, previous: bytes | None = None) -> None:
        super().__init__(secret, previous, label=b"specd payment webhooks")


def load_secrets(data_dir: Path, given: str, previous: str) -> tuple[bytes, bytes | None]:
    """Return the current secret, and the previous one or None."""
    return secret_files.load_secrets(data_dir / "payment-secret", given, previous)


def open_vault(data_dir: Path, given: str, previous: str) -> WebhookVault:
    """Return the vault with the secrets of the settings or of the data directory."""
    return WebhookVault(*load_secrets(data_dir, given, previous))


def purpose_of(endpoint_id: str) -> str:
    """Return the purpose under which the secrets of an endpoint are sealed."""
    return f"webhook_secret:{endpoint_id}"
