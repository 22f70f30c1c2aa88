"""Rate limits: the error format, counts per key, and the headers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from specd.db import Database
from tests.support.contract import ContractClient
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.app import FakeGateway, PaymentApp
from tests.support.payment.factories import Merchant

PATH = "/v1/payment-methods"


@pytest.fixture
def limited(
    database: Database, clock: FrozenClock, chain: FakeGateway, tmp_path: Path
) -> Iterator[ContractClient]:
    if database.dialect == "postgresql":
        pytest.skip("rate limits do not use the database")
    app = PaymentApp(
        database, clock, chain, rate_limits=True, rate_limit_per_minute=10, data_dir=tmp_path
    )
    yield ContractClient(app, app.document)
    app.close()


@pytest.mark.reaches("rate_limited")
def test_keys_are_counted_separately_and_strangers_by_address(
    limited: ContractClient, ada: Merchant, ben: Merchant
) -> None:
    answers = [limited.with_key(ada.key).get(PATH) for _ in range(30)]
    assert [answer.status_code for answer in answers[:5]] == [200] * 5
    refused = answers[-1]
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert int(refused.headers["Retry-After"]) >= 1
    assert "RateLimit-Policy" in answers[0].headers
    assert limited.with_key(ben.key).get(PATH).status_code == 200
    assert limited.get(PATH).status_code == 401
