"""send_sample_event: marked events of each type, sent to the subscribed endpoints."""

import json
from datetime import datetime

import httpx
import pytest
from standardwebhooks.webhooks import Webhook

import specs
from models.payment.test_helpers.samples import TYPES
from specd.db import Database
from tests.support.contract import ContractClient
from tests.support.payment.app import PaymentApp
from tests.support.payment.factories import Merchant, make_endpoint
from tests.support.payment.invoices import error

TYPES_IN_THE_DOCUMENT = specs.load("payment-test")["components"]["schemas"]["EventType"]["enum"]
PATH = "/v1/test-helpers/events"
HOOKS = "/v1/webhook-endpoints"


def create(api: ContractClient, name: str, *types: str) -> dict[str, str]:
    body = {"url": f"https://{name}.example/webhooks", "event_types": types}
    answer = api.post(HOOKS, json=body, headers={"Idempotency-Key": f"endpoint-{name}"})
    made: dict[str, str] = answer.json()
    return made


def disable(api: ContractClient, endpoint_id: str) -> None:
    answer = api.request("PATCH", f"{HOOKS}/{endpoint_id}", json={"status": "disabled"})
    assert answer.status_code == 200


def send(api: ContractClient, type_: str, **body: str) -> httpx.Response:
    return api.post(PATH, json={"type": type_, **body})


def test_every_type_has_a_sample() -> None:
    assert list(TYPES) == TYPES_IN_THE_DOCUMENT


@pytest.mark.parametrize("type_", TYPES)
def test_sample_is_an_event_of_its_type(
    api: ContractClient, payment_app: PaymentApp, type_: str
) -> None:
    endpoint = create(api, "shop", "*")
    answer = send(api, type_).json()
    assert answer["type"] == type_
    assert [result["taken"] for result in answer["results"]] == [True]
    (posted,) = payment_app.receivers.posted
    message = json.loads(posted.body)
    assert message["data"].pop("sample") is True
    assert (message["id"], message["type"]) == (answer["id"], type_)
    names = {"invoice", "payment", "webhook_endpoint"}
    assert message["data"].keys() <= names
    assert ("payment" in message["data"]) == type_.startswith("invoice.payment_")
    Webhook(
        endpoint["secret"]
    )  # receivers use another clock than the frozen one, so only the form is checked
    assert posted.headers["webhook-signature"].startswith("v1,")


def test_sent_to_endpoints_that_receive_the_type(
    api: ContractClient, payment_app: PaymentApp
) -> None:
    create(api, "all", "*")
    create(api, "paid", "invoice.paid")
    other = create(api, "expired", "invoice.expired")["id"]
    disable(api, create(api, "off", "*")["id"])
    assert len(send(api, "invoice.paid").json()["results"]) == 2
    named = send(api, "invoice.paid", webhook_endpoint_id=other).json()
    assert [result["webhook_endpoint_id"] for result in named["results"]] == [other]
    hosts = sorted(posted.url.split("/")[2] for posted in payment_app.receivers.posted)
    assert hosts == ["all.example", "expired.example", "paid.example"]


def test_not_in_the_event_list(api: ContractClient) -> None:
    create(api, "shop", "*")
    assert send(api, "invoice.paid").status_code == 200
    assert api.get("/v1/events").json()["data"] == []


def test_without_an_endpoint_nothing_is_sent(api: ContractClient) -> None:
    assert send(api, "invoice.paid").json()["results"] == []


def test_disabled_endpoint_receives_nothing(api: ContractClient) -> None:
    endpoint_id = create(api, "shop", "*")["id"]
    disable(api, endpoint_id)
    answer = send(api, "invoice.paid", webhook_endpoint_id=endpoint_id)
    assert error(answer) == (409, "webhook_endpoint_disabled", [])


def test_endpoint_of_another_project_is_not_found(
    api: ContractClient, database: Database, payment_app: PaymentApp, ben: Merchant, now: datetime
) -> None:
    vault = payment_app.webhooks.vault
    hidden = database.run(lambda session: make_endpoint(session, vault, ben, now=now)).id
    answer = send(api, "invoice.paid", webhook_endpoint_id=hidden)
    assert error(answer) == (404, "webhook_endpoint_not_found", [])
    assert payment_app.receivers.posted == []
