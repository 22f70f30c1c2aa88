"""`specd demo` for a new user: start it, paste its commands, see a paid invoice."""

import json
import os
import re
import signal
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.live import guides
from tests.live.running_demo import START_WITHIN_S, Demo, descendants, until
from tests.support.payment.factories import BEN_XPUB

PAID_WITHIN_S = 60.0


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Demo]]:
    demos: list[Demo] = []

    def start_one(*words: str) -> Demo:
        demos.append(Demo(tmp_path, *words))
        return demos[-1]

    yield start_one
    for demo in demos:
        demo.kill()


def authorize_calls(link: str) -> None:
    """Act as Hamlet: open the link in a browser, consent and return."""
    with httpx.Client(headers={"Accept": "text/html"}, trust_env=False, timeout=10) as browser:
        shown = browser.get(link).text
        assert "in the name of <b>Hamlet</b>" in shown
        (leads_to,) = re.findall(r'href="([^"]*)"', shown)
        consent = browser.get(unescape(leads_to))
        hidden = re.findall(r'type="hidden" name="([^"]*)" value="([^"]*)"', consent.text)
        form = {name: unescape(value) for name, value in hidden}
        back = browser.post(
            unescape(leads_to).partition("?")[0],
            data=form | {"login": "hamlet", "consent": "yes"},
        )
        assert "You can close this window" in browser.get(back.headers["Location"]).text


def test_a_newcomer_pastes_the_lines_and_sees_the_invoice_paid(start: Callable[..., Demo]) -> None:
    demo = start()
    guide = demo.out
    methods, look, pay, create, *chat, push, register, call = [
        block for block in guide.split("\n\n") if block.startswith(("  curl", "  SPECD_"))
    ]
    key = re.search(r"prk_test_\S+", guide)
    checkout = re.search(r"http\S+/checkout/\S+", guide)
    assert key
    assert checkout
    key = key[0].rstrip('"')

    accepted = json.loads(demo.paste(methods))
    assert accepted["environment"] == "test"
    assert [method["available"] for method in accepted["methods"]] == [True]
    invoice = json.loads(demo.paste(look))
    assert invoice["status"] == "unpaid"
    assert (invoice["amount"], invoice["amount_paid"]) == ("12500000", "0")
    own = json.loads(demo.paste(create))
    assert (own["status"], own["amount"]) == ("unpaid", "1500000")
    page = httpx.get(checkout[0], timeout=10)
    assert page.status_code == 200
    assert invoice["deposit_address"] in page.text

    answers = [json.loads(demo.paste(line)) for line in chat]
    assert len(answers) == 6
    assert [answer["result"] for answer in answers] == ["success"] * len(answers)
    assert answers[0]["full_name"] == "Hamlet"
    (life,) = [block for block in guide.split("\n\n") if block.startswith("  ID=")]
    steps = [json.loads(line) for line in demo.paste(life).splitlines()]
    assert [step["result"] for step in steps] == ["success"] * 4
    assert [shot["content"] for shot in steps[1]["message_history"]] == [
        "To be, or not to be",
        "To be",
    ]
    assert "decrypted {'realm_name': 'Acme', 'realm_url': 'http://127.0.0.1:" in demo.paste(push)
    assert json.loads(demo.paste(call))["code"] == "INVALID_VENDOR_TOKEN"
    authorize_calls(json.loads(demo.paste(register))["url"])
    assert "/j/" in json.loads(demo.paste(call))["url"]
    topics = chat[3]
    until(
        lambda: [t["name"] for t in json.loads(demo.paste(topics))["topics"]] == ["castle"],
        30,
        "the scheduled message did not arrive",
    )

    assert "Sent 12.5 TUSD" in demo.paste(pay)
    seen = [invoice["status"]]

    def is_paid() -> bool:
        status = demo.invoice(key, invoice["id"])["status"]
        if status != seen[-1]:
            seen.append(status)
        return status == "paid"

    until(is_paid, PAID_WITHIN_S, f"not paid: {seen}")
    assert seen == ["unpaid", "processing", "paid"]
    paid = demo.invoice(key, invoice["id"])
    assert (paid["amount_paid"], paid["amount_remaining"], paid["exception"]) == (
        "12500000",
        "0",
        "none",
    )
    demo.stop()


def paste_guides(demo: Demo, printed: dict[str, Any]) -> None:
    """Paste every line of the guides, with the values that the reader is asked to replace."""
    hamlet = next(user for user in printed["chat_users"] if user["email"].startswith("hamlet"))
    filled = {
        "$KEY": printed["key"],
        "$INVOICE": printed["invoice_id"],
        "$EMAIL": hamlet["email"],
        "$API_KEY": hamlet["api_key"],
        "http://127.0.0.1:8080": demo.base_url,
        "specd.log": str(demo.directory / "var/logs/server.log"),
        "xpub6...": BEN_XPUB,
    }
    pasted = 0
    for block in guides.blocks():
        if guides.is_left_out(block):
            continue
        if block.startswith("SELECT "):
            assert guides.asked(demo.directory / "var/payment.db", block), "a watcher holds it"
            continue
        for line in guides.commands(block):
            for placeholder, value in filled.items():
                line = line.replace(placeholder, value)
            said = demo.paste(line)
            pasted += 1
            if line.startswith("curl"):
                answer = json.loads(said)
                assert answer.get("result", "success") == "success", said
                assert "request_id" not in answer, said
                filled["$NEW_INVOICE"] = str(answer.get("id", ""))
            made = re.search(r"^Project (\S+) created", said)
            if made:
                filled["PROJECT_ID"] = made[1]
    assert pasted >= 9


def test_every_reason_is_of_one_block() -> None:
    for words in guides.LEFT_OUT:
        assert sum(block.startswith(words) for block in guides.blocks()) == 1, words


def test_every_block_is_in_a_guide() -> None:
    assert guides.unread() == []


def test_a_second_start_uses_what_is_there_and_mends_what_dies(start: Callable[..., Demo]) -> None:
    first = start("--json")
    one = json.loads(first.out.splitlines()[-1])
    first.stop()
    again = start("--json")
    two = json.loads(again.out.splitlines()[-1])
    assert two["key"] == one["key"]
    assert two["chat_users"] == one["chat_users"]
    assert two["invoice_id"] == one["invoice_id"], "unpaid and in time: the same one again"
    assert two["checkout_url"] != one["checkout_url"]
    assert again.invoice(two["key"], one["invoice_id"])["status"] == "unpaid"

    paste_guides(again, two)

    (server,) = {
        pid
        for pid in descendants(again.process.pid)
        if Path(f"/proc/{pid}/fd/1").resolve().name == "server.log"
        and f" {again.process.pid} " in Path(f"/proc/{pid}/stat").read_text()
    }
    os.kill(server, signal.SIGKILL)
    until(lambda: "server died (signal SIGKILL)" in again.err, 10, "nobody noticed")

    def answers() -> bool:
        try:
            return httpx.get(f"{again.base_url}/readyz", timeout=5).status_code == 200
        except httpx.TransportError:
            return False

    until(answers, START_WITHIN_S, "the server did not come back")
    again.stop()
