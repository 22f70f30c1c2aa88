"""Fixtures of every chat test: the cast on a database of each kind, a frozen clock, clients.

The cast is made once per kind of database; each test works on a copy. `chat` calls as Hamlet, an
ordinary member; `as_cordelia`, `as_iago` and so on call as the others, `as_nobody` without a key.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from models import migrate
from models.database import Database
from tests.contract.events.kinds import objections
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.hashing import cheap_password_hashes
from tests.support.chat.people import CAST_MADE_AT, Cast, make_cast
from tests.support.chat.queues import Queues
from tests.support.databases import Lent, Places
from tests.support.frozen_clock import FrozenClock
from tests.support.postgres import Copies, PostgresServer
from tests.support.slow_work import refused_in_units

Template = tuple[str, Cast]
"""Where the copy comes from (a file or a database's name), and who is in it."""


def _fill(url: str) -> Cast:
    migrate.upgrade(url, "chat")
    database = Database(url)
    try:
        return database.run(lambda session: make_cast(session, now=CAST_MADE_AT))
    finally:
        database.dispose()


@pytest.fixture(scope="session")
def chat_sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """An SQLite database with the cast in it."""
    path = tmp_path_factory.mktemp("chat") / "template.db"
    cast = _fill(f"sqlite:///{path}")
    return str(path), cast


@pytest.fixture(scope="session")
def chat_postgres_copies(postgres: PostgresServer) -> Iterator[tuple[Copies, Cast]]:
    """PostgreSQL databases with the cast in them."""
    name = postgres.create()
    cast = _fill(postgres.url_of(name))
    copies = Copies(postgres, name)
    yield copies, cast
    copies.drop()


@pytest.fixture
def chat_sqlite(chat_sqlite_template: Template, places: Places) -> Iterator[tuple[str, Cast]]:
    template, cast = chat_sqlite_template
    with places.one(template) as url:
        yield url, cast


@pytest.fixture
def chat_postgres(chat_postgres_copies: tuple[Copies, Cast]) -> Iterator[tuple[str, Cast]]:
    copies, cast = chat_postgres_copies
    with copies.one() as url:
        yield url, cast


@pytest.fixture(params=["sqlite", "postgresql"])
def chat_filled(request: pytest.FixtureRequest) -> tuple[str, Cast]:
    """URL and cast of a database of the test's own, once of each kind."""
    name = "chat_sqlite" if request.param == "sqlite" else "chat_postgres"
    filled: tuple[str, Cast] = request.getfixturevalue(name)
    return filled


@pytest.fixture
def chat_database(
    lent: Lent, chat_filled: tuple[str, Cast], patience_s: float
) -> Iterator[Database]:
    with lent.one(chat_filled[0], patience_s) as database:
        yield database


@pytest.fixture
def cast(chat_filled: tuple[str, Cast]) -> Cast:
    return chat_filled[1]


@pytest.fixture(scope="session", autouse=True)
def cheap_hashes() -> Iterator[None]:
    """Hash passwords in microseconds instead of 50 ms and 64 MiB."""
    with cheap_password_hashes():
        yield


@pytest.fixture(scope="session", autouse=True)
def nothing_slow_in_units() -> Iterator[None]:
    """Slow work in a write unit of the chat service fails whatever test it happens in."""
    with refused_in_units():
        yield


@pytest.fixture(scope="session")
def chat_apps() -> Iterator[list[ChatApp]]:
    """The application, once it is compiled, which takes a second and 60 MB."""
    apps: list[ChatApp] = []
    yield apps
    for app in apps:
        app.close()


@pytest.fixture
def chat_app(
    chat_apps: list[ChatApp],
    chat_database: Database,
    clock: FrozenClock,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[ChatApp]:
    """The application over this test's database and clock. The document has every event made."""
    if not chat_apps:
        chat_apps.append(ChatApp(chat_database, clock, tmp_path_factory.mktemp("chat")))
    (app,) = chat_apps
    app.play(chat_database, clock)
    yield app
    assert objections(chat_database) == []


@pytest.fixture
def chat_app_with(chat_app: ChatApp, tmp_path: Path) -> Iterator[Callable[..., ChatApp]]:
    """Changes settings of the application until the test ends. Its limits are unused."""
    with ExitStack() as changes:

        def change(**settings: Any) -> ChatApp:
            changes.enter_context(chat_app.changed(tmp_path, settings))
            return chat_app

        yield change


@pytest.fixture
def queues(chat_database: Database, clock: FrozenClock) -> Queues:
    """Opens event queues of clients."""
    return Queues(chat_database, clock)


@pytest.fixture
def as_nobody(chat_app: ChatApp) -> ChatClient:
    """Calls Acme without credentials."""
    return ChatClient(chat_app, "acme.example")


@pytest.fixture
def chat(as_nobody: ChatClient, cast: Cast) -> ChatClient:
    """Calls as Hamlet, a member."""
    return as_nobody.acting_as(cast.hamlet)


@pytest.fixture
def as_cordelia(as_nobody: ChatClient, cast: Cast) -> ChatClient:
    """Calls as the owner."""
    return as_nobody.acting_as(cast.cordelia)


@pytest.fixture
def as_iago(as_nobody: ChatClient, cast: Cast) -> ChatClient:
    """Calls as an administrator."""
    return as_nobody.acting_as(cast.iago)


@pytest.fixture
def as_prospero(as_nobody: ChatClient, cast: Cast) -> ChatClient:
    """Calls as a moderator."""
    return as_nobody.acting_as(cast.prospero)


@pytest.fixture
def as_othello(as_nobody: ChatClient, cast: Cast) -> ChatClient:
    """Calls as another member."""
    return as_nobody.acting_as(cast.othello)


@pytest.fixture
def as_polonius(as_nobody: ChatClient, cast: Cast) -> ChatClient:
    """Calls as the guest."""
    return as_nobody.acting_as(cast.polonius)


@pytest.fixture
def as_reminder(as_nobody: ChatClient, cast: Cast) -> ChatClient:
    """Calls as Hamlet's bot."""
    return as_nobody.acting_as(cast.reminder)


@pytest.fixture
def as_hank(as_nobody: ChatClient, cast: Cast) -> ChatClient:
    """Calls Globex as its owner."""
    return as_nobody.acting_as(cast.hank)
