"""Last uses of keys: kept in memory and stored later."""

from datetime import datetime, timedelta

from sqlalchemy import select

from models.payment import keys
from models.payment.tables import ApiKey
from specd.db import Database
from tests.handlers.payment.test_auth import METHODS, key_id
from tests.support.contract import ContractClient
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.app import PaymentApp
from tests.support.payment.factories import Merchant


class TestKeyUses:
    def test_use_is_kept_in_memory_and_stored_later(
        self,
        api: ContractClient,
        payment_app: PaymentApp,
        database: Database,
        ada: Merchant,
        clock: FrozenClock,
    ) -> None:
        clock.advance(seconds=5)
        api.get(METHODS)
        assert self.last_used(database, ada) is None, "no write in the request"
        _, write_down = payment_app.service.chores["write down key uses"]
        write_down(database, clock.now())
        assert self.last_used(database, ada) == clock.now()

    def test_newer_use_is_not_replaced_by_an_older_one(
        self, database: Database, ada: Merchant, now: datetime
    ) -> None:
        for at in (now, now - timedelta(seconds=9)):
            database.run(lambda s, at=at: keys.note_uses(s, {key_id(ada.key): at}))  # type: ignore[misc]
        assert self.last_used(database, ada) == now

    @staticmethod
    def last_used(database: Database, merchant: Merchant) -> datetime | None:
        with database.reading() as connection:
            query = select(ApiKey.last_used_at).where(ApiKey.id == key_id(merchant.key))
            return connection.execute(query).scalar_one()
