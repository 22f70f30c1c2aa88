"""The demo's chat organization."""

import httpx
import pytest
from click import ClickException

from demo.chat import seed_chat
from demo.chat_examples import play_examples
from models.chat.moves import stopping
from models.chat.organization.errors import RealmStopped
from specd.db import Database
from tests.support.chat.app import ChatApp
from tests.support.chat.people import KEYS
from tests.support.frozen_clock import FrozenClock

HOST = "demo.example"


def test_moved_organization_is_rejected(
    chat_database: Database, chat_app: ChatApp, clock: FrozenClock
) -> None:
    def seed() -> object:
        return chat_database.run(lambda s: seed_chat(s, KEYS, host=HOST, now=clock.now()))

    access = chat_database.run(lambda s: seed_chat(s, KEYS, host=HOST, now=clock.now()))
    assert seed() == access
    chat_database.run(lambda s: stopping.stop(s, access.realm_id, now=clock.now()))
    with pytest.raises(RealmStopped):
        seed()

    def respond(request: httpx.Request) -> httpx.Response:
        answer = chat_app.send(request)[0]
        return httpx.Response(answer.status_code, content=answer.content)

    client = httpx.Client(transport=httpx.MockTransport(respond), base_url=f"http://{HOST}")
    with pytest.raises(ClickException, match="503"):
        play_examples(client, access, vendor_url="", relay_url="")
