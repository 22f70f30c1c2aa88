"""get_key: scope and project of a key."""

from datetime import datetime

import pytest

from models.payment import keys
from specd.db import Database
from tests.support.contract import ContractClient
from tests.support.payment.factories import Merchant, make_key

PATH = "/v1/key"


@pytest.mark.parametrize("scope", keys.SCOPES)
def test_key_is_described_without_its_secret(
    client: ContractClient, database: Database, ada: Merchant, now: datetime, scope: str
) -> None:
    key = database.run(lambda session: make_key(session, ada.project, now=now, scope=scope))
    answer = client.with_key(key).get(PATH)
    assert answer.status_code == 200
    assert answer.json() == {"id": keys.id_of(key), "scope": scope, "project_name": "Ada's Books"}
    assert key.rpartition("_")[2] not in answer.text


def test_revoked_key_is_rejected(
    client: ContractClient, database: Database, ada: Merchant, now: datetime
) -> None:
    key = database.run(lambda session: make_key(session, ada.project, now=now))
    database.run(lambda session: keys.revoke_key(session, key_id=keys.id_of(key) or "", now=now))
    answer = client.with_key(key).get(PATH)
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
