"""The secrets that all machines of an installation share. A machine with another one is refused."""

from collections.abc import Iterator
from contextlib import contextmanager

import click
from sqlalchemy.orm import Session

from cli.databases import limits_are_missing, open_database
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


@contextmanager
def open_with_secret(service: str, settings: Settings) -> Iterator[Database]:
    """Yield a service's database, migrated and written under the secret of this machine. Raise
    ClickException or DatabaseUnavailable.
    """
    with open_database(service, settings) as database:
        if not secret_checks.is_shared(database, CHECKS[service], texts_of(service, settings)):
            raise click.ClickException(
                f"The {service} database was written under another {variable(f'{service}_secret')};"
                f" give this machine the same (if unset, it is the file {service}-secret in"
                f" {variable('data_dir')}), or replace it as `specd {service} reseal --help` says."
            )
        yield database


def has_same_secret(database: Database, settings: Settings) -> bool:
    """Return whether the secrets of this machine open what another chat database has sealed."""
    return secret_checks.is_shared(database, CHECKS["chat"], chat_vault(settings))


def require_databases(settings: Settings, *only: str | None) -> None:
    """Raise ClickException unless the databases of `only` (default: all services) are migrated,
    were written under the secrets of this machine, and keep the time limits of connections. The
    first machine decides on secrets.
    """
    wanted = set(filter(None, only)) or settings.database_urls.keys()
    for service in settings.database_urls:
        if service in wanted:
            opened = open_with_secret if service in CHECKS else open_database
            with opened(service, settings) as database:
                lacks = database.missing_limits()
            if lacks:
                raise click.ClickException(
                    f"The {service} database is {limits_are_missing(lacks)}."
                )


def renew_check(session: Session, service: str, settings: Settings) -> None:
    """Refuse every machine without the present secret of this machine from now on."""
    secret_checks.renew(session, CHECKS[service], texts_of(service, settings))


def texts_of(service: str, settings: Settings) -> SealedTexts:
    """Return what seals the texts of a service under the secrets of this machine."""
    return payment_vault(settings) if service == "payment" else chat_vault(settings)
