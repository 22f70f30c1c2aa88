"""The measured servers, and their known deviations."""

import sys
from dataclasses import dataclass, field, replace

from benchmarks.load.checkout import HERE, ROOT, Checkout

NODE_MODULES = ROOT / "build/tools/fastify/node_modules"
"""The packages of peers in JavaScript. `scripts/tools install fastify` installs them."""


@dataclass(frozen=True, slots=True)
class Peer:
    """An ASGI application of a checkout by import string, and its gunicorn worker class, or the
    file of a program for Node.js.

    `validates` is False only for the two floors.

    `deviations` names invalid requests (operation, case) that the peer, written as in its
    documentation, does not answer with a 4xx, and why.
    """

    name: str
    app: str
    port: int
    worker: str = "benchmarks.load.worker.Worker"
    validates: bool = True
    deviations: dict[tuple[str, str], str] = field(default_factory=dict)
    checkout: Checkout = HERE

    @property
    def needs_node(self) -> bool:
        return self.app.endswith(".cjs")

    @property
    def command(self) -> list[str]:
        """The command that starts the server with one process for requests."""
        if self.needs_node:
            return ["node", self.app, str(self.port)]
        gunicorn = [sys.executable, "-m", "gunicorn", "-c", "benchmarks/load/gunicorn.py"]
        return [*gunicorn, "-w", "1", "-k", self.worker, "-b", f"127.0.0.1:{self.port}", self.app]


OURS = HERE.name
STOCK = "connexion AsyncApp"
FASTAPI = "FastAPI"
LITESTAR = "Litestar"
FALCON = "Falcon"
BLACKSHEEP = "BlackSheep"
STARLETTE = "Starlette, bare"
CONSTANT = "constant answers"

PEERS = (
    Peer(OURS, "benchmarks.engine.app:app", 8700, worker="specd._engine.serving.worker.Worker"),
    Peer(
        STOCK,
        "benchmarks.peers.echo_connexion:app",
        8701,
        deviations={("form", "broken JSON in a field"): "500: not caught while the form is read"},
    ),
    Peer(FASTAPI, "benchmarks.peers.echo_fastapi:app", 8702),
    Peer(
        LITESTAR,
        "benchmarks.peers.echo_litestar:app",
        8703,
        deviations={("post", "type"): '201: bodies are converted leniently, "3" is taken for 3'},
    ),
    Peer(FALCON, "benchmarks.peers.echo_falcon:app", 8705),
    Peer(BLACKSHEEP, "benchmarks.peers.echo_blacksheep:app", 8706),
    Peer(STARLETTE, "benchmarks.peers.echo_starlette:app", 8704, validates=False),
    Peer(
        CONSTANT,
        "benchmarks.peers.echo_constant:app",
        8707,
        worker="benchmarks.peers.echo_constant.ConstantWorker",
        validates=False,
    ),
)


def ours_of(checkout: Checkout) -> Peer:
    """Return the peer for our engine in another checkout."""
    return replace(PEERS[0], name=checkout.name, port=8708, checkout=checkout)
