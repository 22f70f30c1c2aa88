"""Fixtures of every chat test: people in a database of each kind, a frozen clock, clients.

The people are created once per kind of database; each test uses a copy. `chat` calls as Hamlet, an
ordinary member; `as_cordelia`, `as_iago` and so on call as the others, `as_nobody` without a key.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from specd._db import migrate
from specd.db import Database
from tests.contract.events.kinds import objections
from tests.support.chat.app import ChatApp, ChatClient, shared_app
from tests.support.chat.hashing import cheap_password_hashes
from tests.support.chat.people import CAST_MADE_AT, Cast, make_cast
from tests.support.chat.prepared import Preparation, Prepared, PreparedBy, Stage, fill_at
from tests.support.chat.queues import Queues
from tests.support.databases import Lent, Places
from tests.support.frozen_clock import FrozenClock
from tests.support.postgres import Copies, PostgresServer
from tests.support.slow_work import refused_in_units

Template = tuple[str, Cast]
"""The source of copies (a file or a database's name), and the people in it."""


def _fill(url: str) -> Cast:
    migrate.upgrade(url, "chat")
    database = Database(url)
    try:
        return database.run(lambda session: make_cast(session, now=CAST_MADE_AT))
    finally:
        database.dispose()


@pytest.fixture(scope="session")
def chat_sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """Create an SQLite database with the people."""
    path = tmp_path_factory.mktemp("chat") / "template.db"
    cast = _fill(f"sqlite:///{path}")
    return str(path), cast


@pytest.fixture(scope="session")
def chat_postgres_copies(postgres: PostgresServer) -> Iterator[tuple[Copies, Cast]]:
    """Yield copies of a PostgreSQL database with the people."""
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


@pytest.fixture
def preparation() -> Preparation | None:
    """The additional content of a test's database. Modules override it; see `prepared`."""
    return None


@pytest.fixture(scope="session")
def preparations() -> PreparedBy:
    """The templates that this process has filled."""
    return {}


@pytest.fixture(params=["sqlite", "postgresql"])
def chat_filled(
    request: pytest.FixtureRequest, preparation: Preparation | None
) -> Iterator[tuple[str, Cast]]:
    """Yield the URL and the people of a database for this test, once for each kind."""
    if preparation is None:
        yield request.getfixturevalue(f"chat_{_short(request.param)}")
        return
    prepared = _prepare(request, preparation, request.param)
    with prepared.one() as url:
        yield url, prepared.cast


@pytest.fixture
def prepared(
    preparations: PreparedBy,
    preparation: Preparation,
    chat_filled: tuple[str, Cast],
    clock: FrozenClock,
) -> Any:
    """Return the value of the preparation for the test's database."""
    kind = chat_filled[0].partition(":")[0].partition("+")[0]
    return preparations[preparation.name, kind, clock.now()].value


def _short(kind: str) -> str:
    return "sqlite" if kind == "sqlite" else "postgres"


def _prepare(request: pytest.FixtureRequest, preparation: Preparation, kind: str) -> Prepared:
    """Fill a template, or return the one that an earlier test of this process has filled."""
    made: PreparedBy = request.getfixturevalue("preparations")
    clock: FrozenClock = request.getfixturevalue("clock")
    key = preparation.name, kind, clock.now()
    if key in made:
        return made[key]
    apps: list[ChatApp] = request.getfixturevalue("chat_apps")
    factory: pytest.TempPathFactory = request.getfixturevalue("tmp_path_factory")

    people: Cast

    def stage_of(database: Database) -> Stage:
        app = shared_app(apps, database, clock, factory)
        return Stage(app, database, people, clock, factory.mktemp("preparing"))

    told: list[Any] = []
    if kind == "sqlite":
        template, people = request.getfixturevalue("chat_sqlite_template")
        path = factory.mktemp("prepared") / "template.db"
        shutil.copy(template, path)
        told += fill_at(f"sqlite:///{path}", preparation, stage_of)
        places: Places = request.getfixturevalue("places")
        copies = partial(places.one, path)
    else:
        empty, people = request.getfixturevalue("chat_postgres_copies")
        copies = empty.filled(lambda url: told.extend(fill_at(url, preparation, stage_of))).one
    value, files = told
    made[key] = Prepared(copies=copies, cast=people, value=value, files=files)
    return made[key]


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
    """Hash passwords in microseconds instead of with 50 ms and 64 MiB."""
    with cheap_password_hashes():
        yield


@pytest.fixture(scope="session", autouse=True)
def nothing_slow_in_units() -> Iterator[None]:
    """Fail any test with slow work in a write unit of the chat service."""
    with refused_in_units():
        yield


@pytest.fixture(scope="session")
def chat_apps() -> Iterator[list[ChatApp]]:
    """Yield a list with the application, once it is compiled, which takes a second and 60 MB."""
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
    """Yield the application with this test's database and clock. Events must match the document."""
    yield shared_app(chat_apps, chat_database, clock, tmp_path_factory)
    assert objections(chat_database) == []


@pytest.fixture
def chat_app_with(chat_app: ChatApp, tmp_path: Path) -> Iterator[Callable[..., ChatApp]]:
    """Yield a function that changes settings until the test ends. Rate limits are reset."""
    with ExitStack() as changes:

        def change(**settings: Any) -> ChatApp:
            changes.enter_context(chat_app.changed(tmp_path, settings))
            return chat_app

        yield change


@pytest.fixture
def queues(chat_database: Database, clock: FrozenClock) -> Queues:
    """Return a factory of clients' event queues."""
    return Queues(chat_database, clock)


@pytest.fixture
def as_nobody(chat_app: ChatApp) -> ChatClient:
    """Return a client of Acme without credentials."""
    return ChatClient(chat_app, "acme.example")


@pytest.fixture
def chat(as_nobody: ChatClient, cast: Cast) -> ChatClient:
    """Return a client of Hamlet, a member."""
    return as_nobody.acting_as(cast.hamlet)


@pytest.fixture
def as_cordelia(as_nobody: ChatClient, cast: Cast) -> ChatClient:
    """Return a client of the owner."""
    return as_nobody.acting_as(cast.cordelia)


@pytest.fixture
def as_iago(as_nobody: ChatClient, cast: Cast) -> ChatClient:
    """Return a client of an administrator."""
    return as_nobody.acting_as(cast.iago)


@pytest.fixture
def as_prospero(as_nobody: ChatClient, cast: Cast) -> ChatClient:
    """Return a client of a moderator."""
    return as_nobody.acting_as(cast.prospero)


@pytest.fixture
def as_othello(as_nobody: ChatClient, cast: Cast) -> ChatClient:
    """Return a client of another member."""
    return as_nobody.acting_as(cast.othello)


@pytest.fixture
def as_polonius(as_nobody: ChatClient, cast: Cast) -> ChatClient:
    """Return a client of the guest."""
    return as_nobody.acting_as(cast.polonius)


@pytest.fixture
def as_reminder(as_nobody: ChatClient, cast: Cast) -> ChatClient:
    """Return a client of Hamlet's bot."""
    return as_nobody.acting_as(cast.reminder)


@pytest.fixture
def as_hank(as_nobody: ChatClient, cast: Cast) -> ChatClient:
    """Return a client of the owner of Globex."""
    return as_nobody.acting_as(cast.hank)
