"""The payment half of the authorization tests: a project with a payment method and an invoice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from models.payment import event_list, keys
from models.payment.settlement import apply_settlement
from models.payment.test_helpers import runs
from models.payment.test_helpers.scenarios import CATALOGUE
from specd.db import Clock, Database
from tests.contract.authorization.policy import Case, filled
from tests.support.contract import ContractClient
from tests.support.payment.app import PaymentApp
from tests.support.payment.factories import (
    BEN_XPUB,
    make_endpoint,
    make_invoice,
    make_key,
    make_merchant,
    make_method,
    make_payment,
)

ADAS_CHAIN = 31338
"""The chain of a payment method that only Ada has."""


@dataclass(frozen=True)
class PaymentStage:
    """The prepared project. `keys` maps an actor to their key, or to None."""

    app: PaymentApp
    database: Database
    keys: Mapping[str, str | None]
    things: Mapping[str, Any]

    def answer(
        self, case: Case, actor: str, *, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        method, path = self.app.operations[case.operation]
        parameters = dict(filled(case.request, self.things))
        sent: dict[str, Any] = {"json": parameters.pop("body")} if "body" in parameters else {}
        for name in ("id", "event_id", "chain_id", "name"):
            if name in parameters:
                path = path.replace(f"{{{name}}}", str(parameters.pop(name)))
        client = ContractClient(self.app, self.app.document)
        key = self.keys[actor]
        if key is not None:
            client = client.with_key(key)
        return client.request(method, path, headers=parameters | dict(headers or {}), **sent)


def prepare(app: PaymentApp, database: Database, clock: Clock) -> PaymentStage:
    def work(session: Any) -> tuple[dict[str, str | None], dict[str, Any]]:
        now = clock.now()
        ada = make_merchant(session, now=now)
        make_method(session, ada.project, now=now, method_id="books")
        make_method(session, ada.project, now=now, method_id="far", chain_id=ADAS_CHAIN)
        invoice = make_invoice(session, ada, now=now)
        settled = make_invoice(session, ada, now=now)
        make_payment(session, settled.id, at=now)
        apply_settlement(session, settled.id, head_number=200, checkpoint_time=now, now=now)
        ben = make_merchant(session, now=now, name="Ben's Records", xpub=BEN_XPUB)
        revoked = make_key(session, ada.project, now=now)
        keys.revoke_key(session, key_id=revoked.split("_")[2], now=now)
        actors = {
            "nobody": None,
            "wrong key": ada.key[:-8] + "00000000",
            "revoked key": revoked,
            "other project": ben.key,
            "read-only key": make_key(session, ada.project, now=now, scope=keys.READ),
            "project": ada.key,
        }
        endpoint = make_endpoint(session, app.webhooks.vault, ada, now=now)
        event = event_list.written_id(1)
        run = runs.start(
            session,
            CATALOGUE["exact"],
            project_id=ada.id,
            invoice_id=invoice.id,
            chain_id=invoice.chain_id,
            now=now,
        )
        things = {
            "invoice": invoice.id,
            "settled_invoice": settled.id,
            "event": event,
            "endpoint": endpoint.id,
            "run": run.id,
            "chain": ADAS_CHAIN,
        }
        return actors, things

    return PaymentStage(app, database, *database.run(work))
