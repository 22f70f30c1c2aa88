"""The wallet button of the checkout page in headless Chromium, with simulated wallets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from selenium.webdriver.common.keys import Keys

from adapters.chain.rpc_reader import RpcChainReader
from handlers.payment.wiring import compose
from pages import payment
from settings import Settings
from specd._engine.serving.app import build_app
from specd.db import Clock, Database
from tests.live.chain_fixture import LocalChain, anvil  # noqa: F401
from tests.live.running_server import free_port
from tests.pages.browser import Browser
from tests.pages.stage import CONTRACT, DEPOSIT, PAID, PARTIAL, TOKEN, Stage, running
from tests.pages.wallet import INJECTED, Refused, Wallet, by_method
from tests.support.payment.factories import CHAIN_ID, PAYER, make_merchant
from tests.support.service_pages import build_pages
from workers.chain_watcher import ChainWatcher

ACCOUNT = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
HASH = "0x" + "5f" * 32
HERE = hex(CHAIN_ID)
GOOD: dict[str, object] = {
    "eth_requestAccounts": [ACCOUNT],
    "eth_chainId": HERE,
    "eth_sendTransaction": HASH,
    "eth_getTransactionReceipt": None,
}
NO = Refused(4001, "User rejected the request.")
Play = Callable[..., Wallet]


def transfer(atoms: int, to: str = DEPOSIT) -> str:
    """Return the call of an ERC-20 `transfer`."""
    return f"0xa9059cbb{to[2:].lower():0>64}{atoms:064x}"


@pytest.fixture
def play(browser: Browser, address: str) -> Iterator[Play]:
    """Open the page with wallets of these names, with answers by method."""
    added: list[str] = []

    def start(
        names: tuple[str, ...] = ("Fox",), *, legacy: bool = False, page: str = "", **answers: Any
    ) -> Wallet:
        source = INJECTED % {"names": json.dumps(names), "legacy": json.dumps(legacy)}
        made = browser.command("Page.addScriptToEvaluateOnNewDocument", source=source)
        added.append(made["identifier"])
        browser.open(page or f"{address}/checkout/{TOKEN}")
        return Wallet(browser, by_method(GOOD | answers))

    yield start
    if added:  # an empty page has no storage
        browser.run("sessionStorage.clear()")  # the next test may use the same port
    for identifier in added:
        browser.command("Page.removeScriptToEvaluateOnNewDocument", identifier=identifier)


def buttons(browser: Browser) -> list[str]:
    return [str(text) for text in browser.run(
        "return [...document.querySelectorAll('#wallet-buttons button')].map(b => b.innerText)"
    )]  # fmt: skip


def note(browser: Browser) -> str:
    return browser.text("#wallet-note")


def press(browser: Browser, position: int = 0) -> None:
    browser.find(f"#wallet-{position}").click()


def says(browser: Browser, wallet: Wallet, text: str) -> None:
    wallet.serve_until(lambda: text in note(browser), text)


class TestWhichWallets:
    def test_reports_that_there_is_none(self, browser: Browser, play: Play) -> None:
        play(())
        assert buttons(browser) == []
        assert note(browser) == (
            "No wallet was found in this browser. Scan the code, or copy the address and the "
            "amount."
        )
        assert browser.console() == []

    def test_lists_each_announced_wallet(self, browser: Browser, play: Play) -> None:
        play(("Fox", "<b onclick=x>Rabby</b>", "x" * 500))
        assert buttons(browser) == [
            "Pay with Fox",
            "Pay with <b onclick=x>Rabby</b>",
            f"Pay with {'x' * 40}",
            "Show TUSD in the wallet",
        ]
        assert browser.run("return document.documentElement.scrollWidth") <= 1180
        assert browser.console() == []

    def test_lists_at_most_eight(self, browser: Browser, play: Play) -> None:
        play(tuple(f"Wallet {number}" for number in range(30)))
        assert len(buttons(browser)) == 8 + 1

    def test_accepts_a_wallet_without_announcements(self, browser: Browser, play: Play) -> None:
        wallet = play((), legacy=True)
        assert buttons(browser)[0] == "Pay with your wallet"
        press(browser)
        says(browser, wallet, "12.5 TUSD sent")

    def test_button_fits_a_phone_and_the_keyboard(self, browser: Browser, play: Play) -> None:
        browser.show(width=360, dark=True)
        wallet = play(eth_requestAccounts=NO)
        assert browser.run("return document.documentElement.scrollWidth") <= 360
        browser.run("document.getElementById('open').focus()")
        browser.driver.switch_to.active_element.send_keys(Keys.TAB)
        assert browser.run("return document.activeElement.id") == "wallet-0"
        browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
        says(browser, wallet, "You rejected")
        assert browser.run("return document.activeElement.id") == "wallet-0"


class TestPaying:
    def test_requests_one_transfer_of_the_amount_due(self, browser: Browser, play: Play) -> None:
        wallet = play()
        press(browser)
        says(browser, wallet, "12.5 TUSD sent")
        assert [method for method, _ in wallet.calls][:3] == [
            "eth_requestAccounts",
            "eth_chainId",
            "eth_sendTransaction",
        ]
        assert wallet.sent == [
            {
                "from": ACCOUNT,
                "to": CONTRACT,
                "value": "0x0",
                "data": transfer(12_500_000),
                "chainId": HERE,
            }
        ]
        assert browser.console() == []
        said = browser.run("return document.getElementById('announce').textContent")
        assert said.startswith("12.5 TUSD sent")

    def test_requests_no_money_after_sending(
        self, browser: Browser, play: Play, stage: Stage
    ) -> None:
        receipts: list[object] = [None]
        wallet = play(eth_getTransactionReceipt=lambda _: receipts[0])
        usual = browser.run("return document.title")
        press(browser)
        says(browser, wallet, "12.5 TUSD sent")
        for _ in ("sent", "loaded again"):
            asking = "#status-box, #countdown, #open, .qr, #address, #exact, .caution, #pay-title"
            assert [it.text for it in browser.find_all(asking) if it.is_displayed()] == []
            assert browser.text("#sent-title") == "Payment sent, waiting for the network"
            assert browser.run("return document.title") == browser.text("#sent-title")
            assert browser.text("#sent-hash") == HASH
            browser.driver.refresh()
        browser.run("sessionStorage.clear()")
        browser.driver.refresh()
        press(browser)
        says(browser, wallet, "12.5 TUSD sent")
        stage.set(**PARTIAL)
        receipts[0] = {"status": "0x1"}
        seen = "return document.querySelector('#status-box').checkVisibility()"
        wallet.serve_until(lambda: browser.run(seen), "the rest")
        assert not browser.find("#sent-box").is_displayed()
        assert browser.find("#address").is_displayed()
        assert browser.run("return document.title") not in ("", usual)
        assert browser.console() == []

    def test_requests_the_remainder_after_a_part_payment(
        self, browser: Browser, stage: Stage, play: Play
    ) -> None:
        stage.set(**PARTIAL)
        wallet = play()
        press(browser)
        says(browser, wallet, "7.5 TUSD sent")
        assert wallet.sent[0]["data"] == transfer(7_500_000)

    def test_requests_the_largest_amount_exactly(
        self, browser: Browser, stage: Stage, play: Play
    ) -> None:
        stage.set(amount=2**256 - 1, amount_remaining=2**256 - 1)
        wallet = play()
        press(browser)
        says(browser, wallet, "sent")
        assert wallet.sent[0]["data"] == transfer(2**256 - 1)

    def test_double_click_pays_once(self, browser: Browser, play: Play) -> None:
        wallet = play()
        browser.run(
            "for (const wait of [0, 1, 2]) document.getElementById('wallet-0').click();"
            "setTimeout(() => document.getElementById('wallet-0').click())"
        )
        says(browser, wallet, "12.5 TUSD sent")
        assert buttons(browser) == []
        wallet.serve()
        assert len(wallet.sent) == 1

    def test_reload_does_not_offer_payment_immediately(self, browser: Browser, play: Play) -> None:
        wallet = play()
        press(browser)
        says(browser, wallet, "12.5 TUSD sent")
        browser.driver.refresh()
        assert "You have sent a payment from this tab." in note(browser)
        assert buttons(browser) == []
        browser.run(
            "const [name] = Object.keys(sessionStorage);"
            "const its = JSON.parse(sessionStorage[name]);"
            "sessionStorage[name] = JSON.stringify({ ...its, at: its.at - 30_000 })"
        )
        browser.driver.refresh()
        assert buttons(browser) == ["Pay again"]
        press(browser)
        assert buttons(browser)[0] == "Pay with Fox"

    def test_remainder_can_be_paid_after_the_first_transfer_is_seen(
        self, browser: Browser, stage: Stage, play: Play
    ) -> None:
        wallet = play(eth_getTransactionReceipt={"status": "0x1"})
        press(browser)
        says(browser, wallet, "12.5 TUSD sent")
        stage.set(**PARTIAL)  # the shopper has changed the amount in the wallet
        wallet.serve_until(lambda: "Pay with Fox" in buttons(browser), "the rest")
        press(browser)
        says(browser, wallet, "7.5 TUSD sent")

    def test_failed_transfer_can_be_repeated(self, browser: Browser, play: Play) -> None:
        wallet = play(eth_getTransactionReceipt={"status": "0x0"})
        press(browser)
        says(browser, wallet, "failed on the network, so nothing was paid")
        assert buttons(browser)[0] == "Pay with Fox"

    def test_button_is_removed_when_the_invoice_is_paid(
        self, browser: Browser, stage: Stage, play: Play
    ) -> None:
        play()
        assert buttons(browser)
        stage.set(**PAID)
        browser.wait(lambda: browser.text("#status-title") == "Paid", "paid")
        assert browser.find_all("#wallet") == []
        assert browser.console() == []

    def test_invoice_paid_meanwhile_is_not_paid_again(
        self, browser: Browser, stage: Stage, play: Play
    ) -> None:
        def answer(_: list[Any]) -> list[str]:
            stage.set(**PARTIAL)
            return [ACCOUNT]

        wallet = play(eth_requestAccounts=answer)
        press(browser)
        says(browser, wallet, "The invoice has changed in the meantime. Nothing was paid")
        assert wallet.sent == []
        wallet.serve_until(lambda: browser.text("#amount") == "7.5", "the new amount")
        assert "Nothing was paid" in note(browser)

    def test_uses_the_language_of_the_page(
        self, browser: Browser, address: str, stage: Stage, play: Play
    ) -> None:
        wallet = play(page=f"{address}/checkout/{TOKEN}?lang=de")
        assert buttons(browser)[0] == "Mit Fox bezahlen"
        press(browser)
        says(browser, wallet, "12,5 TUSD gesendet")
        assert browser.text("#sent-title") == "Zahlung gesendet, warten auf das Netzwerk"
        stage.set(**PAID)
        wallet.serve_until(lambda: browser.text("#status-title") == "Bezahlt", "the new sheet")
        assert browser.console() == []


class TestRefusals:
    @pytest.mark.parametrize("method", ["eth_requestAccounts", "eth_sendTransaction"])
    def test_refusal_is_not_an_error(self, browser: Browser, play: Play, method: str) -> None:
        wallet = play(**{method: NO})
        press(browser)
        says(browser, wallet, "You rejected the request in your wallet. Nothing was paid.")
        assert buttons(browser)[0] == "Pay with Fox"
        assert len(wallet.sent) == (method == "eth_sendTransaction")
        assert browser.console() == []

    @pytest.mark.parametrize(
        ("answers", "words"),
        [
            ({"eth_requestAccounts": []}, "Your wallet has no account to pay from."),
            (
                {"eth_requestAccounts": Refused(-32002, "pending")},
                "Your wallet is still waiting for an answer to an earlier request.",
            ),
            (
                {"eth_sendTransaction": Refused(-32000, "insufficient funds <b>" + "x" * 900)},
                "Your wallet reported an error: insufficient funds <b>xxx",
            ),
            (
                {"eth_chainId": "0x1", "wallet_switchEthereumChain": None},
                "Your wallet is on another network. Switch it to Local test chain (chain 31337), "
                "then try again. Nothing was paid.",
            ),
            (
                {"eth_chainId": "0x1", "wallet_switchEthereumChain": NO},
                "You rejected the request in your wallet. Nothing was paid.",
            ),
            (
                {"eth_chainId": "0x1", "wallet_switchEthereumChain": Refused(4902, "?")},
                "Your wallet does not have the network Local test chain (chain 31337). Add it "
                "there, then try again. Nothing was paid.",
            ),
        ],
        ids=["no account", "asked already", "no funds", "other chain", "no switch", "unknown"],
    )
    def test_errors_are_translated(
        self, browser: Browser, play: Play, answers: dict[str, Any], words: str
    ) -> None:
        wallet = play(**answers)
        press(browser)
        says(browser, wallet, words)
        assert len(note(browser)) < 400
        assert len(wallet.sent) == ("eth_sendTransaction" in answers)
        assert buttons(browser)[0] == "Pay with Fox"


@dataclass
class Networks:
    """A wallet with several networks, connected to one of them."""

    known: set[str] = field(default_factory=lambda: {"0x1"})
    current: str = "0x1"
    added: list[dict[str, Any]] = field(default_factory=list)

    def switch(self, params: list[Any]) -> None:
        if params[0]["chainId"] not in self.known:
            raise Refused(4902, "Unrecognized chain ID")
        self.current = params[0]["chainId"]

    def add(self, params: list[Any]) -> None:
        self.added += params
        self.known.add(params[0]["chainId"])

    @property
    def answers(self) -> dict[str, Any]:
        return {
            "eth_chainId": lambda _: self.current,
            "wallet_switchEthereumChain": self.switch,
            "wallet_addEthereumChain": self.add,
        }


class TestNetworks:
    def test_switches_the_wallet_to_the_chain(self, browser: Browser, play: Play) -> None:
        networks = Networks(known={"0x1", HERE})
        wallet = play(**networks.answers)
        press(browser)
        says(browser, wallet, "12.5 TUSD sent")
        assert (networks.current, networks.added) == (HERE, [])

    def test_shows_the_token_in_the_wallet(self, browser: Browser, play: Play) -> None:
        networks = Networks(known={"0x1", HERE})
        wallet = play(**networks.answers, wallet_watchAsset=True)
        press(browser, 1)
        says(browser, wallet, "Your wallet now shows TUSD.")
        assert networks.current == HERE
        options = {"address": CONTRACT, "symbol": "TUSD", "decimals": 6}
        asked = {"type": "ERC20", "options": options}
        assert wallet.calls[-1] == ("wallet_watchAsset", asked)
        assert wallet.sent == []


@dataclass
class RealShop:
    """The service with a real chain: an invoice, its page, and the watcher."""

    invoice: str
    checkout: str
    client: httpx.Client
    watcher: ChainWatcher

    def read(self) -> dict[str, Any]:
        its: dict[str, Any] = self.client.get(f"/v1/invoices/{self.invoice}").json()
        return its


@pytest.fixture
def real(sqlite_url: str, anvil: LocalChain) -> Iterator[RealShop]:  # noqa: F811
    port, clock = free_port(), Clock()
    endpoints = (f"{CHAIN_ID}={anvil.url}",)
    settings = Settings(
        database_urls={"payment": sqlite_url},
        public_url=f"http://127.0.0.1:{port}",
        chain_rpc_urls=endpoints,
        wallet_rpc_urls=endpoints,
        rate_limits=False,
    )
    service = compose(settings)
    pages = build_pages(
        documents=service.addresses, own=[lambda app: payment.install_for(app, service)]
    )
    database = Database(sqlite_url)
    ada = database.run(lambda session: make_merchant(session, now=clock.now()))
    reader = RpcChainReader(
        endpoints, CHAIN_ID, 10.0, lambda: watcher.least_head(), genesis=lambda: None
    )
    watcher = ChainWatcher(database, reader, clock, chain_id=CHAIN_ID)
    headers = {"Authorization": f"Bearer {ada.key}", "Idempotency-Key": "a-real-order"}
    order = {"external_order_id": "a", "attempt_no": 1, "amount": "12.5"}
    with (
        running(build_app([service], pages=pages), port=port) as base,
        httpx.Client(base_url=base, headers=headers) as client,
    ):
        made = client.post("/v1/invoices", json=order | {"payment_method_id": "tusd-local"})
        assert made.status_code == 201, made.text
        path = f"/v1/invoices/{made.json()['id']}/checkout-sessions"
        checkout = client.post(path).json()["checkout_url"]
        yield RealShop(made.json()["id"], checkout, client, watcher)
    service.database.dispose()
    database.dispose()


def test_wallet_pays_on_a_real_chain(
    browser: Browser,
    play: Play,
    real: RealShop,
    anvil: LocalChain,  # noqa: F811
) -> None:
    """From the page to the paid invoice. Initially, the wallet has only another network."""
    networks = Networks()

    def sign(params: list[Any]) -> object:
        return anvil.call("eth_sendTransaction", *params)

    wallet = play(
        page=real.checkout,
        **networks.answers,
        eth_requestAccounts=lambda _: [PAYER],
        eth_sendTransaction=sign,
        eth_getTransactionReceipt=lambda params: anvil.call("eth_getTransactionReceipt", *params),
    )
    before = anvil.balance(PAYER)
    press(browser)
    says(browser, wallet, "12.5 TUSD sent")
    assert networks.added == [
        {
            "chainId": HERE,
            "chainName": "Local test chain",
            "rpcUrls": [anvil.url],
            "nativeCurrency": {"name": "Test Ether", "symbol": "ETH", "decimals": 18},
        }
    ]
    assert before - anvil.balance(PAYER) == 12_500_000
    anvil.mine(2)

    def is_paid() -> bool:
        real.watcher.try_watch_one()
        wallet.serve()
        return browser.text("#status-title") == "Paid"

    browser.wait(is_paid, "the page to say that it is paid")
    invoice = real.read()
    assert (invoice["status"], invoice["exception"]) == ("paid", "none")
    assert [each["amount"] for each in invoice["payments"]] == ["12500000"]
    assert invoice["payments"][0]["from"] == PAYER
    assert browser.find_all("#wallet") == []
    assert len(wallet.sent) == 1
    assert browser.console() == []
