"""A payment server to fuzz: two projects and a real chain (anvil, or the in-process one), so that
sessions can be created.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy.orm import Session

from demo.chain.anvil import find_anvil
from demo.seed import XPUB
from models.payment import keys, methods, projects
from specd.db import Database
from tests.contract.fuzz.payment_hooks import METHOD
from tests.contract.fuzz.users import write_users
from tests.live.chain_fixture import running_anvil, running_pyevm
from tests.live.running_server import RunningServer

TOKEN = "0x5FbDB2315678afecb367f032d93F642f64180aa3"


def _create_merchant(database: Database, name: str) -> str:
    """Create a project with one method. Return its key."""
    now = datetime.now(UTC)

    def work(session: Session) -> str:
        project = projects.create_project(session, name=name, xpub=XPUB, now=now)
        methods.create_method(
            session,
            project_id=project.id,
            method_id=METHOD,
            chain_id=31337,
            token_address=TOKEN,
            token_symbol="TUSD",
            confirmations_required=2,
            now=now,
        )
        return keys.create_key(session, project_id=project.id, now=now)[1]

    return database.run(work)


@contextmanager
def fuzzed_payment(database_url: str, directory: Path) -> Iterator[tuple[RunningServer, Path]]:
    """Yield a server on a migrated database, and the file of its two users."""
    database = Database(database_url)
    users = {name: f"Bearer {_create_merchant(database, name)}" for name in ("first", "second")}
    database.dispose()
    environment = {"SPECD_PAYMENT_DATABASE_URL": database_url, "SPECD_WORKERS": "2"}
    environment["SPECD_PAYMENT_TEST_HELPERS"] = "on"
    with ExitStack() as stack:
        has_anvil = find_anvil(os.environ.get("SPECD_ANVIL", "")) is not None
        chain = stack.enter_context(running_anvil() if has_anvil else running_pyevm())
        environment["SPECD_CHAIN_RPC_URLS"] = chain.url
        server = stack.enter_context(RunningServer(directory, environment))
        yield server, write_users(directory, users)
