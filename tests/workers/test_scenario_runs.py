"""Scenarios step by step: in order, once, in time, and checked by the responses of endpoints."""

from typing import Any

import pytest

from adapters.chain.json_rpc import EndpointFailed, RpcError
from adapters.webhooks.sender import Received
from models.payment.invoice_view import InvoiceView
from models.payment.settlement import cancel_invoice
from models.payment.test_helpers import faults, runs
from models.payment.test_helpers.faults import SIMULATED, Kind
from models.payment.test_helpers.runs import Run
from models.payment.test_helpers.scenarios import CATALOGUE
from models.payment.webhooks.outcomes import TAKEN
from models.payment.webhooks.tables import WebhookAttempt, WebhookDelivery
from models.payment.webhooks.vault import WebhookVault
from specd.db import Database
from specd.errors import DatabaseUnavailable
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.app import FakeDevelopmentChains
from tests.support.payment.factories import (
    CHAIN_ID,
    make_endpoint,
    make_invoice,
    make_merchant,
    pay,
)
from tests.support.receivers import ScriptedReceivers
from workers import payment
from workers.payment import suffer_fault
from workers.scenario_runs import STEP_WITHIN, ScenarioRunner

VAULT = WebhookVault(b"the secret of these tests, 32 bytes or more")


class Bench:
    """Ada's project, and the worker with scripted chains and receivers."""

    def __init__(self, database: Database, clock: FrozenClock) -> None:
        self.database, self.clock = database, clock
        self.chains, self.receivers = FakeDevelopmentChains(), ScriptedReceivers()
        self.runner = ScenarioRunner(database, clock, self.chains, self.receivers)
        self.ada = database.run(lambda s: make_merchant(s, now=clock.now()))

    def start(self, name: str) -> Run:
        def work(session: Any) -> Run:
            invoice = make_invoice(session, self.ada, now=self.clock.now())
            return runs.start(
                session,
                CATALOGUE[name],
                project_id=self.ada.id,
                invoice_id=invoice.id,
                chain_id=CHAIN_ID,
                now=self.clock.now(),
            )

        return self.database.run(work)

    def endpoint(self) -> str:
        now = self.clock.now()
        return self.database.run(lambda s: make_endpoint(s, VAULT, self.ada, now=now)).id

    def read(self, run: Run) -> Run:
        with self.database.reading() as reader:
            return runs.access_run(reader, project_id=self.ada.id, run_id=run.id)

    def go_on(self, run: Run) -> Run:
        """Return the run after all work is done."""
        while self.runner.try_some():
            pass
        return self.read(run)

    def event_of(self, run: Run) -> int:
        with self.database.reading() as reader:
            return runs.events_of(reader, run)[0].id

    def attempt(self, run: Run, endpoint_id: str, status: int | None, failure: str | None) -> None:
        """Return the webhook worker's record of the invoice's first event."""
        now, event_id = self.clock.now(), self.event_of(run)
        facts: dict[str, Any] = {"endpoint_id": endpoint_id, "event_id": event_id}
        attempt = WebhookAttempt(
            **facts,
            event_type="invoice.created",
            number=1,
            at=now,
            duration_ms=1,
            status_code=status,
            failure=failure,
            answer="oops",
        )
        delivery = WebhookDelivery(
            **facts,
            invoice_id=run.invoice_id,
            attempts=1,
            tried=1 if status == 204 else 2,
            outcome=TAKEN,
            created_at=now,
        )
        self.database.run(lambda session: session.add_all([attempt, delivery]))


@pytest.fixture
def bench(database: Database, clock: FrozenClock) -> Bench:
    return Bench(database, clock)


def test_a_run_passes_when_all_is_as_the_catalogue_says(bench: Bench) -> None:
    run = bench.go_on(bench.start("exact"))
    assert (run.state, run.step) == ("running", 1), "it waits for the watcher"
    ((_, sent),) = bench.chains.sent
    assert sent.amount == 12_500_000
    pay(bench.database, run.invoice_id, at=bench.clock.now(), head_number=101)
    run = bench.go_on(run)
    assert (run.state, run.failure) == ("passed", None)
    results = [step["result"] for step in run.done]
    assert results == ["12.5 TUSD in block 129", "paid", "the newest block is 131", "paid"]


def test_of_one_chain_a_run_at_a_time_and_those_that_deliver_besides(bench: Bench) -> None:
    endpoint_id = bench.endpoint()
    bench.receivers.answer = Received(401, None, "", None, 1)
    first, second, third = (bench.start(name) for name in ("forged", "exact", "late"))
    assert bench.go_on(first).state == "delivering"
    assert (bench.read(second).state, bench.read(third).state) == ("running", "queued")
    bench.attempt(first, endpoint_id, 204, None)
    assert bench.go_on(first).state == "passed"
    pay(bench.database, second.invoice_id, at=bench.clock.now(), head_number=101)
    assert bench.go_on(second).state == "delivering"
    assert bench.read(third).state == "running"


@pytest.mark.parametrize("name", [name for name in CATALOGUE if name != "forged"])
def test_a_step_that_was_not_recorded_is_done_once(
    bench: Bench, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = bench.start(name)
    note, told = runs.note_step, 0

    def fail_each_first_time(*args: Any, **sent: Any) -> bool:
        nonlocal told
        told += 1
        if told % 2:
            raise RuntimeError("killed")
        return note(*args, **sent)

    monkeypatch.setattr(runs, "note_step", fail_each_first_time)
    for _ in range(8):
        try:
            bench.go_on(run)
        except RuntimeError:
            continue
    run = bench.read(run)
    assert run.failure is None
    assert run.step > 0
    invoice = bench.runner._invoice(run)
    paid = sum(sent.amount for to, sent in bench.chains.sent if to == invoice.deposit_address)
    shares = [getattr(step, "percent", 0) for step in run.entry.steps[: run.step]]
    assert paid == invoice.amount * max(shares, default=0) // 100


def test_two_workers_do_each_step_once(bench: Bench) -> None:
    other = ScenarioRunner(bench.database, bench.clock, bench.chains, bench.receivers)
    run = bench.start("exact")
    for _ in range(3):
        bench.runner.try_some()
        other.try_some()
    pay(bench.database, run.invoice_id, at=bench.clock.now(), head_number=101)
    while bench.runner.try_some() or other.try_some():
        pass
    run = bench.read(run)
    assert (run.state, len(run.done)) == ("passed", len(run.entry.steps))
    assert len(bench.chains.sent) == 1


def test_what_another_has_recorded_is_not_recorded_again(bench: Bench) -> None:
    run = bench.start("exact")
    now = bench.clock.now()
    told = [
        bench.database.run(lambda session: runs.note_step(session, run, "done", now=now))
        for _ in range(2)
    ]
    assert told == [True, False]


def test_a_run_fails_when_a_step_does_not_come_to_its_state(bench: Bench) -> None:
    run = bench.go_on(bench.start("exact"))
    bench.clock.advance(seconds=STEP_WITHIN.total_seconds() - 1)
    assert bench.go_on(run).state == "running"
    bench.clock.advance(seconds=1)
    run = bench.go_on(run)
    assert run.failure == (
        "not done within a minute: wait until the invoice is processing; it is unpaid, none"
    )


def test_a_run_fails_for_a_chain_that_cannot_and_waits_for_a_silent_one(bench: Bench) -> None:
    bench.chains.is_silent = True
    run = bench.go_on(bench.start("exact"))
    assert (run.state, run.step) == ("running", 0)
    bench.chains.is_silent = False
    bench.chains.refusal = "has no unlocked accounts"
    assert bench.go_on(run).failure == f"chain {CHAIN_ID} has no unlocked accounts"


def test_a_run_survives_an_outage_of_the_database(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = bench.start("exact")
    assert bench.runner.try_some()

    def be_away(_run: Run, **_: object) -> InvoiceView:
        raise DatabaseUnavailable

    with monkeypatch.context() as patch:
        patch.setattr(bench.runner, "_invoice", be_away)
        with pytest.raises(DatabaseUnavailable):
            bench.runner.try_some()
    assert bench.read(run).state == "running"


def test_a_run_fails_for_a_step_that_the_invoice_does_not_allow(bench: Bench) -> None:
    run = bench.start("canceled_then_paid")
    pay(bench.database, run.invoice_id, at=bench.clock.now())
    assert "Only an unpaid invoice" in (bench.go_on(run).failure or "")


def test_a_run_fails_for_events_that_are_not_the_catalogues(bench: Bench) -> None:
    run = bench.start("forged")

    def cancel(session: Any) -> InvoiceView:
        now = bench.clock.now()
        return cancel_invoice(session, project_id=bench.ada.id, invoice_id=run.invoice_id, now=now)

    bench.database.run(cancel)
    assert bench.go_on(run).failure == "1 x invoice.canceled is unexpected"


class TestEndpoints:
    def test_one_that_takes_a_forged_message_fails(self, bench: Bench) -> None:
        endpoint_id = bench.endpoint()
        run = bench.go_on(bench.start("forged"))
        told = f"endpoint {endpoint_id} returned 204 for a message with an invalid signature"
        assert run.failure == told

    def test_one_that_wants_other_events_gets_none(self, bench: Bench) -> None:
        now, types = bench.clock.now(), ["webhook_endpoint.disabled"]
        bench.database.run(lambda s: make_endpoint(s, VAULT, bench.ada, now=now, event_types=types))
        assert bench.go_on(bench.start("forged")).state == "passed"
        assert bench.receivers.posted == []

    def test_one_that_says_nothing_to_it_fails(self, bench: Bench) -> None:
        endpoint_id = bench.endpoint()
        bench.receivers.answer = Received(None, "cannot_connect", "", None, 1)
        run = bench.go_on(bench.start("forged"))
        assert run.failure == f"endpoint {endpoint_id} failed (cannot_connect)"

    @pytest.mark.parametrize(
        ("status", "failure", "told"),
        [
            (500, None, "returned 500 for invoice.created: oops"),
            (None, "timeout", "failed (timeout) for invoice.created: oops"),
            (None, SIMULATED, None),
            (204, None, None),
        ],
    )
    def test_one_that_refuses_an_event_fails(
        self, bench: Bench, status: int | None, failure: str | None, told: str | None
    ) -> None:
        endpoint_id = bench.endpoint()
        bench.receivers.answer = Received(401, None, "", None, 1)
        run = bench.start("forged")
        bench.attempt(run, endpoint_id, status, failure)
        ended = bench.go_on(run)
        assert ended.failure == (None if told is None else f"endpoint {endpoint_id} {told}")
        assert ended.state == ("passed" if told is None else "failed")

    def test_one_that_takes_nothing_in_time_fails(self, bench: Bench) -> None:
        bench.endpoint()
        bench.receivers.answer = Received(401, None, "", None, 1)
        run = bench.go_on(bench.start("forged"))
        assert run.state == "delivering"
        bench.clock.advance(seconds=STEP_WITHIN.total_seconds())
        ended = bench.go_on(run)
        assert ended.failure == "an endpoint has not accepted all messages within a minute"


@pytest.mark.parametrize(
    ("kind", "raised"), [(Kind.FAIL, RpcError), (Kind.REFUSE, EndpointFailed), (Kind.LAG, None)]
)
def test_the_watcher_suffers_what_is_simulated(
    bench: Bench, kind: Kind, raised: type[Exception] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    lags: list[float] = []
    monkeypatch.setattr(payment.time, "sleep", lags.append)
    lag, now = STEP_WITHIN, bench.clock.now()
    bench.database.run(
        lambda s: faults.put(s, faults.chain_target(CHAIN_ID), kind, calls=1, lag=lag, now=now)
    )
    suffer_fault(bench.database, CHAIN_ID + 1)
    if raised is None:
        suffer_fault(bench.database, CHAIN_ID)
    else:
        with pytest.raises(raised):
            suffer_fault(bench.database, CHAIN_ID)
    suffer_fault(bench.database, CHAIN_ID)
    assert lags == ([] if raised else [lag.total_seconds()])
