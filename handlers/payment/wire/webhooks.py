"""Adapters of webhooks: the vault of their secrets, and the sender."""

import secrets
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_network

from adapters.webhooks.sender import WebhookSender
from models.payment.errors import WebhookTestInProgress
from models.payment.webhooks.vault import WebhookVault, open_vault
from settings import Settings

TESTS_AT_ONCE = 50
"""Per process, because each test may wait for its receiver for many seconds."""


@dataclass(slots=True)
class Webhooks:
    """The vault and the sender, and the endpoints under test. By default, the secret exists only in
    this process, and only public addresses are allowed.
    """

    vault: WebhookVault = field(default_factory=lambda: WebhookVault(secrets.token_bytes(32)))
    sender: WebhookSender = field(default_factory=lambda: WebhookSender(()))
    _tested: set[str] = field(default_factory=set[str])

    @contextmanager
    def testing(self, endpoint_id: str) -> Generator[None]:
        """Allow one test of an endpoint at a time. Raise `WebhookTestInProgress`."""
        if endpoint_id in self._tested or len(self._tested) >= TESTS_AT_ONCE:
            raise WebhookTestInProgress()
        self._tested.add(endpoint_id)
        try:
            yield
        finally:
            self._tested.discard(endpoint_id)


def webhooks_of(settings: Settings) -> Webhooks:
    """Return the adapters for the settings."""
    vault = open_vault(settings.data_dir, settings.payment_secret, settings.payment_secret_previous)
    opened = [ip_network(network) for network in settings.webhook_networks]
    return Webhooks(vault, WebhookSender(opened))
