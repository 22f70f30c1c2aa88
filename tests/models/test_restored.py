"""After a restore, ids and addresses issued since the backup are not issued again."""

from datetime import datetime
from functools import partial

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from models.payment.restored import skip_handed_out
from models.payment.tables import Event, Invoice, Wallet
from specd.db import Database
from tests.support.payment.factories import Merchant, make_invoice, make_merchant


def make_event(session: Session, merchant: Merchant, *, now: datetime) -> int:
    values = {"project_id": merchant.id, "type": "invoice.paid", "data": "{}", "size": 2, "at": now}
    made: int = session.execute(insert(Event).values(values).returning(Event.id)).scalar_one()
    return made


def test_issued_numbers_and_addresses_are_skipped(database: Database, now: datetime) -> None:
    """Including those of a table that was empty."""
    skip = partial(skip_handed_out, addresses=100, events=1000)
    assert database.run(skip) == 0
    merchant = database.run(lambda session: make_merchant(session, now=now))
    first = database.run(lambda session: make_event(session, merchant, now=now))
    assert first > 1000
    before = database.run(lambda session: make_invoice(session, merchant, now=now))
    assert database.run(skip) == 1
    assert database.run(lambda session: make_event(session, merchant, now=now)) > first + 1000
    after = database.run(lambda session: make_invoice(session, merchant, now=now))
    with database.reading() as reader:
        rows = reader.execute(select(Invoice.id, Invoice.address_index)).all()
        assert reader.execute(select(Wallet.next_address_index)).scalar() == 102
    indexes = {id_: index for id_, index in rows}
    assert (indexes[before.id], indexes[after.id]) == (0, 101)
    assert before.deposit_address != after.deposit_address
