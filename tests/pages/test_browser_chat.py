"""/chat in two headless Chromiums with the real service: Hamlet and Othello chat."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import httpx
import pytest
from selenium.webdriver.common.keys import Keys
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from handlers.chat.wire.context import ChatAdapters
from handlers.chat.wiring import build_service
from models.chat.identity.passwords import hash_password
from models.chat.identity.roles import Role
from models.chat.organization.realms import access_realm_by_id, create_realm
from models.chat.people.users import create_user
from models.chat.tables import EventQueue, Realm, User
from pages import avatars, emoji, uploads
from pages.chat import add_chat
from settings import Settings
from specd._engine.service import Service
from specd._engine.serving.app import build_app
from specd.db import Clock, Database
from tests.pages.browser import Browser
from tests.pages.layout import check_layout, check_print
from tests.pages.names import names, shows
from tests.pages.person import Person
from tests.pages.stage import running
from tests.support.chat.fixtures import Template
from tests.support.chat.people import KEYS, PASSWORD, VAULT
from tests.support.contract import operations_of
from tests.support.frozen_clock import FrozenClock
from tests.support.pictures import picture
from tests.support.service_pages import build_pages
from workers.scheduled_delivery import ScheduledDelivery

CLOCK = Clock()
HOST = "127.0.0.1"
OWNER, HAMLET, OTHELLO = "ada@local.example", "hamlet@local.example", "othello@local.example"


@pytest.fixture(scope="module")
def place(chat_sqlite_template: Template, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copy(chat_sqlite_template[0], tmp_path_factory.mktemp("talk") / "chat.db"))


@pytest.fixture(scope="module")
def database(place: Path) -> Iterator[Database]:
    database = Database(f"sqlite:///{place}")
    yield database
    database.dispose()


@pytest.fixture(scope="module")
def service(place: Path) -> Service:
    settings = Settings(
        database_urls={"chat": f"sqlite:///{place}"},
        data_dir=place.parent,
        rate_limits=False,
        validate_responses=True,
    )
    adapters = replace(ChatAdapters.from_settings(settings), keys=KEYS, vault=VAULT)
    return build_service(settings, clock=CLOCK, adapters=adapters)


@pytest.fixture(scope="module")
def base(service: Service) -> Iterator[str]:
    documents = {"chat": "/api/v1/openapi"}
    shared = [partial(each.install_for, service=service) for each in (avatars, emoji, uploads)]
    pages = build_pages(documents=documents, own=[add_chat, *shared])
    service.database.notifier.follow(lambda _logs: None)  # its thread lives as long as the service
    with running(build_app([service], pages=pages)) as address:
        yield address
    service.database.dispose()


@pytest.fixture(scope="module")
def password_hash() -> str:
    return hash_password(PASSWORD)


@pytest.fixture
def keys(database: Database, password_hash: str) -> dict[str, str]:
    """The keys of three users by email, in a new organization at the address of this machine.

    The organization of the previous test has moved away.
    """

    def work(session: Session) -> dict[str, str]:
        away = f"{secrets.token_hex(8)}.example"
        session.execute(update(Realm).where(Realm.host == HOST).values(host=away))
        now = CLOCK.now()
        realm, _, key = create_realm(
            session,
            KEYS,
            name="Elsinore",
            host=HOST,
            owner_email=OWNER,
            owner_name="Ada",
            now=now,
        )
        view = access_realm_by_id(session, realm.id)
        made = {OWNER: key}
        for email in (HAMLET, OTHELLO):
            name = email.partition("@")[0].capitalize()
            _, made[email] = create_user(
                session,
                KEYS,
                realm=view,
                email=email,
                full_name=name,
                role=Role.MEMBER,
                password_hash=password_hash,
                now=now,
            )
        return made

    return database.run(work)


@pytest.fixture(scope="module")
def other_chromium(
    chromium: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    browser = Browser(profile=Path(tmp_path_factory.mktemp("other-chromium")))
    yield browser
    browser.quit()


@pytest.fixture
def hamlet(browser: Browser, base: str, keys: dict[str, str]) -> Iterator[Person]:
    yield Person(browser, base, HAMLET)
    browser.open("about:blank")


@pytest.fixture
def othello(other_chromium: Browser, base: str, keys: dict[str, str]) -> Iterator[Person]:
    other_chromium.reset()
    yield Person(other_chromium, base, OTHELLO)
    other_chromium.open("about:blank")


@pytest.fixture(autouse=True)
def stage(base: str, keys: dict[str, str]) -> None:
    """A channel of both users, who have read its first notice."""
    made = httpx.post(
        f"{base}/api/v1/users/me/subscriptions",
        auth=(OWNER, keys[OWNER]),
        data={
            "subscriptions": '[{"name": "stage"}]',
            "principals": f'["{HAMLET}", "{OTHELLO}"]',
            "send_new_subscription_messages": "false",
        },
    )
    assert made.status_code == 200, made.text
    everything = {"anchor": "newest", "num_before": 10, "num_after": 0, "narrow": "[]"}
    for email in (HAMLET, OTHELLO):
        read = httpx.post(
            f"{base}/api/v1/messages/flags/narrow",
            auth=(email, keys[email]),
            data={**everything, "op": "add", "flag": "read"},
        )
        assert read.status_code == 200, read.text


def find_queues(database: Database) -> list[str]:
    """Return the ids of the queues of the users at the address of this machine."""
    here = select(User.id).join(Realm, Realm.id == User.realm_id).where(Realm.host == HOST)
    with database.reading() as db:
        return list(db.execute(select(EventQueue.id).where(EventQueue.user_id.in_(here))).scalars())


def test_two_users_chat(
    hamlet: Person, othello: Person, database: Database, service: Service, keys: dict[str, str]
) -> None:
    hamlet.enter()
    othello.enter()
    for one, name in ((hamlet, "Othello"), (othello, "Hamlet")):
        one.see("#people a:has([data-status=active])", name)
    hamlet.go_to("#stage")
    hamlet.browser.find("#topic").send_keys("watch")
    hamlet.write("Who is **there**?")
    hamlet.see("#place", "#stage > watch")
    hamlet.see(".message .content", "Who is there?")

    # The message appears immediately, unread, and becomes read when it is displayed.
    othello.has_counts(**{"#stage": "1", "watch": "1"})
    assert othello.browser.driver.title == "(1) Elsinore"
    assert "Hamlet, #stage > watch: Who is there?" in othello.browser.text("#announce")
    othello.go_to("watch")
    othello.see(".message .content strong", "there")
    othello.has_counts()
    othello.browser.find("#content").send_keys("Nay, ")
    hamlet.see("#typing", "Othello is typing…")
    othello.write("answer me.")
    hamlet.see(".message .content", "Nay, answer me.")
    assert hamlet.browser.text("#typing") == ""
    hamlet.has_counts()

    # In another conversation it is counted.
    hamlet.go_to("Othello")
    othello.write("Stand, and unfold yourself.")
    hamlet.has_counts(**{"#stage": "1", "watch": "1"})
    hamlet.write("A word.")
    othello.has_counts(Hamlet="1")
    hamlet.go_to("watch")
    hamlet.see(".mark", "New")
    hamlet.has_counts()

    # Both see reactions added and removed.
    hamlet.choose("Who is there?", "[title='+1']")
    othello.see(".reactions button", "1")
    othello.browser.find(".reactions button").click()
    hamlet.see(".reactions button", "2")
    pressed = hamlet.browser.find(".reactions button").get_attribute("aria-pressed")
    assert pressed == "true"
    hamlet.choose("Nay, answer me.", ".react")
    hamlet.see("#emoji button", "Cancel")
    hamlet.browser.find("#emoji-name").send_keys("octopus", Keys.ENTER)
    othello.see(".reactions button[title='Hamlet (octopus)']", "1")
    hamlet.browser.find(".reactions button[title='Hamlet (octopus)']").click()
    othello.gone(".reactions button[title='Hamlet (octopus)']")

    # A message is quoted and starred, its link copied, its topic resolved and unresolved.
    hamlet.choose_late("Nay, answer me.", ".quote")
    hamlet.browser.wait(
        lambda: "[said](" in str(hamlet.browser.find("#content").get_property("value")), "a quote"
    )
    written = str(hamlet.browser.find("#content").get_property("value"))
    assert "```quote\nNay, answer me.\n```" in written
    hamlet.browser.run("document.querySelector('#content').value = ''")
    hamlet.choose_late("Nay, answer me.", ".star")
    hamlet.browser.wait(lambda: hamlet.browser.text("#announce") == "Starred", "a star")
    hamlet.choose_late("Nay, answer me.", ".star")
    hamlet.browser.wait(lambda: hamlet.browser.text("#announce") == "No longer starred", "none")
    hamlet.choose_late("Nay, answer me.", ".copy-link")
    hamlet.browser.wait(
        lambda: (
            hamlet.browser.text("#announce") == "Link copied"
            or hamlet.browser.find("#trouble").is_displayed()
        ),
        "the link, or that the browser lets no script write to the clipboard",
    )

    # Both see votes added and removed.
    hamlet.browser.run(r"document.querySelector('#content').value = '/poll To be?\nYes\nNo'")
    hamlet.browser.find("#content").send_keys(Keys.ENTER)
    othello.see(".poll strong", "To be?")
    for voter, count in ((othello, "1"), (hamlet, "2"), (othello, "1")):
        voter.browser.find(".poll [data-key='canned,1']").click()
        for person in (hamlet, othello):
            person.see(".poll [data-key='canned,1'] .votes", count)
    assert hamlet.browser.text(".poll [data-key='canned,0'] .votes") == "0"

    # Edits and deletions are displayed.
    hamlet.choose("Who is there?", ".edit")
    hamlet.see(".editor button", "Save")
    field = hamlet.browser.find(".editor textarea")
    assert field.get_property("value") == "Who is **there**?"
    field.send_keys(" Speak!", Keys.CONTROL + Keys.ENTER)
    othello.see(".message .content", "Who is there? Speak!")
    othello.see(".message .edited", "edited")
    hamlet.gone(".editor")
    hamlet.choose("Who is there?", ".delete")
    hamlet.see("#question", "Delete this message?")
    hamlet.browser.find("#question-yes").click()
    left = 3  # including the poll
    othello.browser.wait(lambda: len(othello.browser.find_all(".message")) == left, "the deletion")

    # A scheduled message appears at its time.
    othello.browser.find("#content").send_keys("'Tis now struck twelve.")
    othello.browser.find("#schedule").click()
    othello.see("#scheduling button", "Cancel")
    othello.browser.find("#scheduling [data-dismiss]").click()
    othello.gone("#scheduling")
    othello.browser.find("#schedule").click()
    othello.browser.find("#when").send_keys(Keys.ENTER)
    othello.see("#show-scheduled", "Scheduled (1)")
    late = FrozenClock(CLOCK.now() + timedelta(hours=1))
    delivery = ScheduledDelivery(database, late, late_window=timedelta(minutes=10))
    assert delivery.try_deliver_one()
    hamlet.see(".message .content", "'Tis now struck twelve.")
    othello.browser.wait(
        lambda: othello.browser.text("#show-scheduled") == "Scheduled", "an empty list"
    )

    othello.browser.find("#show-formats").click()
    othello.see("#formats td code", "*italics*")
    othello.browser.find("#formats button").click()
    othello.gone("#formats")

    # There were no errors, requests to other hosts, or stored data.
    operations = [f"/api/v1{path}" for _, path in operations_of(service.document).values()]
    for person in (hamlet, othello):
        person.leaves_no_trace(page="/chat", operations=operations, secret=keys[person.email])

    assert len(find_queues(database)) == 2
    hamlet.browser.find("#sign-out").click()
    hamlet.see("#sign-in-title", "Sign in to Elsinore")
    hamlet.browser.wait(lambda: len(find_queues(database)) == 1, "the queue's end")
    assert "struck twelve" not in hamlet.browser.driver.page_source
    assert hamlet.browser.driver.current_url == f"{hamlet.base}/chat"
    othello.browser.open("about:blank")
    hamlet.browser.wait(lambda: not find_queues(database), "the closed page's queue to end")
    assert hamlet.browser.console() == []


def test_counts_follow_changes_in_other_clients(
    hamlet: Person, base: str, keys: dict[str, str]
) -> None:
    def call(email: str, method: str, path: str, **data: object) -> int:
        url, form = f"{base}/api/v1{path}", {name: str(value) for name, value in data.items()}
        answer = httpx.request(method, url, auth=(email, keys[email]), data=form)
        assert answer.status_code == 200, answer.text
        return int(answer.json().get("id", 0))

    hamlet.enter()
    place = {"type": "channel", "to": "stage", "topic": "ghost"}
    one = call(OTHELLO, "POST", "/messages", **place, content="Swear.")
    two = call(OTHELLO, "POST", "/messages", **place, content="Remember me.")
    hamlet.has_counts(**{"#stage": "2", "ghost": "2"})
    call(OWNER, "PATCH", f"/messages/{two}", topic="cellar", propagate_mode="change_one",
         send_notification_to_new_thread="false")  # fmt: skip
    hamlet.has_counts(**{"#stage": "2", "ghost": "1", "cellar": "1"})
    call(OWNER, "DELETE", f"/messages/{two}")
    hamlet.has_counts(**{"#stage": "1", "ghost": "1"})
    call(HAMLET, "POST", "/messages/flags", messages=[one], op="add", flag="read")
    hamlet.has_counts()
    call(HAMLET, "POST", "/messages/flags", messages=[one], op="remove", flag="read")
    hamlet.has_counts(**{"#stage": "1", "ghost": "1"})
    call(HAMLET, "POST", "/mark_all_as_read")
    hamlet.has_counts()


def test_wrong_password_is_reported(hamlet: Person) -> None:
    hamlet.open()
    hamlet.sign_in("wrong")
    hamlet.see("#sign-in-refusal", "Your username or password is incorrect")
    assert not hamlet.browser.find("#chat").is_displayed()


def test_api_key_is_accepted_instead(hamlet: Person, keys: dict[str, str]) -> None:
    hamlet.open()
    hamlet.sign_in(keys[HAMLET])
    hamlet.see("#sign-in-refusal", "Is this an API key? Tick the box above.")
    hamlet.browser.find("#use-key").click()
    hamlet.sign_in(keys[HAMLET])
    hamlet.see("#me", "Hamlet")


class TestStayingSignedIn:
    def stay(self, person: Person) -> None:
        person.open()
        person.browser.find("#stay").click()
        person.sign_in()
        person.see("#realm", "Elsinore")

    def reload(self, person: Person) -> None:
        person.browser.driver.refresh()

    def test_after_a_reload(self, hamlet: Person, service: Service, keys: dict[str, str]) -> None:
        self.stay(hamlet)
        hamlet.go_to("#stage")
        at = hamlet.browser.driver.current_url
        self.reload(hamlet)
        hamlet.see("#place", "#stage")
        assert hamlet.browser.driver.current_url == at
        assert not hamlet.browser.find("#sign-in").is_displayed()
        operations = [f"/api/v1{path}" for _, path in operations_of(service.document).values()]
        hamlet.leaves_no_trace(page="/chat", operations=operations, secret=keys[HAMLET])

    def test_until_the_session_ends(self, hamlet: Person) -> None:
        self.stay(hamlet)
        hamlet.browser.find("#show-sessions").click()
        hamlet.see("#session-list li", "This browser")
        hamlet.browser.find("#session-list button").click()
        hamlet.see("#no-sessions", "No browser sessions.")
        hamlet.browser.find("#sessions-close").click()
        hamlet.go_to("#stage")  # the page works until the reload
        self.reload(hamlet)
        hamlet.see("#sign-in-title", "Sign in to Elsinore")
        assert hamlet.browser.text("#sign-in-refusal") == ""
        assert hamlet.browser.console() == []

    def test_until_sign_out(self, hamlet: Person, base: str, keys: dict[str, str]) -> None:
        self.stay(hamlet)
        hamlet.browser.find("#sign-out").click()
        hamlet.see("#sign-in-title", "Sign in to Elsinore")

        def sessions() -> list[object]:
            address = f"{base}/api/v1/users/me/sessions"
            return list(httpx.get(address, auth=(HAMLET, keys[HAMLET])).json()["sessions"])

        hamlet.browser.wait(lambda: not sessions(), "the session to end")
        self.reload(hamlet)
        hamlet.see("#sign-in-title", "Sign in to Elsinore")
        assert hamlet.browser.console() == []

    def test_sign_out_without_a_connection_is_reported_and_repeated(self, hamlet: Person) -> None:
        self.stay(hamlet)
        hamlet.browser.connect(is_connected=False)
        hamlet.browser.find("#sign-out").click()
        hamlet.see("#sign-in-refusal", "the server could not be reached")
        hamlet.browser.connect(is_connected=True)
        hamlet.gone("#sign-in-refusal")
        self.reload(hamlet)
        hamlet.see("#sign-in-title", "Sign in to Elsinore")

    def test_only_if_selected(self, hamlet: Person) -> None:
        hamlet.enter()
        self.reload(hamlet)
        hamlet.see("#sign-in-title", "Sign in to Elsinore")


def test_lost_queue_is_replaced_without_missing_events(
    hamlet: Person, database: Database, base: str, keys: dict[str, str]
) -> None:
    hamlet.enter()
    hamlet.go_to("#stage")
    [queue_id] = find_queues(database)
    ended = httpx.request(
        "DELETE", f"{base}/api/v1/events", auth=(HAMLET, keys[HAMLET]), data={"queue_id": queue_id}
    )
    assert ended.status_code == 200
    form = {"type": "channel", "to": "stage", "topic": "ghost", "content": "Swear."}
    sent = httpx.post(f"{base}/api/v1/messages", auth=(OTHELLO, keys[OTHELLO]), data=form)
    assert sent.status_code == 200
    hamlet.see(".message .content", "Swear.")
    hamlet.see("#sidebar .name", "ghost")


def test_renewed_key_signs_out(hamlet: Person, base: str, keys: dict[str, str]) -> None:
    hamlet.enter()
    auth = (HAMLET, keys[HAMLET])
    assert httpx.post(f"{base}/api/v1/users/me/api_key/regenerate", auth=auth).status_code == 200
    form = {"type": "channel", "to": "stage", "topic": "ghost", "content": "Swear."}
    httpx.post(f"{base}/api/v1/messages", auth=(OTHELLO, keys[OTHELLO]), data=form)
    hamlet.see("#sign-in-refusal", "Invalid API key")
    assert not hamlet.browser.find("#chat").is_displayed()


def test_drafts_are_kept(
    hamlet: Person, database: Database, base: str, keys: dict[str, str]
) -> None:
    """They survive a change of conversation, a reload and a revoked key, but not sign-out or
    another account.
    """

    def drafts() -> list[str]:
        shown = "return [document.querySelector('#content').value, sessionStorage.length]"
        return list(map(str, hamlet.browser.run(shown)))

    def sign_in_again(email: str) -> None:
        hamlet.see("#sign-in-title", "Sign in to Elsinore")
        hamlet.email = email
        hamlet.sign_in()
        hamlet.see("#place", "#stage")

    hamlet.enter()
    hamlet.go_to("#stage")
    hamlet.browser.find("#content").send_keys("To be")
    hamlet.go_to("Othello")
    assert drafts() == ["", "1"]
    hamlet.go_to("#stage")
    assert drafts() == ["To be", "1"]
    stored = str(hamlet.browser.run("return JSON.stringify(sessionStorage)"))
    assert "To be" in stored
    assert keys[HAMLET] not in stored
    hamlet.browser.driver.refresh()
    hamlet.see("#sign-in-title", "Sign in to Elsinore")
    assert hamlet.browser.find("#email").get_property("value") == HAMLET
    sign_in_again(HAMLET)
    assert drafts() == ["To be", "1"]
    auth = (HAMLET, keys[HAMLET])
    assert httpx.post(f"{base}/api/v1/users/me/api_key/regenerate", auth=auth).status_code == 200
    Account(base, OTHELLO, keys[OTHELLO]).say("ghost", "Swear.")
    hamlet.see("#sign-in-refusal", "Invalid API key")
    sign_in_again(HAMLET)
    assert drafts() == ["To be", "1"]
    hamlet.browser.driver.refresh()
    sign_in_again(OTHELLO)
    assert drafts() == ["", "0"]
    hamlet.browser.find("#content").send_keys("Mine")
    hamlet.browser.find("#sign-out").click()
    assert drafts() == ["", "0"]


def test_channel_with_topics_requires_a_topic(
    hamlet: Person, base: str, keys: dict[str, str]
) -> None:
    Account(base, OTHELLO, keys[OTHELLO]).say("castle", "Who is there?")
    hamlet.enter()
    hamlet.go_to("#stage")
    hamlet.see(".message .content", "Who is there?")
    topics = "return document.querySelectorAll('#topics option').length"
    hamlet.browser.wait(lambda: hamlet.browser.run(topics), "the topics")
    hamlet.write("A friend.")
    hamlet.see("#compose-refusal", "Choose a topic, or send again to write to “general chat”.")
    assert hamlet.browser.run("return document.activeElement.id") == "topic"
    offered = "return [...document.querySelectorAll('#topics option')].map((e) => e.value)"
    assert "castle" in hamlet.browser.run(offered)
    hamlet.browser.find("#topic").send_keys("castle", Keys.ENTER)
    hamlet.see("#place", "#stage > castle")
    hamlet.go_to("#stage")
    hamlet.write("To nobody")
    hamlet.see("#compose-refusal", "Choose a topic")
    hamlet.browser.find("#topic").send_keys(Keys.ENTER)
    hamlet.see("#place", "#stage > general chat")


def test_keyboard_alone_reaches_everything(hamlet: Person, base: str, keys: dict[str, str]) -> None:
    Account(base, OTHELLO, keys[OTHELLO]).say("castle", "One", "Two", "Three")
    hamlet.enter()

    def press(*pressed: str) -> None:
        hamlet.browser.driver.switch_to.active_element.send_keys(*pressed)

    def focused() -> str:
        return str(hamlet.browser.run("return document.activeElement.innerText"))

    hamlet.browser.run("document.activeElement.blur()")
    press("n")
    hamlet.see("#place", "#stage > castle")
    hamlet.see(".message .content", "Three")
    hamlet.browser.run("document.activeElement.blur()")
    press("j")
    assert "One" in focused()
    press("j")
    assert "Two" in focused()
    press("k", "k")
    assert "One" in focused()
    press("c")
    press("Mine, with j and k", Keys.ENTER)
    hamlet.see(".message .content", "Mine, with j and k")
    press(Keys.ARROW_UP)
    hamlet.see(".editor textarea", "")
    assert hamlet.browser.run("return document.activeElement.value") == "Mine, with j and k"
    press(" and c")
    hamlet.go_to("#stage")
    hamlet.go_to("castle")
    press(Keys.ARROW_UP)
    edited = "return document.activeElement.closest('.editor') && document.activeElement.value"
    kept = "Mine, with j and k and c"
    hamlet.browser.wait(lambda: hamlet.browser.run(edited) == kept, "the edit")
    hamlet.browser.run("document.activeElement.blur()")
    press("q")
    press("cast", Keys.ARROW_DOWN)
    assert "#stage" in focused()
    press(Keys.ARROW_UP)
    press(Keys.BACKSPACE, Keys.ENTER)
    hamlet.browser.wait(lambda: hamlet.browser.text("#place") == "#stage", "the channel")
    assert hamlet.browser.console() == []


def test_long_list_is_collapsed(hamlet: Person, base: str, keys: dict[str, str]) -> None:
    """Direct messages come first. Of the 40 channels, those with unread messages are shown."""
    for first in (0, 20):
        rooms = [{"name": f"room {number}"} for number in range(first, first + 20)]
        made = httpx.post(
            f"{base}/api/v1/users/me/subscriptions",
            auth=(OWNER, keys[OWNER]),
            data={
                "subscriptions": json.dumps(rooms),
                "principals": json.dumps([HAMLET]),
                "send_new_subscription_messages": "false",
            },
        )
        assert made.status_code == 200, made.text
    reader = Account(base, HAMLET, keys[HAMLET])
    reader.mark("add", *reader.unread())
    form = {"type": "channel", "to": "room 7", "topic": "news", "content": "News."}
    owner = (OWNER, keys[OWNER])
    assert httpx.post(f"{base}/api/v1/messages", auth=owner, data=form).status_code == 200
    hamlet.enter()
    hamlet.has_counts(**{"#room 7": "1"})
    names = "return [...document.querySelectorAll('#channels a .name')].map((e) => e.innerText)"
    assert hamlet.browser.run(names) == ["#room 7"]
    top = "return document.querySelector(arguments[0]).getBoundingClientRect().top"
    assert hamlet.browser.run(top, "#people") < hamlet.browser.run(top, "#channels") < 600
    hamlet.browser.find("#more-channels").click()
    assert len(hamlet.browser.run(names)) == 41
    hamlet.browser.find("#more-channels").click()
    hamlet.browser.find("#filter").send_keys("room 33", Keys.ENTER)
    hamlet.see("#place", "#room 33")


def test_channel_is_created_and_joined(hamlet: Person, othello: Person) -> None:
    for person in (hamlet, othello):
        person.enter()
        person.browser.find("#join").click()
        person.browser.find("#channel-name").send_keys("battlements", Keys.ENTER)
        person.see("#place", "#battlements")
    othello.browser.find("#topic").send_keys("customs")
    othello.write("Is it a custom?")
    hamlet.see(".message .content", "Is it a custom?")


SHOWN = """
const view = document.querySelector("#timeline").getBoundingClientRect();
return [...document.querySelectorAll("#messages .message")].filter((item) => {
  const { bottom } = item.getBoundingClientRect();
  return bottom > view.top && bottom <= view.bottom + 1;
}).map((item) => Number(item.id.slice("message-".length)));
"""
RECORD = f"""
window.everShown = new Set();
const look = () => {{
  for (const id of (() => {{ {SHOWN} }})()) window.everShown.add(id);
  requestAnimationFrame(look);
}};
look();
"""


class Account:
    """The state of an account on the server, as any of its devices would read it."""

    def __init__(self, base: str, email: str, key: str) -> None:
        self._client = httpx.Client(base_url=f"{base}/api/v1", auth=(email, key))

    def say(self, topic: str, *contents: str) -> list[int]:
        """Send messages to a topic of #stage. Return their ids."""
        ids = []
        for content in contents:
            form = {"type": "channel", "to": "stage", "topic": topic, "content": content}
            ids.append(self._client.post("/messages", data=form).json()["id"])
        return ids

    def channel_id(self, name: str) -> int:
        answer = self._client.get("/get_stream_id", params={"stream": name})
        return int(answer.json()["stream_id"])

    def move(self, message_id: int, topic: str) -> None:
        form = {"topic": topic, "propagate_mode": "change_one"}
        assert self._client.patch(f"/messages/{message_id}", data=form).status_code == 200

    def unread(self) -> list[int]:
        asked = {"anchor": "oldest", "num_before": 0, "num_after": 5000}
        narrow = '[{"operator": "is", "operand": "unread"}]'
        answer = self._client.get("/messages", params={**asked, "narrow": narrow})
        return [message["id"] for message in answer.json()["messages"]]

    def mark(self, op: str, *ids: int) -> None:
        form = {"messages": json.dumps(ids), "op": op, "flag": "read"}
        assert self._client.post("/messages/flags", data=form).status_code == 200


def test_displayed_messages_become_read_on_all_devices(
    hamlet: Person,
    other_chromium: Browser,
    base: str,
    keys: dict[str, str],
) -> None:
    """Opening, scrolling, a lost network and a reload, with a second browser."""
    at_server, speaker = (Account(base, email, keys[email]) for email in (HAMLET, OTHELLO))
    said = speaker.say("play", *(f"Line {number}." for number in range(160)))
    others = Account(base, OWNER, keys[OWNER])
    untouched = others.unread()
    other_chromium.reset()
    second = Person(other_chromium, base, HAMLET)
    second.enter()
    hamlet.enter()
    hamlet.has_counts(**{"#stage": "160", "play": "160"})
    recorded = set()

    def agree(what: str) -> None:
        """Displayed messages must be read, the others must not, and all three must agree."""

        def is_settled() -> bool:
            shown, ever = hamlet.browser.run(f"return [(() => {{ {SHOWN} }})(), [...everShown]]")
            recorded.update(ever)
            unread = set(at_server.unread())
            assert unread >= set(said) - recorded, what
            count = {"#stage": str(len(unread)), "play": str(len(unread))}
            return not unread & set(shown) and hamlet.counts() == second.counts() == count

        hamlet.browser.wait(is_settled, what)

    hamlet.browser.run(RECORD)
    hamlet.go_to("play")
    hamlet.see(".mark.new", "New")
    hamlet.see(".message .content", "Line 0.")
    agree("the messages in view after opening")
    assert len(at_server.unread()) > 120
    hamlet.browser.run("document.querySelector('#timeline').scrollTop += 300")
    agree("the messages in view after scrolling")
    assert len(at_server.unread()) > 100
    hamlet.browser.connect(is_connected=False)
    hamlet.see("#offline", "The connection is lost.")
    before = at_server.unread()
    hamlet.browser.run("document.querySelector('#timeline').scrollTop += 300")
    seen = "return [...document.querySelectorAll('#messages .message')].length"
    assert hamlet.browser.run(seen) > 50
    hamlet.browser.connect(is_connected=True)
    agree("the messages seen without a network")
    assert len(at_server.unread()) < len(before)
    hamlet.browser.find("#below").click()
    hamlet.see(".message .content", "Line 159.")
    agree("the newest messages")
    assert set(at_server.unread()) & set(said[90:120])
    first = str(said.index(at_server.unread()[0]))
    hamlet.browser.driver.refresh()
    hamlet.see("#sign-in-title", "Sign in to Elsinore")
    hamlet.browser.run(RECORD)
    hamlet.sign_in()
    hamlet.see(".message .content", f"Line {first}.")
    agree("the messages in view after a reload")
    hamlet.browser.find("#read-all").click()
    hamlet.has_counts()
    second.has_counts()
    assert at_server.unread() == []
    assert others.unread() == untouched
    other_chromium.open("about:blank")


def test_messages_out_of_view_stay_unread(hamlet: Person, base: str, keys: dict[str, str]) -> None:
    """Behind a dialog or without focus. A visible message that was marked as unread also stays
    unread.
    """
    at_server, speaker = (Account(base, email, keys[email]) for email in (HAMLET, OTHELLO))
    hamlet.enter()
    [first] = speaker.say("play", "Speak.")
    hamlet.has_counts(**{"#stage": "1", "play": "1"})
    hamlet.browser.find("#show-scheduled").click()
    channel = at_server.channel_id("stage")
    hamlet.browser.run("location.hash = `#narrow/channel/${arguments[0]}`", channel)
    hamlet.see(".message .content", "Speak.")
    [second] = speaker.say("play", *["Speak again."])
    hamlet.has_counts(**{"#stage": "2", "play": "2"})
    assert at_server.unread() == [first, second]
    hamlet.browser.find("#scheduled-close").click()
    hamlet.has_counts()
    at_server.mark("remove", second)
    hamlet.has_counts(**{"#stage": "1", "play": "1"})
    speaker.say("play", "Answer me.")
    hamlet.see(".message .content", "Answer me.")
    hamlet.browser.wait(lambda: at_server.unread() == [second], "what was seen since")


def test_messages_are_loaded_in_both_directions(
    hamlet: Person, base: str, keys: dict[str, str]
) -> None:
    """A link can open the middle of a list, and the loaded part of a long list stays short."""
    speaker = Account(base, OTHELLO, keys[OTHELLO])
    said = speaker.say("play", *(f"Line {number}." for number in range(170)))
    Account(base, HAMLET, keys[HAMLET]).mark("add", *said)
    hamlet.enter()
    hamlet.go_to("#stage")
    hamlet.go_to("play")
    hamlet.see(".message .content", "Line 169.")
    place = hamlet.browser.run("return location.hash")
    hamlet.browser.run("location.hash = arguments[0]", f"{place}/near/{said[80]}")
    hamlet.see(".message.near .content", "Line 80.")
    assert said[80] in hamlet.browser.run(SHOWN)
    items = "return [...document.querySelectorAll('.message .content')].map((e) => e.innerText)"
    loaded = hamlet.browser.run(items)
    assert "Line 20." not in loaded
    assert "Line 150." not in loaded
    for end, text in (("older", "Line 0."), ("newer", "Line 169.")):
        while hamlet.browser.run(f"return !document.getElementById('{end}').hidden"):
            hamlet.browser.run(f"document.getElementById('{end}').click()")
        hamlet.see(".message .content", text)
    assert hamlet.browser.run(items) == [f"Line {number}." for number in range(170)]
    assert said[80] in hamlet.browser.run(SHOWN)
    assert hamlet.browser.console() == []


def test_page_opens_every_link_that_it_creates(
    hamlet: Person, base: str, keys: dict[str, str]
) -> None:
    """Links in the list, headings, search results, quotes and copies, links from the server, and
    Zulip's.
    """
    speaker = Account(base, OTHELLO, keys[OTHELLO])
    [early] = speaker.say("play", "An early walrus")
    [moved] = speaker.say("play", "This one moves")
    speaker.say("play", *(f"Line {number}." for number in range(70)))
    channel = speaker.channel_id("stage")
    there = f"narrow/channel/{channel}-stage/topic/play"
    speaker.say(
        "links",
        f"#**stage** #**stage>play** #**stage>play@{early}**",
        f"[a](/#{there}/near/{early}) [b](#{there}/with/{early}) [c]({base}/#narrow/id/{early})",
        f"[d]({base}/chat#narrow/stream/{channel}/subject/play/near/{moved})",
        f"{base}/#narrow/is/starred",
    )
    speaker.move(moved, "elsewhere")
    hamlet.enter()
    hamlet.go_to("links")
    hamlet.see(".message .content a", "d")
    hamlet.choose_late("#stage", ".quote")
    field = hamlet.browser.find("#content")
    hamlet.browser.wait(lambda: "[said](" in str(field.get_property("value")), "the quote")
    copied = hamlet.browser.run("return /\\[said\\]\\(([^)]*)/.exec(content.value)[1]")
    field.clear()
    links = set(hamlet.browser.run(LINKS)) | {copied}
    hamlet.browser.find("#search").send_keys("walrus", Keys.ENTER)
    hamlet.see(".mark.topic a", "#stage > play")
    links |= set(hamlet.browser.run(LINKS))
    assert len(links) > 12
    for link in sorted(links):
        assert link.startswith(f"{base}/chat#narrow/"), link
        hamlet.browser.run("location.hash = ''")
        hamlet.gone("#conversation")
        hamlet.browser.run("location.hash = new URL(arguments[0]).hash", link)
        hamlet.see("#place", "")
        message = link.partition("/near/")[2]
        if message:
            hamlet.see(f"#message-{message}.near", "")
            assert int(message) in hamlet.browser.run(SHOWN), link
    assert hamlet.browser.console() == []


LINKS = """
return [...document.querySelectorAll("#sidebar a, #messages a")].map((link) => link.href);
"""


def test_rejected_message_is_reported_and_kept(
    hamlet: Person, base: str, keys: dict[str, str]
) -> None:
    hamlet.enter()
    hamlet.go_to("#stage")
    left = httpx.patch(
        f"{base}/api/v1/realm",
        auth=(OWNER, keys[OWNER]),
        data={"topics_policy": "disable_empty_topic"},
    )
    assert left.status_code == 200, left.text
    topics = "return document.querySelectorAll('#topics option').length"
    hamlet.browser.wait(lambda: hamlet.browser.run(topics), "the topics")
    hamlet.write("To nobody")
    hamlet.see("#compose-refusal", "Choose a topic")
    hamlet.browser.find("#topic").send_keys(Keys.ENTER)
    hamlet.see("#compose-refusal", "Sending messages to general chat is not allowed")
    assert hamlet.browser.find("#content").get_property("value") == "To nobody"


def test_lost_connection_is_reported_without_losing_data(
    hamlet: Person, base: str, keys: dict[str, str]
) -> None:
    hamlet.enter()
    hamlet.go_to("#stage")
    hamlet.browser.find("#topic").send_keys("storm")
    hamlet.browser.connect(is_connected=False)
    hamlet.write("Blow, winds!")
    hamlet.see("#compose-refusal", "The server cannot be reached.")
    form = {"type": "channel", "to": "stage", "topic": "storm", "content": "Rage!"}
    sent = httpx.post(f"{base}/api/v1/messages", auth=(OTHELLO, keys[OTHELLO]), data=form)
    assert sent.status_code == 200
    hamlet.see("#offline", "The connection is lost.")
    hamlet.browser.connect(is_connected=True)
    hamlet.see(".message .content", "Rage!")
    hamlet.gone("#offline")
    hamlet.browser.find("#send").click()
    hamlet.see(".message .content", "Blow, winds!")
    shown = [item.text for item in hamlet.browser.find_all(".message .content")]
    assert shown[-2:] == ["Rage!", "Blow, winds!"]


def test_nothing_is_cut_off(hamlet: Person) -> None:
    hamlet.browser.show(width=390, height=844, dark=True)
    hamlet.enter()
    hamlet.go_to("#stage")
    hamlet.browser.find("#topic").send_keys("watch")
    hamlet.write("wide " + "x" * 500)
    hamlet.see(".message .content", "wide")
    bottom = "document.getElementById('compose').getBoundingClientRect().bottom"
    root = "document.documentElement"
    measured = f"return [{root}.scrollWidth, {bottom}, {root}.scrollHeight <= 844]"
    for width, dark in ((390, True), (390, False), (1280, False), (1280, True)):
        hamlet.browser.show(width=width, height=844, dark=dark)
        assert hamlet.browser.run(measured) == [width, 844, True], (width, dark)
    assert hamlet.browser.console() == []


def test_names_are_shown_unchanged(
    hamlet: Person, othello: Person, base: str, keys: dict[str, str]
) -> None:
    """Generated names of channels, topics and users that the server accepts, at both widths."""
    channels = names(40, seed=23, longest=60)
    owner = httpx.Client(base_url=f"{base}/api/v1", auth=(OWNER, keys[OWNER]))
    taken = []
    for name in channels:
        subscriptions = json.dumps([{"name": name}])
        answer = owner.post(
            "/users/me/subscriptions",
            data={
                "subscriptions": subscriptions,
                "principals": json.dumps([HAMLET]),
                "send_new_subscription_messages": "false",
            },
        )
        taken += [name] if answer.status_code == 200 else []
        assert answer.status_code in (200, 400), answer.text
    assert len(taken) > len(channels) / 2
    topics = []
    for name in names(40, seed=24, longest=60):
        content = {"type": "channel", "to": "stage", "topic": name, "content": name}
        answer = owner.post("/messages", data=content)
        topics += [name] if answer.status_code == 200 else []
        assert answer.status_code in (200, 400), answer.text
    assert len(topics) > 20
    hamlet.enter()
    renames = 0
    for name in names(12, seed=25, longest=100):
        renamed = httpx.patch(
            f"{base}/api/v1/settings", auth=(OTHELLO, keys[OTHELLO]), data={"full_name": name}
        )
        if renamed.status_code == 200:
            renames += shows(hamlet.browser, "#people .name", [name], base=base)
    assert renames
    for width in (1180, 390):
        hamlet.browser.show(width=width, dark=False)
        hamlet.browser.run("location.hash = ''")  # narrow screens show only the list
        shown = [f"#{name}" for name in taken]
        assert shows(hamlet.browser, "#channels .name", shown, base=base) >= len(taken)
        hamlet.go_to("#stage")
        shown = shows(hamlet.browser, "#messages .mark.topic a", topics, base=base)
        assert shown == len(topics)


def test_topic_is_resolved_and_unresolved(
    hamlet: Person, database: Database, service: Service, keys: dict[str, str]
) -> None:
    hamlet.enter()
    hamlet.go_to("#stage")
    hamlet.browser.find("#topic").send_keys("rehearsal")
    hamlet.write("At noon.")
    hamlet.see("#place", "#stage > rehearsal")
    hamlet.see(".message .content", "At noon.")
    for place in ("✔ rehearsal", "rehearsal"):
        hamlet.choose_late("At noon.", ".resolve")
        hamlet.go_to(place)
        hamlet.see(".message .content", "At noon.")


def test_names_are_completed(
    hamlet: Person, database: Database, service: Service, keys: dict[str, str]
) -> None:
    """With the keyboard alone, for users, channels and emoji. Escape keeps the text."""
    hamlet.enter()
    hamlet.go_to("#stage")
    field = hamlet.browser.find("#content")
    for written, shown, taken in (
        ("Hear @oth", "Othello", "Hear @**Othello|"),
        ("to #sta", "#stage", "to #**stage** "),
        ("so :octo", "octopus", "so :octopus: "),
    ):
        hamlet.browser.run("document.querySelector('#content').value = ''")
        field.send_keys(written)
        hamlet.see("#completions [aria-selected=true]", shown)
        field.send_keys(Keys.ARROW_DOWN, Keys.ARROW_UP, Keys.ENTER)
        hamlet.gone("#completions li")
        assert str(field.get_property("value")).startswith(taken)
    hamlet.browser.run("document.querySelector('#content').value = ''")
    field.send_keys(":octo")
    hamlet.see("#completions [aria-selected=true]", "octopus")
    field.send_keys(Keys.ESCAPE)
    hamlet.gone("#completions li")
    assert field.get_property("value") == ":octo"
    sent = [each.text for each in hamlet.browser.find_all(".message .content")]
    assert not any("Hear" in text or "octo" in text for text in sent)


def test_messages_can_be_searched(hamlet: Person) -> None:
    """Results link to the conversation, including results in quotes."""
    hamlet.enter()
    hamlet.go_to("#stage")
    hamlet.browser.find("#topic").send_keys("masks")
    hamlet.write("A rare walrus was here")
    hamlet.see(".message .content", "A rare walrus was here")
    hamlet.browser.find("#search").send_keys("walrus", Keys.ENTER)
    hamlet.see("#place", "Search: walrus")
    hamlet.see(".message .content", "A rare walrus was here")
    assert [each.text for each in hamlet.browser.find_all(".mark.topic a")] == ["#stage > masks"]
    assert not hamlet.browser.find("#compose").is_displayed()
    hamlet.choose_late("walrus", ".quote")
    hamlet.see("#place", "#stage > masks")
    field = hamlet.browser.find("#content")
    hamlet.browser.wait(lambda: "walrus" in str(field.get_property("value")), "the quote")
    field.clear()
    hamlet.browser.find("#search").clear()
    hamlet.browser.find("#search").send_keys("no such beast", Keys.ENTER)
    hamlet.see("#none", "No messages contain these words.")


def test_uploaded_avatars_are_shown_next_to_messages(
    hamlet: Person, base: str, keys: dict[str, str]
) -> None:
    """Other users have an initial, because the page shows nothing from other sites. So does a user
    whose avatar was deleted.
    """
    auth, path = (HAMLET, keys[HAMLET]), f"{base}/api/v1/users/me/avatar"
    file = {"file": ("me.png", picture("PNG", 40, 40), "image/png")}
    uploaded = httpx.post(path, auth=auth, files=file)
    assert uploaded.status_code == 200, uploaded.text
    for email in (HAMLET, OTHELLO):
        said = {"type": "channel", "to": "stage", "topic": "masks", "content": f"I am {email}"}
        httpx.post(f"{base}/api/v1/messages", auth=(email, keys[email]), data=said)
    hamlet.enter()
    hamlet.go_to("#stage")
    hamlet.see(".message .content", f"I am {OTHELLO}")
    has_width = "return document.querySelector('.avatar img')?.naturalWidth === 100"
    hamlet.browser.wait(lambda: bool(hamlet.browser.run(has_width)), "the picture")
    [address] = [each.get_attribute("src") for each in hamlet.browser.find_all(".avatar img")]
    assert uploaded.json()["avatar_url"] in str(address)
    initials = [each.text for each in hamlet.browser.find_all(".avatar")]
    assert initials.count("O") == 1
    hamlet.browser.run("document.querySelector('.avatar img').src = '/user_avatars/1/gone.png'")
    shown = "return [...document.querySelectorAll('.avatar')].every((each) => each.textContent)"
    hamlet.browser.wait(lambda: bool(hamlet.browser.run(shown)), "the initial")


def test_files_are_attached_and_opened(hamlet: Person, tmp_path: Path) -> None:
    """With the button or pasted. Large files are rejected, and a link opens the file."""
    (tmp_path / "plan [1].png").write_bytes(picture("PNG"))
    (tmp_path / "huge.bin").write_bytes(bytes(26 << 20))
    hamlet.enter()
    hamlet.go_to("#stage")
    field = hamlet.browser.find("#content")
    hamlet.browser.find("#files").send_keys(str(tmp_path / "plan [1].png"))
    hamlet.browser.wait(lambda: "/user_uploads/" in str(field.get_property("value")), "the link")
    hamlet.gone("#attaching")
    assert str(field.get_property("value")).startswith("[plan 1.png](/user_uploads/")
    hamlet.browser.run(
        "const files = new DataTransfer(); files.items.add(new File(['Not to be'], 'note.txt'));"
        "document.querySelector('#content').dispatchEvent("
        "new ClipboardEvent('paste', {clipboardData: files, cancelable: true}))"
    )
    hamlet.browser.wait(lambda: "[note.txt](" in str(field.get_property("value")), "the second")
    hamlet.browser.find("#files").send_keys(str(tmp_path / "huge.bin"))
    hamlet.see("#compose-refusal", "huge.bin is larger than 25 MiB.")
    hamlet.browser.find("#topic").send_keys("plans")
    field.send_keys(Keys.ENTER)
    hamlet.see(".message .content a", "plan 1.png")
    driver = hamlet.browser.driver
    [here] = driver.window_handles
    [link] = [a for a in hamlet.browser.find_all(".message .content a") if a.text == "plan 1.png"]
    link.click()
    hamlet.browser.wait(lambda: len(driver.window_handles) == 2, "a window")
    [opened] = set(driver.window_handles) - {here}
    driver.switch_to.window(opened)
    try:
        has_width = "return document.images[0]?.naturalWidth > 0"
        hamlet.browser.wait(lambda: bool(hamlet.browser.run(has_width)), "the picture")
    finally:
        driver.close()
        driver.switch_to.window(here)


def test_signed_in_page_fits_every_width_and_paper(
    hamlet: Person, base: str, keys: dict[str, str]
) -> None:
    channel = [{"name": "a channel with a name of the greatest length, 60 letters"}]
    subscription = {"subscriptions": json.dumps(channel)}
    auth = (HAMLET, keys[HAMLET])
    httpx.post(f"{base}/api/v1/users/me/subscriptions", auth=auth, data=subscription)
    where = {"type": "channel", "to": "stage", "topic": "t" * 60}
    for text in ("word " * 100, "x" * 300, "```\n" + "code " * 60 + "\n```", "Last."):
        content = {**where, "content": text}
        httpx.post(f"{base}/api/v1/messages", auth=auth, data=content).raise_for_status()
    hamlet.enter()
    hamlet.go_to("t" * 60)
    hamlet.see(".message .content", "Last.")
    check_layout(hamlet.browser)
    check_print(hamlet.browser)
