"""The secrets that all machines of an installation share, and the vaults that use them."""

import click

from models.chat.common.vault import Vault
from models.chat.identity.api_keys import KeyMaker, load_secrets
from models.chat.tables import SecretCheck as ChatCheck
from models.payment.webhooks.tables import SecretCheck as PaymentCheck
from models.payment.webhooks.vault import WebhookVault, open_vault
from settings import Settings
from specd.db import Database, SharedSecret, table_of

without_previous = click.option(
    "--without-previous",
    is_flag=True,
    help="Use the current secret although the previous one, and all that it encrypted, is lost.",
)
"""An option of the commands that encrypt with another secret."""


def payment_vault(settings: Settings) -> WebhookVault:
    """Return the vault under the server's secrets."""
    return open_vault(settings.data_dir, settings.payment_secret, settings.payment_secret_previous)


def chat_secrets(settings: Settings) -> tuple[bytes, bytes | None]:
    """Return the server's current secret and the previous one."""
    return load_secrets(settings.data_dir, settings.chat_secret, settings.chat_secret_previous)


def chat_vault(settings: Settings) -> Vault:
    """Return the vault under the server's secrets."""
    return Vault(*chat_secrets(settings))


def key_maker(settings: Settings) -> KeyMaker:
    """Return the maker of API keys under the server's secrets."""
    return KeyMaker(*chat_secrets(settings))


PAYMENT = SharedSecret(table_of(PaymentCheck), payment_vault)
CHAT = SharedSecret(table_of(ChatCheck), chat_vault)
SECRETS = {"payment": PAYMENT, "chat": CHAT}
"""The shared secret of each service."""


def has_same_secret(database: Database, settings: Settings) -> bool:
    """Return whether the secrets of this machine open what another chat database has sealed."""
    return CHAT.is_shared(database, settings)
