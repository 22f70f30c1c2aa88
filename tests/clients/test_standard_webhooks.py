"""standardwebhooks (npm, 1.1.1), unmodified: a receiver that verifies the worker's posts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import httpx
import pytest

from adapters.webhooks.sender import WebhookSender
from models.payment.webhooks import deliveries, signing_secrets
from models.payment.webhooks.vault import WebhookVault
from models.webhooks import signing
from specd.db import Clock, Database
from tests.clients.installed import WEBHOOKS, need
from tests.clients.programs import Program
from tests.support.databases import place_migrated
from tests.support.payment.factories import make_endpoint, make_invoice, make_merchant
from workers.webhook_posting import Posting
from workers.webhooks import WebhookWorker

PACKAGE = WEBHOOKS / "node_modules/standardwebhooks"
pytestmark = need(PACKAGE)
CLOCK = Clock()
VAULT = WebhookVault(b"the secret of these tests, 32 bytes or more")
NOT_SIGNED = (400, "WebhookVerificationError: No matching signature found")
TOO_OLD = (400, "WebhookVerificationError: Message timestamp too old")
_RECEIVE = Path(__file__).with_name("receive.cjs")


class Shop:
    """Ada's shop, its receiver, and the worker that posts to it."""

    def __init__(self, database: Database, address: str) -> None:
        self._database, self.address = database, address
        sender = WebhookSender([ip_network("127.0.0.0/8")])
        self._posting = Posting(sender, VAULT, CLOCK)
        self._worker = WebhookWorker(database, CLOCK, self._posting)
        now = CLOCK.now()
        self._ada = database.run(lambda s: make_merchant(s, now=now))
        self._endpoint_id = database.run(
            lambda s: make_endpoint(s, VAULT, self._ada, now=now, url=address)
        ).id

    def secrets(self) -> list[str]:
        """Return the current signing secrets, newest first."""
        with self._database.reading() as reader:
            sealed = signing_secrets.find_sealed(reader, [self._endpoint_id], now=CLOCK.now())
        return list(
            signing_secrets.open_sealed(VAULT, self._endpoint_id, sealed[self._endpoint_id])
        )

    def rotate(self, *, grace: timedelta) -> str:
        """Create a new secret and return it."""
        self._database.run(
            lambda s: signing_secrets.rotate(
                s, VAULT, self._endpoint_id, grace=grace, now=CLOCK.now()
            )
        )
        return self.secrets()[0]

    def trust(self, secret: str) -> None:
        """Set the secret that the receiver verifies with."""
        httpx.put(self.address, content=secret, trust_env=False).raise_for_status()

    def sell(self) -> tuple[int | None, str]:
        """Create an invoice and post its event. Return status and text of the response."""
        self._database.run(lambda s: make_invoice(s, self._ada, now=CLOCK.now()))
        before = self._attempts()
        ends_at = time.monotonic() + 30
        while (now := self._attempts()) == before and time.monotonic() < ends_at:
            self._worker.try_at_once()
            time.sleep(0.01)
        assert now != before, "nothing was posted"
        return now[0]

    def newest(self) -> dict[str, Any]:
        """Return headers and body of the last message at the receiver."""
        message: dict[str, Any] = httpx.get(self.address, trust_env=False).json()
        return message

    def close(self) -> None:
        self._worker.close()

    def _attempts(self) -> list[tuple[int | None, str]]:
        with self._database.reading() as reader:
            rows, _ = deliveries.list_attempts(
                reader, project_id=self._ada.id, endpoint_id=self._endpoint_id, before=None,
                limit=100,
            )  # fmt: skip
        return [(row.status_code, row.answer) for row in rows]


@pytest.fixture
def shop(tmp_path: Path, soon: Callable[[Callable[[], Any]], Any]) -> Iterator[Shop]:
    url = place_migrated(tmp_path / "payment.db", "payment")
    database = Database(url)
    argv = ["node", str(_RECEIVE)]
    with Program(argv, tmp_path, NODE_PATH=str(PACKAGE.parent)) as receiver:
        assert soon(lambda: receiver.lines), "the receiver does not listen"
        shop = Shop(database, receiver.lines[0].strip())
        shop.trust(shop.secrets()[0])
        yield shop
        shop.close()
    database.dispose()


def repeated(shop: Shop, body: str, headers: dict[str, str]) -> tuple[int, str]:
    """Return the receiver's response to a message that is not from the worker."""
    named = {name: text for name, text in headers.items() if name.startswith("webhook-")}
    answer = httpx.post(shop.address, content=body, headers=named, trust_env=False)
    return answer.status_code, answer.text


def test_each_message_verifies_during_the_rotation_of_the_secret(shop: Shop) -> None:
    assert shop.sell() == (204, "")
    newer = shop.rotate(grace=timedelta(hours=1))
    assert shop.sell() == (204, ""), "by the previous secret"
    signatures = shop.newest()["headers"]["webhook-signature"].split(" ")
    assert len(signatures) == 2
    shop.trust(newer)
    assert shop.sell() == (204, ""), "by the new secret"
    shop.rotate(grace=timedelta(0))
    assert shop.sell() == NOT_SIGNED, "the previous secret has expired"


def test_altered_and_old_messages_are_rejected(shop: Shop) -> None:
    assert shop.sell() == (204, "")
    told = shop.newest()
    body, headers = told["body"], told["headers"]
    assert repeated(shop, body, headers) == (204, "")
    assert repeated(shop, body.replace("unpaid", "paid"), headers) == NOT_SIGNED
    assert repeated(shop, body, headers | {"webhook-id": "evt_1"}) == NOT_SIGNED
    hour_ago = datetime.now(UTC) - timedelta(hours=1)
    old = signing.sign(headers["webhook-id"], body.encode(), shop.secrets(), now=hour_ago)
    assert repeated(shop, body, dict(old)) == TOO_OLD
