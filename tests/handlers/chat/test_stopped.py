"""A stopped organization, which is moving or has moved, accepts no requests or changes."""

from functools import partial

import click
import pytest
from flask.testing import FlaskClient
from sqlalchemy import update

from cli.chat import chat as commands
from models.chat.messages import rendering_again
from models.chat.moves import stopping
from models.chat.organization import realms
from models.chat.organization.errors import RealmStopped
from models.chat.tables import Realm
from models.chat.uploads import removal
from pages import chat as chat_pages
from specd.db import Database
from tests.handlers.chat.test_every_operation import call, operations
from tests.support.chat.answers import bad
from tests.support.chat.app import ChatApp, ChatClient, SentFile
from tests.support.chat.people import Cast
from tests.support.frozen_clock import FrozenClock
from tests.support.pictures import picture
from tests.support.service_pages import build_pages

MOVING = bad("This organization is moving to another server; try again in a moment", "REALM_MOVING")
PAGES = {"/user_uploads", "/user_avatars", "/exports"}
READING = {"audit", "export"}
"""Commands that change nothing in the named organization."""


@pytest.fixture
def stop(chat_database: Database, cast: Cast, clock: FrozenClock) -> partial[None]:
    return partial(
        chat_database.run, lambda s: stopping.stop(s, cast.realm_id, now=clock.now())
    )  # fmt: skip


def test_no_operation_is_served(chat: ChatClient, stop: partial[None]) -> None:
    """tests/contract/authorization/test_credentials_end.py has those without credentials."""
    stop()
    called = 0
    for method, path, operation in operations():
        if operation.get("security") is None:
            called += 1
            assert call(chat, method, path) == (503, MOVING), operation["operationId"]
    assert called > 150
    answer = chat.request("GET", "/server_settings")
    assert (answer.status_code, answer.json()) == (503, MOVING)


def test_no_file_is_served(
    chat_app: ChatApp, chat: ChatClient, as_iago: ChatClient, cast: Cast, stop: partial[None]
) -> None:
    install = partial(chat_pages.install_for, service=chat_app.service)
    app = build_pages(documents={}, own=[install])
    browser: FlaskClient = app.test_client()
    image = SentFile("a.png", picture("PNG"), "image/png")
    file = chat.post("/user_uploads", file=SentFile())["url"]
    avatar = chat.post("/users/me/avatar", file=image)["avatar_url"]
    as_iago.post("/realm/emoji/yorick", file=image)
    (emoji,) = chat.get("/realm/emoji")["emoji"].values()
    paths = [file, chat.get(file)["url"], avatar, avatar.replace(".png", "-medium.png")]
    paths.append(emoji["source_url"])

    def status(path: str) -> int:
        auth = (cast.hamlet.email, cast.hamlet.key)
        with browser.get(path, base_url="http://acme.example", auth=auth, buffered=True) as answer:
            if answer.status_code == 503:
                assert answer.headers["Retry-After"] == "1"
            return answer.status_code

    assert [status(path) for path in paths] == [200] * len(paths)
    assert status("/exports/1") == 404
    stop()
    assert {status(path) for path in (*paths, "/exports/1", "/exports/1/x")} == {503}
    rules = {f"/{rule.rule.split('/')[1]}" for rule in app.url_map.iter_rules()}
    assert rules >= PAGES, "a new page needs a line here"


def test_no_command_changes_it(chat_database: Database, stop: partial[None]) -> None:
    """Each command with an organization loads it by one of two functions."""
    naming = {
        name: command
        for name, command in commands.commands.items()
        if any(parameter.name == "realm" for parameter in command.params)
    }
    assert naming.keys() >= READING
    for name, command in naming.items():
        assert isinstance(command, click.Command)
        used = command.callback.__globals__["realms"]  # type: ignore[union-attr]
        assert used is realms
        source = _names_of(command)
        assert ("access_realm_to_change" in source) == (name not in READING), name
    stop()

    def access(session: object) -> None:
        realms.access_realm_to_change(session, "acme.example")  # type: ignore[arg-type]

    with pytest.raises(RealmStopped):
        chat_database.run(access)


def _names_of(command: click.Command) -> set[str]:
    """Return the names in a command's function, including nested functions."""
    names: set[str] = set()
    codes = [command.callback.__code__]  # type: ignore[union-attr]
    while codes:
        code = codes.pop()
        names.update(code.co_names)
        codes += [each for each in code.co_consts if hasattr(each, "co_names")]
    return names


def test_no_worker_and_no_command_for_all_changes_it(
    chat: ChatClient,
    cast: Cast,
    chat_database: Database,
    clock: FrozenClock,
    stop: partial[None],
) -> None:
    """A move may still need to copy its files, and compares its messages."""
    chat.post("/user_uploads", file=SentFile())
    chat.post("/messages", type="direct", to=f"[{cast.hamlet.id}]", content="to myself")
    expire = partial(
        chat_database.run,
        lambda s: removal.try_expire_one(s, detached_before=clock.now(), now=clock.now()),
    )
    clock.advance(seconds=100 * 86_400)
    with chat_database.reading() as reader:
        stored = rendering_again.find_stored(reader, after=0, limit=10)
    assert stored, "there is something to render again"
    stop()
    with chat_database.reading() as reader:
        assert rendering_again.find_stored(reader, after=0, limit=10) == []
    assert not expire()
    chat_database.run(lambda s: s.execute(update(Realm).values(stopped_at=None)))
    assert expire(), "it continues after the restart"
