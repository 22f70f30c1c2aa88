"""The secrets that all machines of an installation share: a machine with another one is refused."""

from collections.abc import Iterator
from contextlib import contextmanager

import click
from sqlalchemy.orm import Session

from cli.databases import open_database
from models import secret_checks
from models.base import table_of
from models.chat.common.vault import Vault
from models.chat.identity.api_keys import KeyMaker, load_secrets
from models.chat.tables import SecretCheck as ChatCheck
from models.database import Database
from models.payment.webhooks.tables import SecretCheck as PaymentCheck
from models.payment.webhooks.vault import WebhookVault, open_vault
from models.sealing import SealedTexts
from settings import Settings, variable

CHECKS = {"payment": table_of(PaymentCheck), "chat": table_of(ChatCheck)}
"""Service with a secret -> the table of its check."""

without_previous = click.option(
    "--without-previous",
    is_flag=True,
    help="Take the present secret although the one before it is lost, with all that it encrypted.",
)
"""Of commands that encrypt again what another secret encrypted."""


def payment_vault(settings: Settings) -> WebhookVault:
    """Seals under the same secret as the server."""
    return open_vault(settings.data_dir, settings.payment_secret, settings.payment_secret_previous)


def chat_secrets(settings: Settings) -> tuple[bytes, bytes | None]:
    """The server's current secret and the previous one."""
    return load_secrets(settings.data_dir, settings.chat_secret, settings.chat_secret_previous)


def chat_vault(settings: Settings) -> Vault:
    """Seals under the same secret as the server."""
    return Vault(*chat_secrets(settings))


def key_maker(settings: Settings) -> KeyMaker:
    """Makes API keys under the same secret as the server."""
    return KeyMaker(*chat_secrets(settings))


@contextmanager
def open_with_secret(service: str, settings: Settings) -> Iterator[Database]:
    """A service's database, migrated and written under the secret of this machine. Raises
    ClickException or DatabaseUnavailable.
    """
    with open_database(service, settings) as database:
        _require(service, settings, database)
        yield database


def require_secrets(settings: Settings, *only: str | None) -> None:
    """Raises ClickException unless this machine has the secrets of `only` (default: all services)
    that their databases were written under. The first machine decides.
    """
    wanted = set(filter(None, only))
    for service in CHECKS:
        if not wanted or service in wanted:
            with open_with_secret(service, settings):
                pass


def renew_check(session: Session, service: str, settings: Settings) -> None:
    """Refuse from now on whoever has not the present secret of this machine."""
    secret_checks.renew(session, CHECKS[service], _texts(service, settings))


def _require(service: str, settings: Settings, database: Database) -> None:
    if not secret_checks.is_shared(database, CHECKS[service], _texts(service, settings)):
        raise click.ClickException(
            f"The {service} database was written under another {variable(f'{service}_secret')};"
            f" give this machine the same (if unset, it is the file {service}-secret in"
            f" {variable('data_dir')}), or replace it as `specd {service} reseal --help` says."
        )


def _texts(service: str, settings: Settings) -> SealedTexts:
    return payment_vault(settings) if service == "payment" else chat_vault(settings)
