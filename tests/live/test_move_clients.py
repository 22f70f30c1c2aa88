"""Open clients during the move of their organization to another installation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.clients.installed import TERMINAL, need
from tests.clients.terminal import Terminal
from tests.live import daily_chat
from tests.live.cluster.topology import until
from tests.live.daily_chat import HAMLET, HOST, OTHELLO, Day, Mouse
from tests.live.moving import Site
from tests.pages.browser import Browser
from tests.support.chat.people import SECRET

PATIENCE_S = 60.0
CHANNEL, TOPIC = "stage", "watch"
DRAFT = "half a sentence"


@dataclass
class Stage:
    """An organization before its move, and Othello, who writes with curl."""

    site: Site
    keys: dict[str, str]

    def ask(self, method: str, path: str, **options: Any) -> Any:
        """Send a request until a server responds."""
        address, auth = f"{self.site.url}/api/v1{path}", (OTHELLO, self.keys[OTHELLO])

        def ask() -> httpx.Response | None:
            answer = httpx.request(method, address, auth=auth, timeout=30, **options)
            return answer if answer.status_code != 503 else None

        return until(ask, path, PATIENCE_S).raise_for_status().json()

    def say(self, content: str) -> None:
        form = {"type": "channel", "to": CHANNEL, "topic": TOPIC, "content": content}
        self.ask("POST", "/messages", data=form)

    def newest(self) -> str:
        query = {"anchor": "newest", "num_before": 1, "num_after": 0, "apply_markdown": "false"}
        [message] = self.ask("GET", "/messages", params=query)["messages"]
        return f"#{message['display_recipient']} > {message['subject']}: {message['content']}"


@pytest.fixture(params=["new ids", "the same ids"])
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    one, two = (f"sqlite:///{tmp_path}/{name}.db" for name in ("one", "two"))
    is_used = request.param == "new ids"
    site = Site(one, two, tmp_path, host=HOST, is_used=is_used, secret=SECRET)
    stage = Stage(site, daily_chat.found_town(one))
    form = {
        "subscriptions": json.dumps([{"name": CHANNEL}]),
        "principals": json.dumps([HAMLET, OTHELLO]),
    }
    with site:
        stage.ask("POST", "/users/me/subscriptions", data=form)
        stage.say("said before")
        yield stage


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    if names := daily_chat.missing():
        pytest.skip(f"not installed: {', '.join(names)} (Debian: chromium, chromium-driver)")
    browser = Browser(profile=tmp_path / "profile")
    browser.show(width=1280, height=844, dark=False)
    yield browser
    browser.quit()


def test_the_page_goes_on_where_it_was(browser: Browser, stage: Stage) -> None:
    hamlet = Mouse(browser, stage.site.url, Day(axe=""))
    hamlet.sign_in()
    hamlet.open_topic(TOPIC)
    hamlet.see(".message .content", "said before")
    hamlet.write(DRAFT)

    stage.site.move()

    stage.say("said after")
    hamlet.see(".message .content", "said after")
    hamlet.see(".message .content", "said before")
    hamlet.see("#place", f"#{CHANNEL} > {TOPIC}")
    assert hamlet.value("#content") == DRAFT
    hamlet.write("\n")
    hamlet.see(".message .content", DRAFT)
    assert stage.newest() == f"#{CHANNEL} > {TOPIC}: {DRAFT}"

    hamlet.click("#sign-out")
    hamlet.see("#sign-in-title", "Sign in")
    browser.open(f"{stage.site.url}/chat")
    hamlet.see("#sign-in-title", "Sign in to Elsinore")
    hamlet.book(is_down=True)
    assert hamlet.day.console == []


@need(TERMINAL)
@pytest.mark.parametrize("stage", ["the same ids"], indirect=True)
def test_zulip_term_goes_on_by_itself(stage: Stage, tmp_path: Path) -> None:
    """It requests channels and users only at its start, so new ids would be unknown to it."""
    configuration = tmp_path / "zuliprc"
    configuration.write_text(
        f"[api]\nemail={HAMLET}\nkey={stage.keys[HAMLET]}\nsite={stage.site.url}\n"
    )
    configuration.chmod(0o600)
    with Terminal(configuration) as terminal:
        terminal.begin("said before")
        stage.site.move()
        stage.say("said after")
        terminal.read("said after", seconds=PATIENCE_S)
