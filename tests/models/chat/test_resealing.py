"""Rotation of the secret: sealed values stay readable, and API keys change only when the old secret
is removed.
"""

from sqlalchemy import select

from models.chat.accounts.resealing import SEALED, reseal_some
from models.chat.base import ChatBase
from models.chat.common.outbox import NewMail, enqueue_mails
from models.chat.common.vault import Vault
from models.chat.devices import purpose_of
from models.chat.identity.api_keys import KeyMaker
from models.chat.tables import ClientDevice, Outbox, User
from specd.db import Database
from tests.support.chat.people import KEYS, SECRET, VAULT, Cast
from tests.support.frozen_clock import FrozenClock

NEW = b"another secret of the chat tests, of 32 bytes"
BOTH, AFTER = Vault(NEW, SECRET), Vault(NEW)


def test_every_sealed_column_is_resealed() -> None:
    named = {
        column
        for table in ChatBase.metadata.sorted_tables
        for column in table.c
        if column.name.startswith("sealed_")
    }
    assert {column for column, *_ in SEALED} == named | {ChatBase.metadata.tables["outbox"].c.body}


def reseal(database: Database) -> list[tuple[int, int]]:
    done = []
    for at in range(len(SEALED)):
        resealed, lost, _ = database.run(lambda s, at=at: reseal_some(s, BOTH, at, after=-1))
        done.append((resealed, lost))
    return done


def test_sealed_value_opens_before_and_after_resealing(
    chat_database: Database, cast: Cast, clock: FrozenClock
) -> None:
    now = clock.now()

    def work(session: object) -> int:
        device = ClientDevice(user_id=cast.hamlet.id, registered_at=now)
        lost = ClientDevice(user_id=cast.othello.id, registered_at=now)
        session.add_all([device, lost])  # type: ignore[attr-defined]
        session.flush()  # type: ignore[attr-defined]
        device.sealed_push_key = VAULT.seal("push", purpose=purpose_of(device.id))
        lost.sealed_push_key = Vault(b"x" * 32).seal("push", purpose=purpose_of(lost.id))
        for vault in (VAULT, None):
            enqueue_mails(
                session,  # type: ignore[arg-type]
                [NewMail(to="x@acme.example", subject="s", text="link")],
                realm_id=cast.realm_id, now=now, vault=vault,
            )  # fmt: skip
        return device.id

    device_id = chat_database.run(work)

    def sealed_key() -> str:
        with chat_database.reading() as reader:
            wanted = select(ClientDevice.sealed_push_key).where(ClientDevice.id == device_id)
            return str(reader.execute(wanted).scalar_one())

    assert BOTH.open(sealed_key(), purpose=purpose_of(device_id)) == "push"
    assert AFTER.open(sealed_key(), purpose=purpose_of(device_id)) is None
    assert reseal(chat_database) == [(0, 0), (1, 1), (0, 0), (0, 0), (0, 0), (1, 0)]
    assert AFTER.open(sealed_key(), purpose=purpose_of(device_id)) == "push"
    assert reseal(chat_database) == [(0, 0), (0, 1), (0, 0), (0, 0), (0, 0), (0, 0)]
    with chat_database.reading() as reader:
        plain = select(Outbox.body).where(~Outbox.is_sealed)
        assert reader.execute(plain).scalars().all() == ["link"]


def test_api_keys_are_unchanged_with_the_previous_secret() -> None:
    user = User()
    key = KEYS.renew(user)
    assert KeyMaker(NEW, SECRET).key_of(user) == key
    assert KEYS.key_of(user) == key
    replaced = KeyMaker(NEW).key_of(user)
    assert replaced != key
    assert KeyMaker(NEW, SECRET).key_of(user) == replaced
