"""Modules of /dashboard in headless Chromium, without a service: amounts, texts, addresses."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

import specs
from models.payment.errors import InvalidAmount, MalformedAmount
from models.payment.money import MAX_ATOMS, format_units, parse_amount
from pages.payment import add_dashboard
from tests.pages.browser import Browser
from tests.pages.stage import serving
from tests.support.payment.states import STATES
from tests.support.service_pages import build_pages

ANSWER = """
const [path, name, lists, done] = arguments;
const outcome = (work) => { try { return String(work()); } catch (error) { return null; } };
import(path).then((module) => done(lists.map((given) => outcome(() => module[name](...given)))));
"""
JSON_ANSWER = ANSWER.replace("String(work())", "JSON.stringify(work())")
PATIENCE = """
const [failures, done] = arguments;
import("/static/client/patience.js").then(async ({ insist }) => {
  const began = performance.now();
  const stop = new AbortController();
  const ask = async () => {
    if (failures.length > 0) throw Object.assign(new Error("no"), failures.shift());
    return "answer";
  };
  const said = await insist(stop.signal, ask).catch((error) => error.status);
  done([said, performance.now() - began, failures.length]);
});
"""
TONES = {"waiting", "working", "done", "warning", "stopped"}
TEXTS = ("0", "1", "12.5", "12.50", "0.000001", "0.0000001", "1.", ".5", "01", "1,5", "-1", "1e3",
         "", " 1", "9" * 72, "9" * 73, "115792089237316195423570985008687907853269984665640564039"
         "457584007913129.639935", "11579208923731619542357098500868790785326998466564056403945758"
         "4007913129.639936", "٣", "1\n")  # fmt: skip


@pytest.fixture(scope="module")
def page(chromium: Browser) -> Iterator[Browser]:
    """The page of a server without a payment service."""
    chromium.reset()
    with serving(build_pages(documents={}, own=[add_dashboard])) as base:
        chromium.open(f"{base}/dashboard")
        yield chromium
        chromium.open("about:blank")


def call(page: Browser, module: str, name: str, *lists: list[Any], script: str = ANSWER) -> Any:
    """Return the results of a function for lists of arguments, with None if it raises."""
    path = f"/static/dashboard/{module}.js"
    return page.driver.execute_async_script(script, path, name, lists)


def test_amounts_are_formatted_like_those_of_the_service(page: Browser) -> None:
    chance = random.Random(13)
    amounts = [0, 1, 999_999, 10**6, 10**18, MAX_ATOMS, 10**100 - 1]
    amounts += [chance.randrange(10 ** chance.randrange(1, 90)) for _ in range(300)]
    given = list(itertools.product(amounts, (0, 1, 6, 18)))
    written = call(page, "money", "writeUnits", *([str(atoms), n] for atoms, n in given))
    assert written == [format_units(atoms, decimals) for atoms, decimals in given]


def test_amounts_are_parsed_like_those_of_the_service(page: Browser) -> None:
    def read(text: str) -> str | None:
        try:
            return str(parse_amount(text))
        except (InvalidAmount, MalformedAmount):
            return None

    assert call(page, "money", "readUnits", *([text, 6] for text in TEXTS)) == [*map(read, TEXTS)]
    assert call(page, "money", "readUnits", ["1.5", 0], ["1.55", 1], ["2", 18]) == [
        None,
        None,
        "2000000000000000000",
    ]


def test_amount_of_an_unknown_method_is_in_atoms(page: Browser) -> None:
    method = {"decimals": 6, "token_symbol": "TUSD"}
    written = call(page, "money", "writeAmount", ["1500000", method], ["1500000"])
    assert written == ["1.5 TUSD", "1500000 atomic units"]


def test_every_state_and_event_of_the_documents_has_a_text(page: Browser) -> None:
    events = specs.load("payment-events")["components"]["schemas"]["EventType"]["enum"]
    schemas = specs.load("payment")["components"]["schemas"]
    statuses = schemas["InvoiceStatus"]["enum"]
    payments = schemas["PaymentStatus"]["enum"]
    states = [{"status": status, "exception": what} for status, what in STATES]
    asked: dict[str, list[Any]] = {
        "describeEvent": events,
        "describePayment": [{"status": status, "late": False} for status in payments],
        "describe": states,
    }
    for function, each in asked.items():
        answers = call(page, "wording", function, *([one] for one in each), script=JSON_ANSWER)
        said = [json.loads(answer) for answer in answers]
        assert {one["words"] for one in said}.isdisjoint({*events, *statuses, *payments})
        assert {one["tone"] for one in said} <= TONES
    advice = [json.loads(one)["text"] for one in answers]
    assert [text for text in advice if not text.endswith(".")] == []


def test_unknown_values_are_shown_unchanged(page: Browser) -> None:
    [event] = call(page, "wording", "describeEvent", ["invoice.blessed"], script=JSON_ANSWER)
    assert '"words":"invoice.blessed"' in event
    failed = {"taken": False, "status_code": None, "failure": "odd"}
    [attempt] = call(page, "wording", "describeAttempt", [failed], script=JSON_ANSWER)
    assert '"words":"odd"' in attempt


TOLD = """
const [steps, done] = arguments;
import("/static/dashboard/invoices.js").then(({ Invoices }) => {
  const invoices = new Invoices();
  const moments = {};
  for (const [step, name, status] of steps) {
    if (step === "ask") moments[name] = invoices.moment;
    if (step === "answer") invoices.read({ id: "one", status, created_at: 1 }, moments[name]);
    if (step === "event") invoices.tell({ id: name, status, created_at: 2 });
  }
  done(invoices.get("one").status);
});
"""


@pytest.mark.parametrize(
    ("steps", "status"),
    [
        ([("ask", "a"), ("answer", "a", "unpaid"), ("event", "one", "paid")], "paid"),
        ([("ask", "a"), ("event", "one", "paid"), ("answer", "a", "unpaid")], "paid"),
        ([("ask", "a"), ("event", "two", "paid"), ("answer", "a", "unpaid")], "unpaid"),
        ([("event", "one", "unpaid"), ("ask", "a"), ("answer", "a", "expired")], "expired"),
        ([("event", "one", "unpaid"), ("event", "one", "paid")], "paid"),
    ],
)
def test_answer_is_older_than_an_event_received_meanwhile(
    page: Browser, steps: list[tuple[str, ...]], status: str
) -> None:
    assert page.driver.execute_async_script(TOLD, steps) == status


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("#invoice/5f0c2e84-6b1d-4c7a-9a35-2d8e1f4b7c90", "5f0c2e84-6b1d-4c7a-9a35-2d8e1f4b7c90"),
        ("#invoices", None),
        ("#webhooks", None),
    ],
)
def test_address_opens_its_view(page: Browser, address: str, place: str | None) -> None:
    script = """
    const [address, done] = arguments;
    import("/static/dashboard/places.js").then(({ addressOf, placeAt }) => {
      const place = placeAt(address);
      done([place.invoiceId, addressOf(place)]);
    });
    """
    assert page.driver.execute_async_script(script, address) == [place, address]


@pytest.mark.parametrize("address", ["", "#", "#invoice", "#invoice/x", "#invoice/../1", "#a/b/c"])
def test_unknown_address_opens_the_invoices(page: Browser, address: str) -> None:
    [place] = call(page, "places", "placeAt", [address], script=JSON_ANSWER)
    assert place == '{"view":"invoices","invoiceId":null}'


@pytest.mark.parametrize(
    ("failures", "said", "at_least_ms"),
    [
        ([], "answer", 0),
        ([{"status": 0}, {"status": 503}], "answer", 1000),
        ([{"status": 429, "retryAfter": 2}], "answer", 2000),
        ([{"status": 404}], 404, 0),
        ([{"status": 401}], 401, 0),
    ],
)
def test_temporary_errors_are_retried_after_the_delay_of_the_server(
    page: Browser, failures: list[dict[str, int]], said: object, at_least_ms: float
) -> None:
    answer, took_ms, left = page.driver.execute_async_script(PATIENCE, failures)
    assert (answer, left) == (said, 0)
    assert at_least_ms <= took_ms < at_least_ms + 1500
