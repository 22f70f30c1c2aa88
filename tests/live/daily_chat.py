"""A day on /chat: two users in two Chromiums with a running server, one with the keyboard alone.

Meanwhile a page is reloaded, the server restarts, a connection is lost and a session is ended. Each
step must succeed. The console must be empty, apart from requests that the browser reports as failed
during outages. With axe-core, it must find nothing at each check.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from sqlalchemy.orm import Session

from models.chat.identity.passwords import hash_password
from models.chat.identity.roles import Role
from models.chat.organization.realms import access_realm_by_id, create_realm
from models.chat.people.users import create_user
from specd._db import migrate
from specd.db import Clock, Database
from tests.live.running_server import RunningServer
from tests.pages.browser import Browser
from tests.pages.visitor import Visitor
from tests.support.chat.people import KEYS, PASSWORD, SECRET

HOST = "127.0.0.1"
OWNER, HAMLET, OTHELLO = "ada@local.example", "hamlet@local.example", "othello@local.example"
MAX_TABS = 250
AXE = """
const done = arguments[arguments.length - 1];
axe.run(document).then(
  ({ violations }) => done(violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`)),
  (error) => done([String(error)]),
);
"""
Task = Callable[["Mouse", "Keyboard", RunningServer, dict[str, str]], None]


@dataclass
class Day:
    """The completed steps and findings. `axe` is the source of axe-core, or ""."""

    axe: str
    done: list[str] = field(default_factory=list)
    looks: int = 0
    violations: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    expected: int = 0
    """Failed requests that the browser reported during outages."""
    seconds: float = 0

    def describe(self) -> str:
        return (
            f"{len(self.done)} tasks done, {len(self.console)} console errors "
            f"({self.expected} failed requests while something was down), "
            f"{self.looks} looks with axe-core, {len(self.violations)} violations, "
            f"{self.seconds:.0f} s"
        )


class Person(Visitor):
    """A user at a browser, whose console is recorded."""

    email = ""

    def __init__(self, browser: Browser, base: str, day: Day) -> None:
        super().__init__(browser, base)
        self.day = day

    def look(self) -> None:
        """Check the current page with axe-core."""
        if self.day.axe:
            self.browser.run(self.day.axe)
            self.day.looks += 1
            self.day.violations += self.browser.driver.execute_async_script(AXE)

    def book(self, *, is_down: bool) -> None:
        """Record the messages of the console."""
        for entry in self.browser.console_entries():
            if is_down and entry["source"] == "network":
                self.day.expected += 1
            else:
                self.day.console.append(f"{self.email}: {entry['message']}")

    def value(self, selector: str) -> str:
        return str(self.browser.find(selector).get_property("value"))

    def shows_messages(self) -> None:
        self.browser.wait(
            lambda: self.browser.find("#timeline").get_attribute("aria-busy") == "false",
            "the messages",
        )


class Mouse(Person):
    """Hamlet, who clicks."""

    email = HAMLET

    def click(self, selector: str) -> None:
        self.browser.wait(
            lambda: self.browser.run(
                "const [e] = [...document.querySelectorAll(arguments[0])]"
                ".filter(e => e.checkVisibility()); e?.scrollIntoView({block: 'nearest'});"
                "return Boolean(e)",
                selector,
            ),
            selector,
        )
        [first, *_] = [e for e in self.browser.find_all(selector) if e.is_displayed()]
        first.click()

    def sign_in(self) -> None:
        """Sign in and stay signed in."""
        self.browser.open(f"{self.base}/chat")
        self.see("#sign-in-title", "Sign in to Elsinore")
        self.browser.find("#email").send_keys(HAMLET)
        self.browser.find("#secret").send_keys(PASSWORD)
        self.click("#stay")
        self.click("#sign-in-button")
        self.see("#realm", "Elsinore")

    def write(self, text: str) -> None:
        self.browser.find("#content").send_keys(text)

    def go_to(self, name: str) -> None:
        if self.browser.find(".back").is_displayed():
            self.click(".back")
        self.see("#sidebar a .name", name)
        [link] = [e for e in self.browser.find_all("#sidebar a .name") if e.text == name]
        link.click()
        self.see("#place", name)
        self.shows_messages()

    def open_topic(self, name: str) -> None:
        """Go to a topic by its channel, because a narrow window lists only unread topics."""
        self.go_to("#stage")
        self.see(".mark.topic a", name)
        [link, *_] = [e for e in self.browser.find_all(".mark.topic a") if name in e.text]
        link.click()
        self.see("#place", name)
        self.shows_messages()

    def choose(self, message: str, action: str) -> None:
        [item, *_] = [e for e in self.browser.find_all(".message") if message in e.text]
        ActionChains(self.browser.driver).move_to_element(item).perform()
        opened = "arguments[0].querySelector('.menu').open = true"
        self.browser.run(opened, item)
        found = "return arguments[0].querySelector(arguments[1])"
        self.browser.wait(lambda: self.browser.run(found, item, f".menu {action}"), action)
        self.browser.run(found, item, f".menu {action}").click()


class Keyboard(Person):
    """Othello, who has no mouse: he presses Tab until the target has a visible focus."""

    email = OTHELLO

    def press(self, *keys: str) -> None:
        ActionChains(self.browser.driver).send_keys(*keys).perform()

    def chord(self, modifier: str, key: str) -> None:
        actions = ActionChains(self.browser.driver)
        actions.key_down(modifier).send_keys(key).key_up(modifier).perform()

    def reach(self, selector: str, text: str = "", *, back: bool = False) -> None:
        """Go to an element that matches the selector and contains the text."""
        is_there = (
            "const e = document.activeElement;"
            "return e.matches(arguments[0]) && e.innerText.includes(arguments[1])"
        )
        for _ in range(MAX_TABS):
            if self.browser.run(is_there, selector, text):
                ring = "return document.activeElement.matches(':focus-visible')"
                assert self.browser.run(ring), f"nobody sees that {selector} has the focus"
                return
            if back:
                self.chord(Keys.SHIFT, Keys.TAB)
            else:
                self.press(Keys.TAB)
        raise AssertionError(f"the keyboard does not reach {selector} {text!r}")

    def go_to(self, name: str) -> None:
        if self.browser.find(".back").is_displayed():
            self.reach(".back", back=True)
            self.press(Keys.ENTER)
        self.see("#sidebar a .name", name)
        self.reach("#sidebar a", name)
        self.press(Keys.ENTER)
        self.see("#place", name)
        self.shows_messages()

    def open_menu(self, message: str) -> None:
        """Open the menu of the last message that begins with a text, from the field below it."""
        at = (
            "const e = document.activeElement; return e.matches('.menu > summary')"
            " && e.closest('.message').querySelector('.content').innerText.startsWith(arguments[0])"
        )
        for _ in range(MAX_TABS):
            if self.browser.run(at, message):
                break
            self.chord(Keys.SHIFT, Keys.TAB)
        else:
            raise AssertionError(f"the keyboard does not reach the menu of {message!r}")
        self.press(Keys.ENTER)
        self.browser.wait(
            lambda: self.browser.run("return document.activeElement.parentElement.open"), "a menu"
        )

    def sign_in(self) -> None:
        self.see("#sign-in-title", "Sign in to Elsinore")
        self.reach("#email")
        self.press(self.email)
        self.reach("#secret")
        self.press(PASSWORD)
        self.reach("#stay")
        self.press(Keys.SPACE)
        self.reach("#sign-in-button")
        self.press(Keys.ENTER)
        self.browser.wait(lambda: self.browser.find("#chat").is_displayed(), "the chat")


def found_town(url: str) -> dict[str, str]:
    """Create an organization of three users in a migrated database. Return their keys by email."""

    def people(session: Session) -> dict[str, str]:
        now = Clock().now()
        realm, _, key = create_realm(
            session, KEYS, name="Elsinore", host=HOST, owner_email=OWNER, owner_name="Ada", now=now
        )
        view, made = access_realm_by_id(session, realm.id), {OWNER: key}
        for email in (HAMLET, OTHELLO):
            _, made[email] = create_user(
                session, KEYS, realm=view, email=email, role=Role.MEMBER, now=now,
                full_name=email.partition("@")[0].capitalize(), password_hash=password_hash,
            )  # fmt: skip
        return made

    password_hash = hash_password(PASSWORD)
    with closing(Database(url)) as database:
        return database.run(people)


@contextmanager
def town(folder: Path) -> Iterator[tuple[RunningServer, dict[str, str]]]:
    """A running server with an organization of three users, and their keys by email."""
    url = f"sqlite:///{folder / 'chat.db'}"
    migrate.upgrade(url, "chat")
    keys = found_town(url)
    settings = {"SPECD_CHAT_DATABASE_URL": url, "SPECD_CHAT_SECRET": SECRET.decode()}
    with RunningServer(folder, settings, application="chat") as server:
        yield server, keys


def live(
    folder: Path,
    browsers: tuple[Browser, Browser],
    *,
    width: int,
    dark: bool,
    axe: str = "",
    tasks: Sequence[Task] = (),
) -> Day:
    """Run the day, or some of its steps. Return the completed steps and findings."""
    day, began = Day(axe), time.monotonic()
    for browser in browsers:
        browser.driver.delete_all_cookies()
        browser.reset()
        browser.show(width=width, height=844, dark=dark)
        browser.driver.set_script_timeout(60)
    with town(folder) as (server, keys):
        hamlet, othello = (
            Mouse(browsers[0], server.url, day),
            Keyboard(browsers[1], server.url, day),
        )
        try:
            for task in tasks or TASKS:
                task(hamlet, othello, server, keys)
                for person in (hamlet, othello):
                    person.book(is_down=task in WITH_FAILURES)
                day.done.append((task.__doc__ or "").partition("\n")[0])
        finally:
            for browser in browsers:
                browser.open("about:blank")
    day.seconds = time.monotonic() - began
    return day


def signs_in_by_keys(hamlet: Mouse, othello: Keyboard, server: RunningServer, keys: Any) -> None:
    """Othello signs in and stays signed in."""
    othello.browser.open(f"{server.url}/chat")
    othello.see("#sign-in-title", "Sign in to Elsinore")
    othello.look()
    othello.sign_in()
    othello.see("#welcome" if othello.browser.run("return innerWidth > 800") else "#sidebar", "")


def makes_a_channel(hamlet: Mouse, othello: Keyboard, server: Any, keys: Any) -> None:
    """Othello creates a channel."""
    othello.reach("#join")
    othello.press(Keys.ENTER)
    othello.see("#joining", "Join or create a channel")
    othello.look()
    othello.press("stage", Keys.ENTER)
    othello.see("#place", "#stage")
    othello.shows_messages()


def begins_a_topic(hamlet: Mouse, othello: Keyboard, server: Any, keys: Any) -> None:
    """Othello starts a topic."""
    othello.reach("#topic", back=True)
    othello.press("watch")
    othello.reach("#content")
    othello.press("Who is **there**?", Keys.ENTER)
    othello.see("#place", "#stage > watch")
    othello.see(".message .content strong", "there")
    othello.look()


def signs_in(hamlet: Mouse, othello: Keyboard, server: RunningServer, keys: Any) -> None:
    """Hamlet signs in and stays signed in."""
    hamlet.sign_in()
    hamlet.look()


def joins(hamlet: Mouse, othello: Keyboard, server: Any, keys: Any) -> None:
    """Hamlet joins the channel and reads it."""
    hamlet.click("#join")
    hamlet.browser.find("#channel-name").send_keys("stage")
    hamlet.click("#join-it")
    hamlet.see("#place", "#stage")
    hamlet.open_topic("watch")
    hamlet.see(".message .content", "Who is there?")


def mentions(hamlet: Mouse, othello: Keyboard, server: Any, keys: Any) -> None:
    """Hamlet replies, and completes a name with a click."""
    hamlet.write("Nay, answer me, @oth")
    hamlet.see("#completions [aria-selected=true]", "Othello")
    hamlet.look()
    hamlet.click("#completions [aria-selected=true]")
    hamlet.write(Keys.ENTER)
    othello.see(".message .content .user-mention", "@Othello")


def reacts(hamlet: Mouse, othello: Keyboard, server: Any, keys: Any) -> None:
    """Othello reacts from the menu of a message."""
    othello.reach("#content", back=True)
    othello.open_menu("Nay, answer me")
    othello.look()
    othello.reach(".menu [title='+1']")
    othello.press(Keys.ENTER)
    hamlet.see(".reactions button", "1")


def picks_an_emoji(hamlet: Mouse, othello: Keyboard, server: Any, keys: Any) -> None:
    """Othello finds another emoji by its name."""
    othello.reach("#content")
    othello.open_menu("Nay, answer me")
    othello.reach(".menu .react")
    othello.press(Keys.ENTER)
    othello.see("#emoji-title", "Choose an emoji")
    othello.look()
    othello.press("octopus", Keys.ENTER)
    hamlet.see(".reactions button[title*='octopus']", "1")


def quotes(hamlet: Mouse, othello: Keyboard, server: Any, keys: Any) -> None:
    """Hamlet quotes and replies."""
    hamlet.choose("Who is there?", ".quote")
    hamlet.browser.wait(lambda: "[said](" in hamlet.value("#content"), "the quote")
    hamlet.write("Long live the king!" + Keys.ENTER)
    othello.see(".message blockquote", "Who is there?")


def attaches(hamlet: Mouse, othello: Keyboard, server: RunningServer, keys: Any) -> None:
    """Hamlet attaches a file."""
    note = server.log.parent / "note.txt"
    note.write_text("Words, words, words.")
    hamlet.browser.find("#files").send_keys(str(note))
    hamlet.browser.wait(lambda: "/user_uploads/" in hamlet.value("#content"), "the link")
    hamlet.write(Keys.ENTER)
    othello.see(".message .content a", "note.txt")


def stars(hamlet: Mouse, othello: Keyboard, server: Any, keys: Any) -> None:
    """Hamlet stars a message."""
    hamlet.choose("Long live the king!", ".star")
    hamlet.browser.wait(lambda: hamlet.browser.text("#announce") == "Starred", "a star")


def edits(hamlet: Mouse, othello: Keyboard, server: Any, keys: Any) -> None:
    """Othello edits his message."""
    othello.reach("#content")
    othello.open_menu("Who is there?")
    othello.reach(".menu .edit")
    othello.press(Keys.ENTER)
    othello.browser.wait(
        lambda: othello.browser.run("return document.activeElement.value") == "Who is **there**?",
        "the source",
    )
    othello.look()
    othello.press(Keys.END, " Speak!")
    othello.chord(Keys.CONTROL, Keys.ENTER)
    hamlet.see(".message .content", "Who is there? Speak!")


def reload(hamlet: Mouse, othello: Keyboard, server: Any, keys: Any) -> None:
    """Both reload the page, and see the same place again."""
    for person in (hamlet, othello):
        person.browser.driver.refresh()
        person.see("#place", "#stage > watch")
        person.see(".message .content", "Speak!")
        person.shows_messages()
        assert not person.browser.find("#sign-in").is_displayed()


def searches(hamlet: Mouse, othello: Keyboard, server: Any, keys: Any) -> None:
    """Othello searches, and goes to a result."""
    if othello.browser.find(".back").is_displayed():
        othello.reach(".back", back=True)
        othello.press(Keys.ENTER)
    othello.reach("#search", back=True)
    othello.press("king", Keys.ENTER)
    othello.see("#place", "Search: king")
    othello.see(".message .content", "Long live the king!")
    othello.look()
    othello.reach(".mark.topic a", "#stage > watch")
    othello.press(Keys.ENTER)
    othello.see("#place", "#stage > watch")
    othello.shows_messages()


def writes_directly(hamlet: Mouse, othello: Keyboard, server: Any, keys: Any) -> None:
    """Othello finds Hamlet and writes to him."""
    if othello.browser.find(".back").is_displayed():
        othello.reach(".back", back=True)
        othello.press(Keys.ENTER)
    othello.reach("#filter", back=True)
    othello.press("Haml")
    othello.reach("#people a", "Hamlet")
    othello.press(Keys.ENTER)
    othello.see("#place", "Hamlet")
    othello.shows_messages()
    othello.reach("#content")
    othello.press("A word in private.", Keys.ENTER)
    othello.see(".message .content", "A word in private.")


def answers_directly(hamlet: Mouse, othello: Keyboard, server: Any, keys: Any) -> None:
    """Hamlet sees the unread message, reads it and replies."""
    hamlet.browser.wait(lambda: hamlet.browser.driver.title.startswith("(1)"), "the count")
    hamlet.go_to("Othello")
    hamlet.see(".message .content", "A word in private.")
    hamlet.write("Speak, I am bound to hear." + Keys.ENTER)
    othello.see(".message .content", "I am bound to hear.")


def restart(hamlet: Mouse, othello: Keyboard, server: RunningServer, keys: Any) -> None:
    """The server restarts, and both pages continue."""
    server.stop()
    for person in (hamlet, othello):
        person.see("#offline", "The connection is lost.")
    othello.look()
    server.__enter__()
    for person in (hamlet, othello):  # they wait up to half a minute between two attempts
        offline = person.browser.find("#offline")
        person.browser.wait(lambda at=offline: not at.is_displayed(), "the server", seconds=60)
    hamlet.write("Are you there still?" + Keys.ENTER)
    othello.see(".message .content", "Are you there still?")


def loses_the_connection(hamlet: Mouse, othello: Keyboard, server: Any, keys: Any) -> None:
    """Othello loses the connection, and sends his text later."""
    othello.reach("#content")
    othello.browser.connect(is_connected=False)
    othello.press("I was away.", Keys.ENTER)
    othello.see("#compose-refusal", "The server cannot be reached.")
    assert othello.value("#content") == "I was away."
    hamlet.write("Are you?" + Keys.ENTER)
    othello.see("#offline", "The connection is lost.")
    othello.browser.connect(is_connected=True)
    othello.see(".message .content", "Are you?")
    othello.gone("#offline")
    othello.reach("#content")
    othello.press(Keys.ENTER)
    hamlet.see(".message .content", "I was away.")


def asks(hamlet: Mouse, othello: Keyboard, server: Any, keys: Any) -> None:
    """Hamlet creates a poll."""
    hamlet.write("/poll To be?" + Keys.SHIFT + Keys.ENTER + Keys.NULL + "Yes")
    hamlet.write(Keys.SHIFT + Keys.ENTER + Keys.NULL + "No" + Keys.ENTER)
    othello.see(".poll strong", "To be?")


def votes(hamlet: Mouse, othello: Keyboard, server: Any, keys: Any) -> None:
    """Othello votes."""
    othello.reach(".poll [data-key='canned,1']", back=True)
    othello.press(Keys.ENTER)
    hamlet.see(".poll [data-key='canned,1'] .votes", "1")
    hamlet.look()


def deletes(hamlet: Mouse, othello: Keyboard, server: Any, keys: Any) -> None:
    """Othello deletes his message."""
    othello.reach("#content")
    othello.open_menu("I was away.")
    othello.reach(".menu .delete")
    othello.press(Keys.ENTER)
    othello.see("#question", "Delete this message?")
    othello.look()
    othello.reach("#question-yes")
    othello.press(Keys.ENTER)
    hamlet.browser.wait(lambda: "I was away." not in hamlet.browser.text("#messages"), "its end")


def resolves(hamlet: Mouse, othello: Keyboard, server: Any, keys: Any) -> None:
    """Hamlet resolves the topic."""
    hamlet.open_topic("watch")
    hamlet.choose("Long live the king!", ".resolve")
    hamlet.go_to("#stage")
    hamlet.see(".mark.topic a", "✔ watch")


def ends_sessions(hamlet: Mouse, othello: Keyboard, server: RunningServer, keys: Any) -> None:
    """Othello ends his session, signs in after a reload, and signs out."""
    if othello.browser.find(".back").is_displayed():
        othello.reach(".back", back=True)
        othello.press(Keys.ENTER)
    othello.reach("#show-sessions", back=True)
    othello.press(Keys.ENTER)
    othello.see("#session-list li", "This browser")
    othello.look()
    othello.reach("#session-list button")
    othello.press(Keys.ENTER)
    othello.see("#no-sessions", "No browser sessions.")
    othello.press(Keys.ESCAPE)
    othello.gone("#sessions")
    othello.browser.driver.refresh()
    othello.sign_in()
    othello.reach("#sign-out")
    othello.press(Keys.ENTER)
    othello.see("#sign-in-title", "Sign in to Elsinore")


def is_signed_out(hamlet: Mouse, othello: Keyboard, server: RunningServer, keys: Any) -> None:
    """Hamlet's key is renewed elsewhere: the page reports it, and a reload does not sign him in."""
    renewed = httpx.post(
        f"{server.url}/api/v1/users/me/api_key/regenerate", auth=(HAMLET, keys[HAMLET])
    )
    assert renewed.status_code == 200, renewed.text
    form = {"type": "direct", "to": f'["{HAMLET}"]', "content": "Good night."}
    httpx.post(f"{server.url}/api/v1/messages", auth=(OWNER, keys[OWNER]), data=form)
    hamlet.see("#sign-in-refusal", "Invalid API key")
    hamlet.browser.driver.refresh()
    hamlet.see("#sign-in-title", "Sign in to Elsinore")
    assert not hamlet.browser.find("#chat").is_displayed()


TASKS: tuple[Task, ...] = (
    signs_in_by_keys, makes_a_channel, begins_a_topic, signs_in, joins, mentions, reacts,
    picks_an_emoji, quotes, attaches, stars, edits, reload, searches, writes_directly,
    answers_directly, restart, loses_the_connection, asks, votes, deletes, resolves,
    ends_sessions, is_signed_out,
)  # fmt: skip
SOME = (
    signs_in_by_keys, makes_a_channel, begins_a_topic, signs_in, joins, mentions, reacts, edits,
    reload, ends_sessions, is_signed_out,
)  # fmt: skip
"""The steps that take a quarter of the time."""
WITH_FAILURES = {restart, loses_the_connection, is_signed_out}


def missing() -> list[str]:
    """Return the programs that are not installed."""
    return [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
