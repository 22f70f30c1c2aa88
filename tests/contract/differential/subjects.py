"""The compared services."""

import base64
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import update

from handlers.chat import wiring as chat_wiring
from handlers.chat.wire.context import ChatAdapters
from handlers.payment.wire.context import PaymentAdapters
from handlers.payment.wiring import build_service
from models.chat.tables import Realm
from settings import Settings
from specd._db import migrate
from specd._engine.service import Service
from tests.specd.engine.services import ADA, shop_service
from tests.support.chat.people import KEYS, make_cast
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.app import FakeGateway
from tests.support.payment.factories import make_merchant

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
HOST = "localhost"
Credentials = dict[str, list[tuple[str, str]]]


def shop(_: Path) -> tuple[Service, Credentials]:
    """Every feature that the engine serves, in a small document."""
    credentials: Credentials = {
        "bearer": [ADA],
        "basic": [("Authorization", "Basic cm9vdDpnb29kLXBhc3N3b3Jk")],
        "key": [("X-Key", "good-key")],
    }
    return shop_service(validate_responses=False, require_role=lambda ctx, role: None), credentials


def payment(directory: Path) -> tuple[Service, Credentials]:
    """The payment service with a new SQLite database and one merchant."""
    url = f"sqlite:///{directory / 'payment.db'}"
    migrate.upgrade(url, "payment")
    settings = Settings(
        database_urls={"payment": url},
        public_url="https://pay.example",
        payment_test_helpers="on",
    )
    adapters = PaymentAdapters(chain=FakeGateway())  # type: ignore[arg-type]
    service = build_service(settings, clock=FrozenClock(NOW), adapters=adapters)
    assert service.database is not None
    merchant = service.database.run(lambda session: make_merchant(session, now=NOW))
    credentials: Credentials = {"bearerAuth": [("Authorization", f"Bearer {merchant.key}")]}
    return replace(service, rate_limit=None), credentials


def chat(directory: Path) -> tuple[Service, Credentials]:
    """The chat service with a new SQLite database, used by an owner."""
    url = f"sqlite:///{directory / 'chat.db'}"
    migrate.upgrade(url, "chat")
    settings = Settings(data_dir=directory, database_urls={"chat": url}, development=True)
    adapters = replace(ChatAdapters.from_settings(settings), keys=KEYS)
    service = chat_wiring.build_service(settings, clock=FrozenClock(NOW), adapters=adapters)
    assert service.database is not None
    cast = service.database.run(lambda session: make_cast(session, now=NOW))
    at_home = update(Realm).where(Realm.id == cast.realm_id).values(host=HOST)
    service.database.run(lambda session: session.execute(at_home))
    pair = base64.b64encode(f"{cast.cordelia.email}:{cast.cordelia.key}".encode()).decode()
    return replace(service, rate_limit=None), {"basicAuth": [("Authorization", f"Basic {pair}")]}


SUBJECTS: dict[str, Callable[[Path], tuple[Service, Credentials]]] = {
    "shop": shop,
    "payment": payment,
    "chat": chat,
}
WITHOUT_STOCK = ("chat",)
"""Documents that stock connexion cannot serve: see `oracles_chat`."""
