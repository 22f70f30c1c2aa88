"""The measured servers with a database."""

from pathlib import Path

from benchmarks.engine import __main__ as engine
from benchmarks.engine.peers import FASTAPI, LITESTAR, OURS, STOCK, Peer
from benchmarks.load.processes import Server
from benchmarks.stored.tables import URL, fill

FASTIFY = "Fastify"
PEERS = (
    Peer(OURS, "benchmarks.stored.app:app()", 8720, worker="specd._engine.serving.worker.Worker"),
    Peer(f"{STOCK} + SQLAlchemy", "benchmarks.peers.stored_connexion:app()", 8721),
    Peer(f"{FASTAPI} + SQLAlchemy", "benchmarks.peers.stored_fastapi:app()", 8722),
    Peer(f"{LITESTAR} + advanced-alchemy", "benchmarks.peers.stored_litestar:app()", 8724),
    Peer(f"{FASTIFY} + better-sqlite3", "benchmarks/peers/stored_fastify.cjs", 8725),
)


def start(peer: Peer, directory: Path) -> Server:
    """Start a peer on the server core, with a separate database in `directory`."""
    url = f"sqlite:///{directory / f'{peer.port}.db'}"
    fill(url)
    return engine.start(peer, directory, **{URL: url})
