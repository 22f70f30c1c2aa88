"""Operations of the tag webhook_endpoints."""

from datetime import datetime, timedelta
from typing import Any

import httpx
import orjson
import pytest
from sqlalchemy import delete, select, update
from standardwebhooks.webhooks import Webhook

from adapters.webhooks.sender import Received
from models.payment.event_list import read_id
from models.payment.retention import RULES
from models.payment.tables import Event, IdempotencyKey
from models.payment.webhooks import signing_secrets
from models.payment.webhooks.tables import (
    WebhookAttempt,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookSecret,
)
from models.payment.webhooks.vault import WebhookVault
from models.webhooks.addresses import AddressRefused
from specd.db import Database, UtcMs
from tests.support.contract import ContractClient
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.app import PaymentApp
from tests.support.payment.factories import Merchant, make_invoice
from tests.support.payment.webhooks import PATH, URL, create

ABSENT = "00000000-0000-4000-8000-000000000000"
NO_EVENT = "evt_7fffffffffffffff"


@pytest.fixture
def endpoint(api: ContractClient) -> dict[str, Any]:
    """An endpoint of Ada's for all events, with its secret."""
    made: dict[str, Any] = create(api).json()
    return made


@pytest.fixture
def event_id(
    api: ContractClient, endpoint: dict[str, Any], database: Database, ada: Merchant, now: datetime
) -> str:
    """The id of an event after the creation of the endpoint."""
    database.run(lambda session: make_invoice(session, ada, now=now))
    found: str = api.get("/v1/events").json()["data"][-1]["id"]
    return found


def failed(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def shown(endpoint: dict[str, Any]) -> dict[str, Any]:
    """Return an endpoint as it is read, without its secret."""
    return {name: value for name, value in endpoint.items() if name != "secret"}


class TestCreate:
    def test_returns_the_endpoint_with_its_secret(self, api: ContractClient, now: datetime) -> None:
        answer = create(api, description="The shop", event_types=["invoice.paid"])
        body = answer.json()
        secret, endpoint_id = body.pop("secret"), body.pop("id")
        assert answer.status_code == 201
        assert body == {
            "url": URL,
            "event_types": ["invoice.paid"],
            "description": "The shop",
            "status": "enabled",
            "disabled_reason": None,
            "created_at": UtcMs.to_ms(now),
            "updated_at": UtcMs.to_ms(now),
        }
        assert api.get(f"{PATH}/{endpoint_id}").json() == body | {"id": endpoint_id}
        assert secret.startswith("whsec_")

    def test_equal_key_creates_one_endpoint_and_returns_its_secret_again(
        self, api: ContractClient, endpoint: dict[str, Any]
    ) -> None:
        again = create(api)
        assert (again.status_code, again.json()) == (201, endpoint)
        assert again.headers["Idempotent-Replayed"] == "true"
        assert len(api.get(PATH).json()["data"]) == 1

    def test_replay_does_not_resolve_the_name_again(
        self, api: ContractClient, payment_app: PaymentApp, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def refuse(url: str) -> None:
            raise AddressRefused("leads inside")

        created = create(api)
        with monkeypatch.context() as patched:
            patched.setattr(payment_app.webhooks.sender, "check", refuse)
            assert create(api).json() == created.json()
            assert failed(create(api, key="another-key")) == (422, "invalid_webhook_url")
        assert create(api, key="another-key").status_code == 201

    def test_secret_is_not_stored_in_clear(
        self, database: Database, endpoint: dict[str, Any]
    ) -> None:
        with database.reading() as reader:
            rows = [
                *reader.execute(select(WebhookSecret.sealed)),
                *reader.execute(select(IdempotencyKey.body)),
            ]
        secret = endpoint["secret"].removeprefix("whsec_")
        assert len(rows) == 2
        assert not [row for row in rows if secret in str(row)]

    def test_replay_has_the_secret_after_resealing(
        self,
        api: ContractClient,
        database: Database,
        payment_app: PaymentApp,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        previous, current = WebhookVault(b"s" * 32), WebhookVault(b"t" * 32, b"s" * 32)
        monkeypatch.setattr(payment_app.webhooks, "vault", previous)
        created = create(api)
        monkeypatch.setattr(payment_app.webhooks, "vault", WebhookVault(b"t" * 32))
        assert failed(create(api)) == (422, "invalid_request")  # its secret cannot be opened
        assert database.run(lambda session: signing_secrets.reseal(session, current)) == 1
        assert create(api).json() == created.json()
        assert database.run(lambda session: signing_secrets.reseal(session, current)) == 0

    @pytest.mark.reaches("idempotency_key_reused")
    def test_key_with_another_body_is_rejected(
        self, api: ContractClient, endpoint: dict[str, Any]
    ) -> None:
        assert failed(create(api, description="Other")) == (422, "idempotency_key_reused")

    @pytest.mark.reaches("too_many_webhook_endpoints")
    def test_number_per_project_is_limited_to_twenty(
        self, api: ContractClient, client: ContractClient, ben: Merchant
    ) -> None:
        answers = [create(api, f"endpoint-{number}") for number in range(21)]
        assert [answer.status_code for answer in answers] == [201] * 20 + [409]
        assert failed(answers[-1]) == (409, "too_many_webhook_endpoints")
        assert create(client.with_key(ben.key)).status_code == 201
        api.request("DELETE", f"{PATH}/{answers[0].json()['id']}")
        assert create(api, "endpoint-20").status_code == 201

    @pytest.mark.reaches("invalid_webhook_url")
    @pytest.mark.parametrize(
        "url",
        [
            "http://shop.example/",
            "https://127.0.0.1/",
            "https://shop.example:25/",
            "https://me:secret@shop.example/",
            "https://inside.example/",
            "https://both.example/",
        ],
    )
    def test_internal_address_is_rejected(
        self, api: ContractClient, payment_app: PaymentApp, url: str
    ) -> None:
        payment_app.receivers.names = {
            "inside.example": ["10.0.0.7"],
            "both.example": ["93.184.215.14", "::1"],
        }
        answer = create(api, url=url)
        assert failed(answer) == (422, "invalid_webhook_url")
        assert [detail["path"] for detail in answer.json()["details"]] == ["/body/url"]
        assert api.get(PATH).json() == {"data": []}

    def test_unresolvable_name_is_accepted(
        self, api: ContractClient, payment_app: PaymentApp
    ) -> None:
        payment_app.receivers.names = {"soon.example": []}
        assert create(api, url="https://soon.example/").status_code == 201

    @pytest.mark.reaches("invalid_request")
    @pytest.mark.parametrize(
        "body",
        [
            {"event_types": []},
            {"event_types": ["invoice.lost"]},
            {"event_types": ["ping"]},
            {"url": "x" * 2001},
            {"url": 7},
            {"description": "x" * 501},
            {"status": "disabled"},
        ],
    )
    def test_rejects_invalid_requests(self, api: ContractClient, body: dict[str, Any]) -> None:
        assert failed(create(api, **body)) == (422, "invalid_request")

    def test_types_are_stored_once(self, api: ContractClient) -> None:
        types = ["invoice.paid", "invoice.expired", "invoice.paid"]
        assert create(api, event_types=types).json()["event_types"] == types[:2]


class TestReadAndList:
    def test_empty_list(self, api: ContractClient) -> None:
        assert api.get(PATH).json() == {"data": []}

    def test_lists_all_oldest_first(
        self, api: ContractClient, clock: FrozenClock, endpoint: dict[str, Any]
    ) -> None:
        clock.advance(seconds=1)
        second = create(api, "second-one").json()
        assert api.get(PATH).json() == {"data": [shown(endpoint), shown(second)]}

    def test_id_is_accepted_in_any_case(
        self, api: ContractClient, endpoint: dict[str, Any]
    ) -> None:
        assert api.get(f"{PATH}/{endpoint['id'].upper()}").json() == shown(endpoint)


class TestUpdate:
    def test_changes_given_values(
        self, api: ContractClient, clock: FrozenClock, endpoint: dict[str, Any]
    ) -> None:
        clock.advance(seconds=5)
        changes = {"url": "https://shop.example:8443/x", "description": "New", "status": "disabled"}
        answer = api.request("PATCH", f"{PATH}/{endpoint['id']}", json=changes)
        wanted = shown(endpoint) | changes | {"updated_at": endpoint["updated_at"] + 5000}
        assert (answer.status_code, answer.json()) == (200, wanted)
        assert api.get(f"{PATH}/{endpoint['id']}").json() == wanted
        types = {"event_types": ["invoice.expired"]}
        assert api.request("PATCH", f"{PATH}/{endpoint['id']}", json=types).json() == wanted | types

    def test_identical_values_change_nothing(
        self, api: ContractClient, clock: FrozenClock, endpoint: dict[str, Any]
    ) -> None:
        clock.advance(seconds=5)
        same = {"url": URL, "status": "enabled"}
        assert api.request("PATCH", f"{PATH}/{endpoint['id']}", json=same).json() == shown(endpoint)

    def test_enabling_reports_deleted_events(
        self,
        api: ContractClient,
        endpoint: dict[str, Any],
        database: Database,
        ada: Merchant,
        now: datetime,
    ) -> None:
        address = f"{PATH}/{endpoint['id']}"

        def enable() -> dict[str, Any]:
            assert (
                "events_missed"
                not in api.request("PATCH", address, json={"status": "disabled"}).json()
            )
            enabled: dict[str, Any] = api.request(
                "PATCH", address, json={"status": "enabled"}
            ).json()
            return enabled

        database.run(lambda session: make_invoice(session, ada, now=now))
        assert "events_missed" not in enable()
        (rule,) = (rule for rule in RULES if rule.table == "event")
        late = now + timedelta(seconds=1)
        assert database.run(lambda session: rule.delete_expired(session, late, 1000))
        assert enable()["events_missed"] is True
        assert (
            "events_missed" not in api.request("PATCH", address, json={"description": "new"}).json()
        )

    def test_enabling_clears_the_reason_for_disabling(
        self, api: ContractClient, database: Database, endpoint: dict[str, Any], now: datetime
    ) -> None:
        gone = {"status": "disabled", "disabled_reason": "failing", "failing_since": now}
        database.run(lambda session: session.execute(update(WebhookEndpoint).values(gone)))
        path = f"{PATH}/{endpoint['id']}"
        assert api.get(path).json()["disabled_reason"] == "failing"
        enabled = api.request("PATCH", path, json={"status": "enabled"}).json()
        assert enabled["disabled_reason"] is None
        with database.reading() as reader:
            assert reader.execute(select(WebhookEndpoint.failing_since)).scalar() is None

    @pytest.mark.reaches("invalid_webhook_url")
    def test_internal_address_is_rejected(
        self, api: ContractClient, endpoint: dict[str, Any]
    ) -> None:
        answer = api.request("PATCH", f"{PATH}/{endpoint['id']}", json={"url": "https://[::1]/"})
        assert failed(answer) == (422, "invalid_webhook_url")
        assert api.get(f"{PATH}/{endpoint['id']}").json() == shown(endpoint)

    @pytest.mark.parametrize("body", [{}, {"status": "gone"}, {"secret": "x"}])
    def test_rejects_invalid_requests(
        self, api: ContractClient, endpoint: dict[str, Any], body: dict[str, Any]
    ) -> None:
        answer = api.request("PATCH", f"{PATH}/{endpoint['id']}", json=body)
        assert failed(answer) == (422, "invalid_request")


class TestDelete:
    def test_deletes_the_endpoint_with_its_secrets(
        self, api: ContractClient, database: Database, endpoint: dict[str, Any]
    ) -> None:
        path = f"{PATH}/{endpoint['id']}"
        answer = api.request("DELETE", path)
        assert (answer.status_code, answer.content) == (204, b"")
        assert failed(api.get(path)) == (404, "webhook_endpoint_not_found")
        assert failed(api.request("DELETE", path)) == (404, "webhook_endpoint_not_found")
        assert api.get(PATH).json() == {"data": []}
        with database.reading() as reader:
            assert reader.execute(select(WebhookSecret.id)).all() == []


class TestRotateSecret:
    def rotate(self, api: ContractClient, endpoint: dict[str, Any], **body: int) -> str:
        answer = api.post(f"{PATH}/{endpoint['id']}/rotate-secret", json=body)
        assert answer.status_code == 200
        told = answer.json()
        secret: str = told.pop("secret")
        assert told == shown(endpoint)
        return secret

    def signing(self, api: ContractClient, app: PaymentApp, endpoint: dict[str, Any]) -> int:
        """Return the number of signatures of a message."""
        api.post(f"{PATH}/{endpoint['id']}/test")
        return len(app.receivers.posted[-1].headers["webhook-signature"].split())

    def test_both_secrets_sign_until_the_end_of_the_grace_period(
        self,
        api: ContractClient,
        payment_app: PaymentApp,
        endpoint: dict[str, Any],
        clock: FrozenClock,
    ) -> None:
        new = self.rotate(api, endpoint)
        assert new != endpoint["secret"]
        assert self.signing(api, payment_app, endpoint) == 2
        posted = payment_app.receivers.posted[-1]
        for secret in (new, endpoint["secret"]):
            wanted = Webhook(secret).sign(
                posted.headers["webhook-id"], clock.now(), posted.body.decode()
            )
            assert wanted in posted.headers["webhook-signature"].split()
        clock.advance(seconds=86_399)
        assert self.signing(api, payment_app, endpoint) == 2
        clock.advance(seconds=1)
        assert self.signing(api, payment_app, endpoint) == 1

    def test_zero_grace_period(
        self, api: ContractClient, payment_app: PaymentApp, endpoint: dict[str, Any]
    ) -> None:
        self.rotate(api, endpoint)
        self.rotate(api, endpoint, grace_s=0)
        assert self.signing(api, payment_app, endpoint) == 1

    def test_at_most_five_secrets_sign(
        self, api: ContractClient, payment_app: PaymentApp, endpoint: dict[str, Any]
    ) -> None:
        for _ in range(6):
            self.rotate(api, endpoint, grace_s=604_800)
        assert self.signing(api, payment_app, endpoint) == 5

    @pytest.mark.parametrize("grace_s", [-1, 604_801, "60", None])
    def test_rejects_invalid_requests(
        self, api: ContractClient, endpoint: dict[str, Any], grace_s: Any
    ) -> None:
        path = f"{PATH}/{endpoint['id']}/rotate-secret"
        assert failed(api.post(path, json={"grace_s": grace_s})) == (422, "invalid_request")


class TestTest:
    def test_sends_a_ping_and_reports_the_response(
        self,
        api: ContractClient,
        payment_app: PaymentApp,
        endpoint: dict[str, Any],
        clock: FrozenClock,
    ) -> None:
        payment_app.receivers.answer = Received(503, None, "in a moment", "60", 41)
        answer = api.post(f"{PATH}/{endpoint['id']}/test")
        assert (answer.status_code, answer.json()) == (
            200,
            {
                "webhook_endpoint_id": endpoint["id"],
                "taken": False,
                "status_code": 503,
                "failure": None,
                "duration_ms": 41,
                "answer": "in a moment",
            },
        )
        (posted,) = payment_app.receivers.posted
        assert posted.url == URL
        assert orjson.loads(posted.body) == {
            "id": posted.headers["webhook-id"],
            "type": "ping",
            "timestamp": clock.now().isoformat(timespec="milliseconds")[:-6] + "Z",
            "created_at": UtcMs.to_ms(clock.now()),
            "data": {"webhook_endpoint_id": endpoint["id"]},
        }
        wanted = Webhook(endpoint["secret"]).sign(
            posted.headers["webhook-id"], clock.now(), posted.body.decode()
        )
        assert posted.headers["webhook-signature"] == wanted
        assert api.get("/v1/events").json()["data"] == []

    def test_missing_response_is_reported(
        self, api: ContractClient, payment_app: PaymentApp, endpoint: dict[str, Any]
    ) -> None:
        payment_app.receivers.answer = Received(None, "cannot_connect", "", None, 3)
        body = api.post(f"{PATH}/{endpoint['id']}/test").json()
        assert (body["taken"], body["status_code"], body["failure"]) == (
            False,
            None,
            "cannot_connect",
        )

    @pytest.mark.reaches("webhook_test_in_progress")
    def test_one_test_at_a_time(
        self, api: ContractClient, payment_app: PaymentApp, endpoint: dict[str, Any]
    ) -> None:
        with payment_app.webhooks.testing(endpoint["id"]):
            answer = api.post(f"{PATH}/{endpoint['id']}/test")
        assert failed(answer) == (409, "webhook_test_in_progress")
        assert answer.headers["Retry-After"] == "5"
        assert api.post(f"{PATH}/{endpoint['id']}/test").status_code == 200


class TestDeliveries:
    def attempt(
        self,
        database: Database,
        endpoint: dict[str, Any],
        event_id: str,
        number: int,
        at: datetime,
        **over: Any,
    ) -> None:
        facts: dict[str, Any] = {
            "endpoint_id": endpoint["id"],
            "event_id": read_id(event_id),
            "event_type": "invoice.created",
            "number": number,
            "at": at,
            "duration_ms": 12,
            "status_code": 200,
            "answer": "ok",
        }
        database.run(lambda session: session.add(WebhookAttempt(**(facts | over))))

    def test_empty_list(self, api: ContractClient, endpoint: dict[str, Any]) -> None:
        answer = api.get(f"{PATH}/{endpoint['id']}/deliveries")
        assert answer.json() == {"data": [], "has_more": False, "next_cursor": None}

    def test_lists_attempts_newest_first(
        self,
        api: ContractClient,
        database: Database,
        endpoint: dict[str, Any],
        event_id: str,
        now: datetime,
    ) -> None:
        later = now + timedelta(seconds=5)
        silent = {"status_code": None, "failure": "timeout", "answer": "", "next_try_at": later}
        self.attempt(database, endpoint, event_id, 1, now, **silent)
        self.attempt(database, endpoint, event_id, 2, later)
        body = api.get(f"{PATH}/{endpoint['id']}/deliveries").json()
        assert body == {
            "data": [
                {
                    "id": "att_0000000000000002",
                    "event_id": event_id,
                    "event_type": "invoice.created",
                    "attempt_no": 2,
                    "at": UtcMs.to_ms(later),
                    "taken": True,
                    "status_code": 200,
                    "failure": None,
                    "duration_ms": 12,
                    "redelivered": False,
                    "answer": "ok",
                    "next_attempt_at": None,
                },
                {
                    "id": "att_0000000000000001",
                    "event_id": event_id,
                    "event_type": "invoice.created",
                    "attempt_no": 1,
                    "at": UtcMs.to_ms(now),
                    "taken": False,
                    "status_code": None,
                    "failure": "timeout",
                    "duration_ms": 12,
                    "redelivered": False,
                    "answer": "",
                    "next_attempt_at": UtcMs.to_ms(later),
                },
            ],
            "has_more": False,
            "next_cursor": None,
        }

    def test_following_pages(
        self,
        api: ContractClient,
        database: Database,
        endpoint: dict[str, Any],
        event_id: str,
        now: datetime,
    ) -> None:
        for number in range(1, 6):
            self.attempt(database, endpoint, event_id, number, now)
        found: list[int] = []
        query = "limit=2"
        while True:
            page = api.get(f"{PATH}/{endpoint['id']}/deliveries?{query}").json()
            found += [attempt["attempt_no"] for attempt in page["data"]]
            if not page["has_more"]:
                break
            query = f"limit=2&cursor={page['next_cursor']}"
        assert found == [5, 4, 3, 2, 1]

    @pytest.mark.parametrize("query", ["limit=0", "limit=101", "cursor=att_1", "cursor=evt_1"])
    def test_rejects_invalid_requests(
        self, api: ContractClient, endpoint: dict[str, Any], query: str
    ) -> None:
        answer = api.get(f"{PATH}/{endpoint['id']}/deliveries?{query}")
        assert failed(answer) == (422, "invalid_request")


class TestRedeliver:
    def redeliver(
        self, api: ContractClient, endpoint: dict[str, Any], event_id: str
    ) -> httpx.Response:
        return api.post(f"{PATH}/{endpoint['id']}/deliveries/{event_id}/redeliver")

    def test_event_is_due_immediately(
        self,
        api: ContractClient,
        database: Database,
        endpoint: dict[str, Any],
        event_id: str,
        now: datetime,
    ) -> None:
        for _ in range(2):
            answer = self.redeliver(api, endpoint, event_id)
            assert (answer.status_code, answer.json()) == (
                200,
                {"webhook_endpoint_id": endpoint["id"], "event_id": event_id, "state": "due"},
            )
        with database.reading() as reader:
            rows = reader.execute(
                select(WebhookDelivery.event_id, WebhookDelivery.next_try_at)
            ).all()
        assert [tuple(row) for row in rows] == [(read_id(event_id), now)]

    def test_does_not_wait_for_an_earlier_event_of_its_invoice(
        self, api: ContractClient, database: Database, endpoint: dict[str, Any], event_id: str
    ) -> None:
        invoice_id = api.get(f"/v1/events/{event_id}").json()["invoice_id"]
        api.post(f"/v1/invoices/{invoice_id}/cancel", headers={"Idempotency-Key": "cancel-it"})
        canceled = api.get("/v1/events").json()["data"][-1]["id"]
        assert self.redeliver(api, endpoint, event_id).json()["state"] == "due"
        assert self.redeliver(api, endpoint, canceled).json()["state"] == "due"
        assert self.redeliver(api, endpoint, canceled).json()["state"] == "due"

    @pytest.mark.reaches("webhook_endpoint_disabled")
    def test_disabled_endpoint_is_rejected(
        self, api: ContractClient, endpoint: dict[str, Any], event_id: str
    ) -> None:
        api.request("PATCH", f"{PATH}/{endpoint['id']}", json={"status": "disabled"})
        answer = self.redeliver(api, endpoint, event_id)
        assert failed(answer) == (409, "webhook_endpoint_disabled")

    @pytest.mark.reaches("event_not_found")
    def test_unknown_event_is_rejected(
        self, api: ContractClient, database: Database, endpoint: dict[str, Any], event_id: str
    ) -> None:
        assert failed(self.redeliver(api, endpoint, NO_EVENT)) == (404, "event_not_found")
        database.run(lambda session: session.execute(delete(Event)))
        assert failed(self.redeliver(api, endpoint, event_id)) == (404, "event_not_found")


@pytest.mark.reaches("webhook_endpoint_not_found", "unauthorized")
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "/rotate-secret"),
        ("POST", "/test"),
        ("GET", "/deliveries"),
        ("POST", "/deliveries/{event}/redeliver"),
    ],
)
def test_endpoint_of_another_project_is_not_found(
    method: str,
    path: str,
    api: ContractClient,
    client: ContractClient,
    ben: Merchant,
    endpoint: dict[str, Any],
    event_id: str,
) -> None:
    body = {"PATCH": {"status": "disabled"}, "POST": {}}.get(method)
    sent = {} if body is None else {"json": body}
    tail = path.format(event=event_id)
    answers = [
        client.with_key(ben.key).request(method, f"{PATH}/{one}{tail}", **sent)
        for one in (endpoint["id"], ABSENT)
    ]
    told = [answer.json() | {"request_id": ""} for answer in answers]
    assert failed(answers[0]) == (404, "webhook_endpoint_not_found")
    assert told[0] == told[1]
    assert failed(client.request(method, f"{PATH}/{endpoint['id']}{tail}", **sent)) == (
        401,
        "unauthorized",
    )
    assert api.get(f"{PATH}/{endpoint['id']}").json() == shown(endpoint)
