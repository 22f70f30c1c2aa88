"""The bearer key at the door: one refusal for every reason, before anything else is looked at."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import select

from models.clock import FrozenClock
from models.database import Database
from models.payment import keys
from models.payment.tables import ApiKey
from tests.cast import Merchant
from tests.contract import ContractClient
from tests.payment_app import PaymentApp

METHODS = "/v1/payment-methods"


def key_id(plaintext: str) -> str:
    return plaintext.split("_")[2]


class TestAuthenticate:
    def test_answers_alike_whatever_is_wrong_with_the_key(
        self, client: ContractClient, database: Database, ada: Merchant, now: datetime
    ) -> None:
        other = "A" if ada.key[-1] != "A" else "B"
        _, revoked = database.run(lambda s: keys.create_key(s, project_id=ada.id, now=now))
        database.run(lambda s: keys.revoke_key(s, key_id=key_id(revoked), now=now))
        bad = {
            "no header": {},
            "empty": {"Authorization": ""},
            "no scheme": {"Authorization": ada.key},
            "another scheme": {"Authorization": f"Basic {ada.key}"},
            "no key": {"Authorization": "Bearer "},
            "malformed": {"Authorization": "Bearer prk_test_"},
            "live key": {"Authorization": "Bearer " + ada.key.replace("test", "live")},
            "unknown id": {"Authorization": f"Bearer prk_test_00000000_{ada.key[18:]}"},
            "wrong secret": {"Authorization": f"Bearer {ada.key[:-1]}{other}"},
            "trailing text": {"Authorization": f"Bearer {ada.key}A"},
            "revoked": {"Authorization": f"Bearer {revoked}"},
        }
        answers = {reason: client.get(METHODS, headers=headers) for reason, headers in bad.items()}
        seen = {
            (
                response.status_code,
                response.headers["WWW-Authenticate"],
                response.text.replace(response.headers["Request-Id"], ""),
            )
            for response in answers.values()
        }
        assert seen == {
            (
                401,
                "Bearer",
                '{"code":"unauthorized","message":"Send a valid API key of the project as '
                'Authorization: Bearer prk_test_...","request_id":"","details":[]}',
            )
        }

    @pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
    def test_takes_the_scheme_in_any_case(
        self, client: ContractClient, ada: Merchant, scheme: str
    ) -> None:
        response = client.get(METHODS, headers={"Authorization": f"{scheme} {ada.key}"})
        assert response.status_code == 200

    def test_refuses_a_revoked_key_from_the_next_request_on(
        self, api: ContractClient, database: Database, ada: Merchant, now: datetime
    ) -> None:
        assert api.get(METHODS).status_code == 200
        database.run(lambda s: keys.revoke_key(s, key_id=key_id(ada.key), now=now))
        assert api.get(METHODS).status_code == 401

    def test_takes_several_active_keys_of_a_project(
        self, client: ContractClient, database: Database, ada: Merchant, now: datetime
    ) -> None:
        _, second = database.run(lambda s: keys.create_key(s, project_id=ada.id, now=now))
        for key in (ada.key, second):
            assert client.with_key(key).get(METHODS).status_code == 200

    def test_comes_before_validation(self, client: ContractClient) -> None:
        response = client.post("/v1/invoices", json={"nonsense": True})
        assert response.status_code == 401

    def test_repeats_no_key_in_any_answer(self, client: ContractClient, ada: Merchant) -> None:
        secret = ada.key[18:]
        sent = client.with_key(ada.key[:-1] + "!")
        for response in (sent.get(METHODS), sent.post("/v1/invoices"), sent.get("/v1/nowhere")):
            assert secret[:-1] not in response.text

    def test_remembers_when_a_key_was_used_and_writes_it_down_later(
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
        chore = payment_app.service.chores[0]
        chore.run(database, clock.now())
        assert self.last_used(database, ada) == clock.now()

    def test_never_replaces_a_newer_note_by_an_older_one(
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
