"""The catalog of scenarios, and starting and reading runs. Workers execute them."""

import re
from datetime import datetime

import httpx
import pytest
from sqlalchemy import update

import specs
from models.payment.events import KINDS
from models.payment.tables import PaymentMethod
from models.payment.test_helpers import runs
from models.payment.test_helpers.scenarios import CATALOGUE, MAY_COME
from specd.db import Database, UtcMs
from tests.support.contract import ContractClient
from tests.support.payment.app import FakeGateway
from tests.support.payment.factories import Merchant
from tests.support.payment.invoices import NO_SUCH_ID, error

SCENARIOS = "/v1/test-helpers/scenarios"
RUNS = "/v1/test-helpers/runs"


def start(api: ContractClient, name: str = "exact", **body: object) -> httpx.Response:
    return api.post(f"{SCENARIOS}/{name}/runs", json=body)


def test_lists_the_catalog(api: ContractClient) -> None:
    listed = api.get(SCENARIOS).json()["data"]
    assert [each["name"] for each in listed] == list(CATALOGUE)
    assert {type_ for each in listed for type_ in each["expected"]["events"]} <= KINDS.keys()


def test_document_has_the_catalog() -> None:
    head = specs.load("payment-test")["info"]["description"]
    shown = re.findall(r"^\| `(\w+)` \| (.+) \| (no|once) \|", head, re.MULTILINE)
    often = {0: "no", 1: "once"}
    assert shown == [
        (each.name, each.description, often[each.fulfilments]) for each in CATALOGUE.values()
    ]


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_scenario_can_be_described(name: str) -> None:
    scenario = CATALOGUE[name]
    assert scenario.steps
    assert not MAY_COME & set(scenario.events)
    assert max(len(str(step)) for step in scenario.steps) <= 200


class TestRunScenario:
    def test_creates_an_invoice_and_queues_a_run(self, api: ContractClient, now: datetime) -> None:
        answer = start(api, external_order_id="order-1", amount="2.5")
        assert answer.status_code == 201
        run = answer.json()
        invoice = api.get(f"/v1/invoices/{run['invoice_id']}").json()
        assert (invoice["external_order_id"], invoice["amount"]) == ("order-1", "2500000")
        assert run["steps"] == [
            {"step": str(step), "at": None, "result": None} for step in CATALOGUE["exact"].steps
        ]
        told = (run["state"], run["failure"], run["created_at"], run["ended_at"])
        assert told == ("queued", None, UtcMs.to_ms(now), None)
        again = api.get(f"{RUNS}/{run['id'].upper()}").json()
        assert [event.pop("id")[:4] for event in again["events"]] == ["evt_"]
        assert again == run | {"events": [{"type": "invoice.created"}]}

    def test_body_is_optional(self, api: ContractClient) -> None:
        assert api.post(f"{SCENARIOS}/late/runs").json()["scenario"] == "late"

    @pytest.mark.reaches("scenario_not_found")
    def test_rejects_an_unknown_scenario(self, api: ContractClient) -> None:
        assert error(start(api, "exactly")) == (404, "scenario_not_found", [])

    def test_rejects_an_unknown_method(self, api: ContractClient) -> None:
        answer = start(api, payment_method_id="another")
        told = (422, "payment_method_not_allowed", ["/body/payment_method_id"])
        assert error(answer) == told

    def test_rejects_an_existing_attempt(self, api: ContractClient) -> None:
        assert start(api, external_order_id="order-1").status_code == 201
        answer = start(api, external_order_id="order-1")
        assert error(answer) == (409, "order_attempt_exists", ["/body/attempt_no"])
        assert start(api, external_order_id="order-1", attempt_no=2).status_code == 201

    def test_rejects_a_chain_without_an_endpoint(
        self, api: ContractClient, chain: FakeGateway
    ) -> None:
        chain.configured.clear()
        assert error(start(api)) == (503, "chain_not_configured", [])

    @pytest.mark.reaches("too_few_confirmations")
    def test_payment_with_zero_confirmations_cannot_be_dropped_before(
        self, api: ContractClient, database: Database
    ) -> None:
        name = "reorganised_before_paid"
        assert start(api, name).status_code == 201
        confirmed_at_once = update(PaymentMethod).values(confirmations_required=1)
        database.run(lambda session: session.execute(confirmed_at_once))
        assert error(start(api, name)) == (409, "too_few_confirmations", [])
        others = [each for each in CATALOGUE if each != name]
        assert [start(api, each).status_code for each in others] == [201] * len(others)

    @pytest.mark.reaches("too_many_runs")
    def test_number_of_waiting_runs_is_limited(
        self, api: ContractClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(runs, "MAX_UNFINISHED", 2)
        assert [start(api).status_code for _ in range(3)] == [201, 201, 409]
        assert error(start(api)) == (409, "too_many_runs", [])


class TestGetRun:
    @pytest.mark.reaches("run_not_found")
    def test_run_of_another_project_is_not_found(
        self, api: ContractClient, client: ContractClient, ben: Merchant, database: Database
    ) -> None:
        run_id = start(api).json()["id"]
        hidden = client.with_key(ben.key).get(f"{RUNS}/{run_id}")
        absent = client.with_key(ben.key).get(f"{RUNS}/{NO_SUCH_ID}")
        assert error(hidden) == error(absent) == (404, "run_not_found", [])


class TestShopOrders:
    def order(self, api: ContractClient, number: int = 1, amount: str = "4") -> str:
        body = {
            "external_order_id": f"shop-{number}",
            "attempt_no": 1,
            "amount": amount,
            "payment_method_id": "tusd-local",
        }
        headers = {"Idempotency-Key": f"order-of-the-shop-{number}"}
        return str(api.post("/v1/invoices", json=body, headers=headers).json()["id"])

    @pytest.mark.parametrize("by", ["external_order_id", "invoice_id"])
    def test_runs_on_the_invoice_of_the_shop(self, api: ContractClient, by: str) -> None:
        invoice_id = self.order(api)
        asked = {"external_order_id": "shop-1", "invoice_id": invoice_id}[by]
        run = start(api, "over_in_one_step", **{by: asked}).json()
        shown = [run[name] for name in ("invoice_id", "external_order_id", "amount")]
        assert shown == [invoice_id, "shop-1", "4000000"]
        assert run["amount_to_return"] == "2000000"
        assert api.get(f"{RUNS}/{run['id']}").json()["amount_to_return"] == "2000000"

    @pytest.mark.reaches("order_attempt_exists")
    def test_invoice_with_a_run_or_canceled_invoice_is_rejected(self, api: ContractClient) -> None:
        first, second = self.order(api), self.order(api, 2)
        assert start(api, invoice_id=first).status_code == 201
        api.post(f"/v1/invoices/{second}/cancel", headers={"Idempotency-Key": "cancel-second"})
        for invoice_id in (first, second):
            answer = start(api, invoice_id=invoice_id)
            assert error(answer)[:2] == (409, "order_attempt_exists")

    @pytest.mark.reaches("invoice_not_found")
    def test_unknown_invoice_is_rejected(self, api: ContractClient) -> None:
        assert error(start(api, invoice_id=NO_SUCH_ID))[:2] == (404, "invoice_not_found")

    def test_two_attempts_have_two_invoices(self, api: ContractClient) -> None:
        invoice_id = self.order(api)
        run = start(api, "two_attempts", invoice_id=invoice_id).json()
        following = api.get(f"/v1/invoices/{run['next_invoice_id']}").json()
        assert (following["attempt_no"], following["amount"]) == (2, "4000000")
        assert run["amount_to_return"] == "4000000"

    @pytest.mark.reaches("no_next_attempt")
    def test_last_attempt_has_no_next_one(self, api: ContractClient) -> None:
        answer = start(api, "two_attempts", external_order_id="shop-1", attempt_no=2**31 - 1)
        assert error(answer) == (409, "no_next_attempt", [])
        assert "2147483647" in answer.json()["message"]
        assert start(api, external_order_id="shop-1", attempt_no=2**31 - 1).status_code == 201

    @pytest.mark.reaches("invalid_webhook_url")
    @pytest.mark.parametrize(
        "url", ["http://169.254.169.254/latest", "https://127.0.0.1/", "ftp://shop.example/"]
    )
    def test_private_address_of_a_shop_is_rejected(self, api: ContractClient, url: str) -> None:
        assert error(start(api, shop_url=url))[:2] == (422, "invalid_webhook_url")


@pytest.mark.parametrize(
    ("name", "answer", "mistake"),
    [
        ("exact", '{"fulfilled": 1, "returned": "0"}', None),
        ("exact", '{"fulfilled": 0, "returned": "0"}', "the shop reports fulfilled 0 instead of 1"),
        ("twice", '{"fulfilled": 1, "returned": "10"}', None),
        ("late", '{"fulfilled": 0, "returned": "0"}', "the shop reports returned 0 instead of 10"),
        ("two_attempts", '{"fulfilled": 1, "returned": "10"}', None),
        ("exact", '{"fulfilled": true, "returned": "0"}', "the shop did not respond with"),
        ("exact", "", "the shop did not respond with"),
        ("exact", "[1]", "the shop did not respond with"),
    ],
)
def test_response_of_the_shop_is_evaluated(name: str, answer: str, mistake: str | None) -> None:
    found = runs.find_mistake(Named(name), answer, amount=10)
    assert found == mistake if mistake is None else found is not None and found.startswith(mistake)


class Named(runs.Run):
    """A run with only a scenario."""

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "scenario", name)
