"""apprise (PyPI, 2.3.0), with the URL replaced, and zulip-send (PyPI: zulip 0.9.1), both
unmodified.

With the key of an incoming webhook bot, as integrations and scripts use them.
"""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from tests.clients.conftest import CHANNEL, TOPIC, Office
from tests.clients.installed import APPRISE, SEND, need
from tests.support.chat.people import Member

# apprise sends to https://ORGANIZATION/ without a port, so the server's URL is replaced.
NOTIFY = """
import sys
from apprise.plugins.zulip import NotifyZulip

url, bot, organization, key, channel, topic, text = sys.argv[1:]
NotifyZulip.notify_url = url + "/api/v1/messages"
sender = NotifyZulip(botname=bot, organization=organization, token=key, targets=[channel])
sys.exit(0 if sender.send(text, title=topic) else 1)
"""


@pytest.fixture
def webhook(office: Office) -> Member:
    """An incoming webhook bot of Hamlet."""
    hamlet = office.cast.hamlet
    form = {"full_name": "Builds", "short_name": "builds", "bot_type": "2"}
    bots = office.ask(hamlet, "GET", "/bots")["bots"]
    if not [each for each in bots if each["full_name"] == "Builds"]:
        office.ask(hamlet, "POST", "/bots", data=form)
        bots = office.ask(hamlet, "GET", "/bots")["bots"]
    [made] = [each for each in bots if each["full_name"] == "Builds"]
    return Member(
        made["user_id"], made["username"], "Builds", 400, made["api_key"], office.cast.hamlet.host
    )


def newest(office: Office) -> dict[str, Any]:
    message = office.newest(office.cast.hamlet)[-1]
    return {name: message[name] for name in ("sender_id", "subject", "content")}


@need(APPRISE)
def test_apprise_notifies(office: Office, webhook: Member) -> None:
    name, _, organization = webhook.email.partition("@")
    bot = name.removesuffix("-bot")
    argv = [str(APPRISE), "-c", NOTIFY, office.url, bot, organization, webhook.key]
    argv += [CHANNEL, TOPIC, "The build is **green**."]
    subprocess.run(argv, check=True, timeout=120, cwd=office.directory)
    expected = {"subject": TOPIC, "content": "The build is **green**."}
    assert newest(office) == {"sender_id": webhook.id, **expected}


@need(SEND)
def test_zulip_send_sends(office: Office, webhook: Member) -> None:
    argv = [str(SEND), "--config-file", str(office.configuration(webhook))]
    argv += ["--stream", CHANNEL, "--subject", TOPIC, "--message", "The build is **red**."]
    subprocess.run(argv, check=True, timeout=120, cwd=office.directory)
    expected = {"subject": TOPIC, "content": "The build is **red**."}
    assert newest(office) == {"sender_id": webhook.id, **expected}
