"""The organization of the chat document's examples."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from specd.db import Database
from tests.contract.authorization.chat_stage import HOST, ChatStage, prepare
from tests.contract.authorization.conftest import NOW
from tests.contract.specs.chat_player import Player
from tests.support.chat.app import ChatApp, ChatClient, shared_app
from tests.support.chat.people import Cast
from tests.support.databases import directory_in_memory
from tests.support.frozen_clock import FrozenClock


@pytest.fixture(scope="session")
def stage(
    chat_sqlite_template: tuple[str, Cast],
    chat_apps: list[ChatApp],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[ChatStage]:
    """The organization of the authorization tests, with the objects of the examples."""
    directory, clock = tmp_path_factory.mktemp("x"), FrozenClock(NOW)
    with directory_in_memory() as memory:
        stage = prepare(
            chat_sqlite_template,
            directory,
            memory,
            clock,
            lambda database: shared_app(chat_apps, database, clock, tmp_path_factory),
        )
        yield _furnished(stage)


def _furnished(prepared: ChatStage) -> ChatStage:
    database = Database(f"sqlite:///{prepared.file}")
    prepared.app.play(database, prepared.clock)
    owner = ChatClient(prepared.app, HOST, prepared.cast.cordelia)
    owner.post("/users/me/subscriptions", subscriptions=[{"name": "Denmark"}])
    denmark = owner.get("/get_stream_id", stream="Denmark")["stream_id"]
    readers = {"name": "audience", "description": "", "members": [prepared.cast.hamlet.id]}
    owner.post("/user_groups/create", **readers)
    groups = owner.get("/user_groups")["user_groups"]
    audience = next(group["id"] for group in groups if group["name"] == "audience")
    database.dispose()
    return replace(prepared, things={**prepared.things, "denmark": denmark, "audience": audience})


@pytest.fixture
def player(stage: ChatStage) -> Iterator[Player]:
    playing = Player(stage)
    yield playing
    playing.close()
