"""The secrets that all machines of an installation share, and the vaults that encrypt with them."""

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


def payment_vault(settings: Settings) -> WebhookVault:
    """Return the vault for webhook secrets."""
    return open_vault(settings.data_dir, settings.payment_secret, settings.payment_secret_previous)


def chat_secrets(settings: Settings) -> tuple[bytes, bytes | None]:
    """Return the server's current secret and the previous one, if there is one."""
    return load_secrets(settings.data_dir, settings.chat_secret, settings.chat_secret_previous)


def chat_vault(settings: Settings) -> Vault:
    return Vault(*chat_secrets(settings))


def key_maker(settings: Settings) -> KeyMaker:
    return KeyMaker(*chat_secrets(settings))


PAYMENT = SharedSecret(table_of(PaymentCheck), payment_vault)
CHAT = SharedSecret(table_of(ChatCheck), chat_vault)
SECRETS = {"payment": PAYMENT, "chat": CHAT}


def has_same_secret(database: Database, settings: Settings) -> bool:
    """Return whether a secret of this machine can decrypt the values in another chat database."""
    return CHAT.is_shared(database, settings)
