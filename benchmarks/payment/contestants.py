"""The two services: how each database is created and seeded, and how each service is started."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from sqlalchemy.orm import Session

from benchmarks.load.checkout import HERE, Checkout
from benchmarks.load.processes import Server
from benchmarks.payment.story import CHAIN_ID, METHOD_ID, TOKEN, XPUB
from models.payment import checkpoints
from models.payment.keys import create_key
from models.payment.methods import create_method
from models.payment.projects import create_project
from specd._db.migrate import upgrade
from specd.db import Database

OURS = HERE.name
PEER = "FastAPI + SQLAlchemy"
PEER_APP = "benchmarks.peers.payment_fastapi.app:from_env()"


def prepare_ours(url: str, *, watched: bool = True) -> str:
    """Migrate and seed a database. Return the API key. If `watched`, no request calls the chain."""
    upgrade(url, "payment")
    database = Database(url)

    def work(session: Session) -> str:
        now = datetime.now(UTC)
        if watched:
            begin_chain(session, now=now)
        project = create_project(session, name="Benchmark", xpub=XPUB, now=now)
        create_method(
            session,
            project_id=project.id,
            method_id=METHOD_ID,
            chain_id=CHAIN_ID,
            token_address=TOKEN,
            token_symbol="TUSD",
            confirmations_required=2,
            now=now,
        )
        return create_key(session, project_id=project.id, now=now)[1]

    try:
        return database.run(work)
    finally:
        database.dispose()


def begin_chain(session: Session, *, now: datetime) -> None:
    """Mark the chain's head as recently seen for the whole benchmark, as a watcher would. Otherwise
    each creation of an invoice would call the chain.
    """
    block = checkpoints.BlockMark(1, f"0x{1:064x}", now)
    seen_at = now + timedelta(days=1)
    checkpoints.begin(session, CHAIN_ID, genesis=None, block=block, head=block, now=seen_at)


def prepare_of(checkout: Checkout, url: str) -> str:
    """Prepare a database like `prepare_ours`, with a checkout's code and schema."""
    return checkout.run(
        "import sys; from benchmarks.payment.contestants import prepare_ours;"
        " print(prepare_ours(sys.argv[1]))",
        url,
    )


def prepare_peer(url: str) -> str:
    """Create and seed the tables. Return the API key."""
    from benchmarks.peers.payment_fastapi.seeding import seed  # needs the extra `bench`

    key = f"prk_test_{os.urandom(4).hex()}_{'k' * 43}"
    seed(url, key=key, xpub=XPUB, method_id=METHOD_ID, chain_id=CHAIN_ID, token_address=TOKEN)
    return key


def serve_ours(
    url: str,
    directory: Path,
    *,
    port: int,
    workers: int,
    core: int | None,
    checkout: Checkout = HERE,
) -> Server:
    """Start a server as in production, with gunicorn.conf.py. The operations do not
    call a chain.
    """
    env = {
        "SPECD_BIND": f"127.0.0.1:{port}",
        "SPECD_WORKERS": str(workers),
        "SPECD_DATA_DIR": str(directory / f"ours-{port}"),
        "SPECD_PAYMENT_DATABASE_URL": url,
        "SPECD_CHAIN_RPC_URLS": f"{CHAIN_ID}=http://127.0.0.1:9",
        "SPECD_RATE_LIMITS": "false",
    }
    command = [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py", "wsgi:payment"]
    log = directory / f"ours-{port}.log"
    return Server(checkout.name, command, port=port, log=log, env=env, core=core, checkout=checkout)


def serve_peer(url: str, directory: Path, *, port: int, workers: int, core: int | None) -> Server:
    env = {"PEER_DATABASE_URL": url, "PEER_CHAIN_IDS": str(CHAIN_ID)}
    command = [sys.executable, "-m", "gunicorn", "-c", "benchmarks/load/gunicorn.py"]
    command += ["-w", str(workers), "-b", f"127.0.0.1:{port}", PEER_APP]
    return Server(PEER, command, port=port, log=directory / "peer.log", env=env, core=core)


@dataclass(frozen=True, slots=True)
class Contestant:
    """A service with a separate database and port."""

    name: str
    database: str
    port: int
    prepare: Callable[[str], str]
    serve: Callable[..., Server]


CONTESTANTS = (
    Contestant(OURS, "ours", 8711, prepare_ours, serve_ours),
    Contestant(PEER, "peer", 8712, prepare_peer, serve_peer),
)


def contestants(other: Checkout | None) -> tuple[Contestant, ...]:
    """Return our service, the other checkout's service if it is given, and the peer."""
    if other is None:
        return CONTESTANTS
    ours, peer = CONTESTANTS
    prepare, serve = partial(prepare_of, other), partial(serve_ours, checkout=other)
    return ours, Contestant(other.name, "beside", 8714, prepare, serve), peer
