"""Configuration of webhooks in a server."""

import asyncio
from pathlib import Path

import pytest

from handlers.payment.wire import webhooks
from handlers.payment.wire.webhooks import Webhooks, webhooks_of
from models.payment.errors import WebhookTestInProgress
from models.webhooks.addresses import AddressRefused
from settings import Settings


def test_number_of_tests_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "TESTS_AT_ONCE", 2)
    tested = Webhooks()
    with tested.testing("a"):
        with pytest.raises(WebhookTestInProgress), tested.testing("a"):
            pass
        with tested.testing("b"), pytest.raises(WebhookTestInProgress), tested.testing("c"):
            pass
    with tested.testing("a"):
        pass


def test_secret_of_the_settings_seals(tmp_path: Path) -> None:
    first, again = (webhooks_of(Settings(data_dir=tmp_path)).vault for _ in range(2))
    other = webhooks_of(Settings(data_dir=tmp_path, payment_secret="x" * 32)).vault
    sealed = first.seal("hush", purpose="p")
    assert again.open(sealed, purpose="p") == "hush"
    assert other.open(sealed, purpose="p") is None
    assert (tmp_path / "payment-secret").stat().st_mode & 0o077 == 0


def test_settings_allow_networks(tmp_path: Path) -> None:
    closed = webhooks_of(Settings(data_dir=tmp_path)).sender
    opened = webhooks_of(Settings(data_dir=tmp_path, webhook_networks=("127.0.0.0/8",))).sender
    asyncio.run(opened.check("http://127.0.0.1:9000/"))
    with pytest.raises(AddressRefused):
        asyncio.run(closed.check("http://127.0.0.1:9000/"))
