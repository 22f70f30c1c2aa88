"""A small shop runs all scenarios; with a mistake, the expected ones fail."""

import itertools
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from werkzeug.serving import make_server

from demo.chain.anvil import find_anvil
from models.payment.test_helpers.scenarios import CATALOGUE
from models.webhooks.signing import new_secret
from specd._db import migrate
from specd.db import Database
from tests.live.chain_fixture import running_anvil, running_pyevm
from tests.live.running_server import ROOT, RunningServer
from tests.live.small_shop import (
    DOES_NOTHING,
    FAULTS,
    FULFILS_ON_PROCESSING,
    FULFILS_TWICE,
    IGNORES_OVER,
    KEEPS_LATE,
    TRUSTS_ANYBODY,
    SmallShop,
)
from tests.support import warm
from tests.support.payment.factories import make_merchant
from tests.support.payment.mistakes import FAILING

PAGE = ROOT / "docs/test-your-shop.md"
PATIENCE_S = 120.0
LOOK_S = 0.2
GOOD, COMMANDS = "no mistake", "is run by a command"
SHOPS = (GOOD, COMMANDS, *FAULTS)
SHOWN = {
    FULFILS_ON_PROCESSING: {"reorganised_before_paid"},
    IGNORES_OVER: {"over_in_one_step", "two_attempts"},
    FULFILS_TWICE: {"twice"},
    TRUSTS_ANYBODY: {"forged"},
    KEEPS_LATE: {"late", "partial_then_expired"},
    DOES_NOTHING: {"exact", "late"},
}
"""Scenarios that each mistake fails. tests/workers/test_merchant_in_scenarios.py runs all of them
with a frozen clock.
"""


class Bench:
    """The service with its workers, and one merchant's keys for each shop."""

    def __init__(self, url: str, keys: Mapping[str, str], shop: str = COMMANDS) -> None:
        self.url, self.keys, self.key = url, keys, keys[shop]
        self.api = httpx.Client(
            base_url=f"{url}/v1",
            headers={"Authorization": f"Bearer {self.key}"},
            timeout=30,
            trust_env=False,
        )

    def of(self, shop: str) -> "Bench":
        """Return the bench of the merchant of this shop."""
        return Bench(self.url, self.keys, shop)

    def post(self, path: str, body: Any = None, **headers: str) -> dict[str, Any]:
        answer = self.api.post(path, json={} if body is None else body, headers=headers)
        assert answer.is_success, answer.text
        made: dict[str, Any] = answer.json()
        return made

    def open(self, shop: "ServedShop") -> str:
        """Create an endpoint for the shop's events and return its id."""
        made = self.post(
            "/webhook-endpoints",
            {"url": shop.url, "event_types": ["*"]},
            **{"Idempotency-Key": f"test-bench-endpoint-{next(_numbers)}"},
        )
        shop.shop.secret = made["secret"]
        return str(made["id"])

    def start(self, shop: "ServedShop", chosen: Collection[str]) -> dict[str, str]:
        """Start scenarios for the shop's endpoint alone. Return the ids of the runs by scenario."""
        self.open(shop)
        slowest_first = [name for name in reversed(CATALOGUE) if name in chosen]
        assert len(slowest_first) == len(chosen)
        asked = {"shop_url": shop.judge_url}
        return {
            name: self.post(f"/test-helpers/scenarios/{name}/runs", asked)["id"]
            for name in slowest_first
        }

    def finished(self, run_id: str) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            run: dict[str, Any] = self.api.get(f"/test-helpers/runs/{run_id}").json()
            if run["state"] in ("passed", "failed"):
                return run
            assert time.monotonic() < deadline, json.dumps(run, indent=2)
            time.sleep(LOOK_S)

    def invoice(self, **over: Any) -> str:
        """Create an invoice of 10 tokens."""
        number = next(_numbers)
        order = {"external_order_id": f"act-{number}", "attempt_no": 1, "amount": "10"}
        made = self.post(
            "/invoices",
            order | {"payment_method_id": "tusd-local"} | over,
            **{"Idempotency-Key": f"invoice-of-act-{number}"},
        )
        return str(made["id"])

    def act(self, invoice_id: str, what: str, **body: Any) -> dict[str, Any]:
        return self.post(f"/test-helpers/invoices/{invoice_id}/{what}", {"wait_s": 15} | body)


_numbers = itertools.count(1)


@dataclass(frozen=True)
class ServedShop:
    """A shop and its URLs."""

    shop: SmallShop
    url: str
    judge_url: str


@contextmanager
def served(*faults: str) -> Iterator[ServedShop]:
    """Run a shop on a separate port."""
    shop = SmallShop(*faults)
    server = make_server("127.0.0.1", 0, shop.app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield ServedShop(shop, f"{url}/webhooks", f"{url}/judge")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def running_bench(directory: Path) -> Iterator[Bench]:
    database_url = f"sqlite:///{directory}/payment.db"
    migrate.upgrade(database_url, "payment")
    database = Database(database_url)
    keys = database.run(
        lambda session: {name: make_merchant(session, now=datetime.now(UTC)).key for name in SHOPS}
    )
    database.dispose()
    has_anvil = find_anvil(os.environ.get("SPECD_ANVIL", "")) is not None
    with running_anvil() if has_anvil else running_pyevm() as chain:
        environment = {
            "SPECD_PAYMENT_DATABASE_URL": database_url,
            "SPECD_PAYMENT_TEST_HELPERS": "on",
            "SPECD_WEBHOOK_NETWORKS": "127.0.0.0/8",
            "SPECD_CHAIN_RPC_URLS": chain.url,
            "SPECD_CHAIN_POLL_S": "0.1",
            "SPECD_CHAIN_RPC_TIMEOUT_S": "10",
            "SPECD_DEVELOPMENT": "true",
        }
        with (
            RunningServer(directory, environment) as server,
            (directory / "workers.log").open("ab") as log,
        ):
            usual = {"SPECD_DATA_DIR": str(directory), "PYTHONPATH": str(ROOT)}
            workers = warm.Popen(
                [sys.executable, "-m", "specd._cli.main", "worker", "--only", "payment"],
                cwd=ROOT,
                env={**os.environ, **usual, **environment},
                stdout=log,
                stderr=log,
            )
            try:
                bench = Bench(server.url, keys)
                bench.finished(bench.post("/test-helpers/scenarios/exact/runs")["id"])
                yield bench
            finally:
                workers.terminate()
                workers.wait(30)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with running_bench(tmp_path_factory.mktemp("bench")) as bench:
        yield bench


Runs = dict[str, dict[str, Any]]
"""Finished runs by scenario."""


@pytest.fixture(scope="module")
def runs(bench: Bench) -> dict[str, Runs]:
    """Return the runs of each shop.

    All run together, because a shop with a mistake is queried for ten seconds.
    """
    with ExitStack() as stack:
        started = {}
        for fault, failing in SHOWN.items():
            shop = stack.enter_context(served(fault))
            started[fault] = bench.of(fault).start(shop, {*failing, passed_with(fault)})
        started[GOOD] = bench.of(GOOD).start(stack.enter_context(served()), CATALOGUE)
        return {
            name: {scenario: bench.of(name).finished(id_) for scenario, id_ in ids.items()}
            for name, ids in started.items()
        }


def test_good_shop_passes_every_scenario(bench: Bench, runs: dict[str, Runs]) -> None:
    listed = bench.api.get("/test-helpers/scenarios").json()["data"]
    assert [each["name"] for each in listed] == list(CATALOGUE)
    good = runs[GOOD]
    assert good.keys() == CATALOGUE.keys()
    assert {name: run["failure"] for name, run in good.items() if run["failure"]} == {}
    for name, run in good.items():
        assert run["state"] == "passed"
        assert all(step["result"] for step in run["steps"]), name


@pytest.mark.parametrize("fault", FAULTS)
def test_mistake_fails_its_scenarios(runs: dict[str, Runs], fault: str) -> None:
    failed = {name for name, run in runs[fault].items() if run["state"] == "failed"}
    assert failed == SHOWN[fault] <= FAILING[fault]
    assert runs[fault].keys() == failed | {passed_with(fault)}


def passed_with(fault: str) -> str:
    """Return a scenario that a shop with this mistake passes."""
    return "abandoned" if fault == DOES_NOTHING else "exact"


class TestSingleActs:
    """On a real chain with the real watcher: a response that waits includes the result."""

    def test_a_payment_that_waits_is_confirmed(self, bench: Bench) -> None:
        paid = bench.act(bench.invoice(), "payments", confirmations=2, transfers=3)
        invoice = paid["invoice"]
        assert (invoice["status"], invoice["exception"]) == ("paid", "none")
        sent = [each["tx_hash"] for each in paid["transactions"]]
        assert [each["tx_hash"] for each in invoice["payments"]] == sent
        assert len(sent) == 3

    def test_a_part_and_the_rest_of_two_payers(self, bench: Bench) -> None:
        invoice_id = bench.invoice()
        part = bench.act(invoice_id, "payments", amount="4", confirmations=1)["invoice"]
        assert (part["status"], part["exception"]) == ("unpaid", "partial")
        rest = bench.act(invoice_id, "payments", amount="rest", payer=1, confirmations=2)["invoice"]
        assert (rest["status"], rest["amount_paid"]) == ("paid", "10000000")
        assert len({each["from"] for each in rest["payments"]}) == 2

    def test_an_invoice_expires_for_good_and_what_comes_then_is_late(self, bench: Bench) -> None:
        invoice_id = bench.invoice()
        expired = bench.act(invoice_id, "expire")
        assert (expired["status"], expired["expiry_final"]) == ("expired", True)
        late = bench.act(invoice_id, "payments", confirmations=1)["invoice"]
        assert (late["status"], late["exception"]) == ("expired", "late")

    def test_a_late_payment_needs_one_request(self, bench: Bench) -> None:
        late = bench.act(bench.invoice(), "payments", late=True, confirmations=1)["invoice"]
        assert (late["exception"], late["payments"][0]["late"]) == ("late", True)

    @pytest.mark.parametrize("kind", ["fail", "refuse", "lag"])
    def test_a_watcher_that_cannot_reach_the_chain_finds_the_payment_later(
        self, bench: Bench, kind: str
    ) -> None:
        invoice_id = bench.invoice()
        faults = {"kind": kind, "calls": 3} | ({"lag_ms": 100} if kind == "lag" else {})
        bench.post("/test-helpers/chains/31337/faults", faults)
        paid = bench.act(invoice_id, "payments", confirmations=2, wait_s=15)["invoice"]
        assert paid["status"] == "paid"

    def test_a_reorganisation_takes_a_payment_away(self, bench: Bench) -> None:
        invoice_id = bench.invoice()
        bench.act(invoice_id, "payments", confirmations=2)
        bench.post("/test-helpers/chains/31337/reorganisations", {"depth": 2})
        deadline = time.monotonic() + PATIENCE_S
        while True:
            invoice = bench.api.get(f"/invoices/{invoice_id}").json()
            if invoice["exception"] == "reorged":
                break
            assert time.monotonic() < deadline, invoice
            time.sleep(LOOK_S)
        assert [each["status"] for each in invoice["payments"]] == ["orphaned"]


def test_the_page_says_how_to_run_them_in_a_terminal(bench: Bench) -> None:
    (block,) = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert "specd payment scenario" in block
    with served() as stand:
        shop = stand.shop
        shop.secret = new_secret()
        command = block.replace("http://127.0.0.1:5000/webhooks", stand.url)
        done = run_as_shown(bench, command, shop.secret)
        assert done.returncode == 0, done.stderr
        assert done.stdout == "2 of 2 scenarios passed.\n"
        assert "-> 204 NO CONTENT" in done.stderr
        assert [*shop.fulfilled.values()] == [1]
        assert [shop.owed(order) for order in shop.arrived if order not in shop.fulfilled] == [
            10**7
        ]
        done = run_as_shown(bench, command, new_secret())
        assert done.returncode == 1
        assert "responded to invoice.created with 401 UNAUTHORIZED" in done.stderr


def test_the_command_forges_a_message_itself(bench: Bench) -> None:
    with served(TRUSTS_ANYBODY) as shop:
        shop.shop.secret = new_secret()
        command = f"specd payment scenario forged --forward-to {shop.url}"
        done = run_as_shown(bench, command, new_secret())
    assert done.returncode == 1
    assert "accepted invoice.created with a wrong signature" in done.stderr


def test_the_job_on_the_page_is_one() -> None:
    (block,) = re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    steps = yaml.safe_load(block)["jobs"]["shop"]["steps"]
    shown = " ".join(step.get("run", "") for step in steps)
    judged = "--shop-url http://127.0.0.1:5000/judge"
    assert f"specd payment scenario {judged} --json > runs.json" in shown
    assert "specd demo --json > ready.json" in shown


def run_as_shown(bench: Bench, command: str, secret: str) -> subprocess.CompletedProcess[str]:
    url = str(bench.api.base_url).removesuffix("/v1/")
    environment = {"KEY": bench.key, "WEBHOOK_SECRET": secret, "SPECD_PUBLIC_URL": url}
    with warm.shell() as specd:
        return subprocess.run(
            command.replace("specd ", f"{specd} "),
            shell=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
