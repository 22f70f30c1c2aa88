"""python -m benchmarks.stored: a service with a database. All servers are asked the same first."""

import argparse
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

import httpx

from benchmarks.engine.__main__ import ask, load_fixed, peers_table
from benchmarks.engine.peers import NODE_MODULES, OURS
from benchmarks.load.checkout import Checkout, add_beside
from benchmarks.load.figures import Figures, figures_beside, figures_table, write_json
from benchmarks.load.processes import Server
from benchmarks.load.rounds import alternate
from benchmarks.load.wrk import Load
from benchmarks.stored.operations import OPERATIONS, disagreements
from benchmarks.stored.peers import PEERS, start

BY_NAME = {operation.name: operation for operation in OPERATIONS}


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.stored", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=2, help="length of one load")
    parser.add_argument("--connections", type=int, default=16)
    names = [peer.name for peer in PEERS]
    parser.add_argument("--peer", action="append", choices=names, help="only these (repeatable)")
    names = list(BY_NAME)
    parser.add_argument("--operation", action="append", choices=names, help="only these")
    add_beside(parser)
    parser.add_argument("--out", type=Path, default=Path("var/benchmark-stored.json"))
    return parser.parse_args()


def ratios_table(table: Mapping[str, Mapping[str, Figures]]) -> str:
    """Return the ratios of our requests/s to each peer's, by operation. Above one is faster."""
    lines = ["| requests/s against | " + " | ".join(table) + " |"]
    lines.append("|---|" + "---:|" * len(table))
    for peer in (name for name in next(iter(table.values())) if name != OURS):
        ratios = [row[OURS].per_second / row[peer].per_second for row in table.values()]
        lines.append(f"| {peer} | " + " | ".join(f"{ratio:.2f} x" for ratio in ratios) + " |")
    return "\n".join(lines)


def main() -> int:
    arguments = read_arguments()
    peers = [peer for peer in PEERS if not arguments.peer or peer.name in arguments.peer]
    names = [name for name in BY_NAME if not arguments.operation or name in arguments.operation]
    if any(peer.needs_node for peer in peers) and not NODE_MODULES.is_dir():
        sys.exit("Install the peers for Node.js first: scripts/tools install fastify")
    beside: Checkout | None = arguments.beside
    if beside:
        peers.insert(1, replace(PEERS[0], name=beside.name, port=8723, checkout=beside))

    def load_once(operation: str, server: Server, seconds: float) -> Load:
        request = BY_NAME[operation].request
        return load_fixed(request, server, seconds, connections=arguments.connections)

    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        servers = [stack.enter_context(start(peer, Path(directory))) for peer in peers]
        wrong = []
        for server in servers:
            with httpx.Client(base_url=server.url, timeout=60) as client:
                wrong += disagreements(server.name, partial(ask, client))
        if wrong:
            sys.exit("The servers do not agree, so nothing was measured:\n" + "\n".join(wrong))
        alternate(servers, names, rounds=1, seconds=1, load_once=load_once)  # warm-up
        measured = alternate(
            servers,
            names,
            rounds=arguments.rounds,
            seconds=arguments.seconds,
            load_once=load_once,
        )
    table = measured.tabulated(names, [peer.name for peer in peers])
    for name, row in table.items():
        print(figures_table(BY_NAME[name].title, row) + "\n")
    print(peers_table(table))
    if OURS in table[names[0]]:
        print("\n" + ratios_table(table))
        if beside:
            titled = {BY_NAME[name].title: row for name, row in table.items()}
            print("\n" + figures_beside("With a database", titled, beside.name, OURS))
    write_json(arguments.out, figures=table, arguments=vars(arguments) | {"out": ""})
    return 0


if __name__ == "__main__":
    sys.exit(main())
