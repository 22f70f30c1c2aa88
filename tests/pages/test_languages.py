"""The checkout page in each language: origin of its texts, and selection of the language."""

from __future__ import annotations

import re
import string
from html.parser import HTMLParser
from types import MappingProxyType

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from pages import checkout
from pages.clients import STATIC
from specd._pages.languages import DEFAULT, GROUP, MESSAGES
from specd.pages import Texts
from tests.pages.browser import Browser
from tests.pages.stage import PAGE, START, STATUS, Stage, element
from tests.pages.states import STATES

OPEN, CLOSE = "⟦", "⟧"
SPOKEN = ("alt", "aria-label", "data-said", "placeholder")
"""Attributes with text for users. A title is a time in UTC."""
SCRIPTS = ("checkout.js", "wallet.js")
NOT_TEXTS = {"use strict", "(pointer: coarse)", "Test Ether"}
"""Strings with a space in scripts that are not texts. The last is a proper name in wallets."""
TRANSACTION = "0x" + "ab" * 32
TEXTS = checkout.TEXTS.languages


def values_of(text: str) -> set[str | None]:
    return {name for _, name, _, _ in string.Formatter().parse(text)} - {None}


@pytest.mark.parametrize("language", TEXTS)
def test_catalog_has_the_texts_and_values_of_english(language: str) -> None:
    english = {key: values_of(text) for key, text in TEXTS[DEFAULT].entries.items()}
    assert {key: values_of(text) for key, text in TEXTS[language].entries.items()} == english
    assert len(english) > 80
    assert all(text.strip() for text in TEXTS[language].entries.values())


def test_second_language_of_the_catalog_differs() -> None:
    english, german = TEXTS["en"].entries, TEXTS["de"].entries
    alike = {key for key in english if english[key] == german[key]}
    assert alike == {"page.shop", "page.token"}


class Reader(HTMLParser):
    """Collects the visible text, in the order of the page, and the text for screen readers."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.read += [f" {value} " for name, value in attrs if name in SPOKEN and value]

    def handle_data(self, data: str) -> None:
        self.read.append(data)


def outside(page: str) -> str:
    """Return the texts on a page that do not come from a marked catalog."""
    reader = Reader()
    reader.feed(page)
    depth, found = 0, []
    for letter in "".join(reader.read):
        depth += (letter == OPEN) - (letter == CLOSE)
        found.append(letter if depth == 0 and letter != CLOSE else " ")
    assert depth == 0
    return "".join(found)


def mark(texts: Texts) -> Texts:
    entries = {
        key: text if key == "general.decimal_point" else f"{OPEN}{text}{CLOSE}"
        for key, text in texts.entries.items()
    }
    return Texts(texts.language, MappingProxyType(entries))


@pytest.mark.parametrize("name", STATES)
def test_page_has_no_text_outside_the_catalog(
    client: FlaskClient, stage: Stage, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TEXTS, "en", mark(TEXTS["en"]))
    monkeypatch.setitem(TEXTS, "de", mark(TEXTS["de"]))
    shop = "https://shop.example/cart"
    links = {"success_url": shop, "cancel_url": shop, "transactions": (TRANSACTION,)}
    stage.set(**{"now": START, **links, **STATES[name][0]})
    page = client.get(PAGE).text
    facts = stage.find_checkout(PAGE.rpartition("/")[2])
    assert facts is not None
    known = {facts.merchant, facts.external_order_id, facts.token_symbol, facts.chain_name}
    known |= {facts.token_address, facts.deposit_address, facts.invoice_id, TRANSACTION}
    rest = outside(page)
    for value in sorted({*known, "shop.example", "TEST"}, key=len, reverse=True):
        rest = rest.replace(value, "")
    assert re.findall(r"[^\W\d]{2,}", re.sub(r"\d\d:\d\d:\d\d UTC", "", rest)) == []


def test_error_page_has_no_text_outside_the_catalog(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for texts in (TEXTS, MESSAGES.languages):
        monkeypatch.setitem(texts, "en", mark(texts["en"]))
    for path in ("/checkout/x", "/nothing"):
        assert re.findall(r"[^\W\d]{2,}", outside(client.get(path).text)) == []


def test_scripts_contain_keys_instead_of_texts() -> None:
    used = set()
    for name in SCRIPTS:
        source = re.sub(r"^\s*//.*$|\s// .*$", "", (STATIC / name).read_text(), flags=re.M)
        quoted = re.findall(r'"([^"\n]*)"', source)
        written = [re.sub(r"\$\{.*?\}", "", text) for text in re.findall(r"`([^`]*)`", source)]
        assert {text for text in quoted + written if re.search(r"\w \w", text)} <= NOT_TEXTS
        used |= set(re.findall(r"texts\.(\w+)", source)) | set(quoted)
    keys = TEXTS[DEFAULT].of_section("script")
    assert keys.keys() <= used, "texts that no script uses"


class TestChoice:
    @pytest.mark.parametrize(
        ("header", "query", "language"),
        [
            (None, "", "en"),
            ("de", "", "de"),
            ("de-AT,de;q=0.9,en;q=0.8", "", "de"),
            ("en-GB,en;q=0.9,de;q=0.8", "", "en"),
            ("fr,ja;q=0.9", "", "en"),
            ("fr,de;q=0.5", "", "de"),
            ("*", "", "en"),
            ("de;q=0", "", "en"),
            (";;,,=\x7f", "", "en"),
            ("de", "?lang=en", "en"),
            ("en", "?lang=de", "de"),
            ("de", "?lang=xx", "de"),
            ("de", "?lang=../en", "de"),
        ],
    )
    def test_language_follows_the_browser_or_the_link(
        self, client: FlaskClient, header: str | None, query: str, language: str
    ) -> None:
        headers = {} if header is None else {"Accept-Language": header}
        answer = client.get(PAGE + query, headers=headers)
        assert f'<html lang="{language}">' in answer.text
        assert element(answer, "status-title") == TEXTS[language].entries["states.unpaid.title"]
        assert answer.headers["Content-Language"] == language
        assert answer.headers["Vary"] == "Accept-Language"

    def test_status_record_is_the_same_in_each_language(
        self, client: FlaskClient, stage: Stage
    ) -> None:
        stage.set(now=START)
        records = [client.get(f"{STATUS}?lang={language}").get_json() for language in TEXTS]
        assert records == [records[0]] * len(TEXTS)

    def test_errors_are_in_the_language_of_the_reader(self, client: FlaskClient) -> None:
        def read(path: str) -> TestResponse:
            return client.get(path, headers={"Accept-Language": "de"})

        assert TEXTS["de"].entries["messages.unknown_link"] in read("/checkout/x").text
        assert '<html lang="de">' in read("/checkout/x").text
        assert MESSAGES.languages["de"].entries["messages.text_404"] in read("/nothing").text


FITS = "return document.documentElement.scrollWidth <= innerWidth"


def test_each_state_fits_a_phone_in_german(browser: Browser, stage: Stage, address: str) -> None:
    browser.show(width=390, dark=False)
    german = {text for key, text in TEXTS["de"].entries.items() if key.endswith(".title")}
    starts = {text.partition("{")[0] for text in german}
    for name, (facts, *_) in STATES.items():
        stage.set(now=START, **facts)
        browser.open(f"{address}{PAGE}?lang=de")
        assert browser.run("return document.documentElement.lang") == "de"
        title = browser.text("#status-title")
        assert any(title.startswith(start) for start in starts), (name, title)
        assert browser.run(FITS), name
    assert [line for line in browser.console() if "410 (GONE)" not in line] == []


def test_amounts_and_times_match_those_of_intl(
    browser: Browser, stage: Stage, address: str
) -> None:
    atoms = 1_234_567_890_123
    stage.set(amount=atoms, amount_remaining=atoms)
    for language in TEXTS:
        browser.open(f"{address}{PAGE}?lang={language}")
        script = (
            "return new Intl.NumberFormat(arguments[0], {maximumFractionDigits: 6})"
            ".formatToParts('1234567.890123')"
            ".map(({type, value}) => type === 'group' ? arguments[1] : value).join('')"
        )
        expected = browser.run(script, language, GROUP)
        assert browser.run("return document.getElementById('amount').textContent") == expected
        assert browser.text("#exact") == "1234567.890123"
        clock = (
            "const its = document.getElementById('until'); const here = document.documentElement;"
            "const own = here.lang === 'en' ? undefined : here.lang;"
            "return its.textContent === "
            "new Date(its.dateTime).toLocaleTimeString(own, {timeStyle: 'medium'})"
        )
        assert browser.run(clock)
