"""Authentication by bearer key: one error for every reason, before any other check."""

from datetime import datetime

import pytest

from models.payment import keys
from specd.db import Database
from tests.support.contract import ContractClient
from tests.support.payment.factories import Merchant

METHODS = "/v1/payment-methods"


def key_id(plaintext: str) -> str:
    return plaintext.split("_")[2]


class TestAuthenticate:
    def test_every_invalid_key_has_the_same_error(
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
    def test_scheme_is_accepted_in_any_case(
        self, client: ContractClient, ada: Merchant, scheme: str
    ) -> None:
        response = client.get(METHODS, headers={"Authorization": f"{scheme} {ada.key}"})
        assert response.status_code == 200

    def test_revoked_key_is_rejected_from_the_next_request(
        self, api: ContractClient, database: Database, ada: Merchant, now: datetime
    ) -> None:
        assert api.get(METHODS).status_code == 200
        database.run(lambda s: keys.revoke_key(s, key_id=key_id(ada.key), now=now))
        assert api.get(METHODS).status_code == 401

    def test_several_active_keys_of_a_project_are_accepted(
        self, client: ContractClient, database: Database, ada: Merchant, now: datetime
    ) -> None:
        _, second = database.run(lambda s: keys.create_key(s, project_id=ada.id, now=now))
        for key in (ada.key, second):
            assert client.with_key(key).get(METHODS).status_code == 200

    def test_credentials_are_checked_before_parameters(self, client: ContractClient) -> None:
        response = client.post("/v1/invoices", json={"nonsense": True})
        assert response.status_code == 401

    def test_no_response_repeats_the_key(self, client: ContractClient, ada: Merchant) -> None:
        secret = ada.key[18:]
        sent = client.with_key(ada.key[:-1] + "!")
        for response in (sent.get(METHODS), sent.post("/v1/invoices"), sent.get("/v1/nowhere")):
            assert secret[:-1] not in response.text
