"""python -m benchmarks.soak: both services under a mixed load for an hour, with the memory of each
process every ten seconds. Exits with 1 if a process has grown.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from benchmarks.chat import realm
from benchmarks.live.servers import Running, pss
from benchmarks.load.charts import draw_chart
from benchmarks.load.checkout import HERE, Checkout
from benchmarks.load.figures import write_json
from benchmarks.load.paced import Connection, pace
from benchmarks.load.processes import Server, free_port
from benchmarks.payment.contestants import prepare_ours
from benchmarks.payment.postgres import create_database, running_postgres
from benchmarks.payment.story import CHAIN_ID
from benchmarks.soak.memory import Memory, memory_table
from benchmarks.soak.turns import turns
from specd import _logs as logs
from specd._db.migrate import upgrade

CONNECTIONS = 8


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rate", type=float, default=20, help="turns a second")
    parser.add_argument("--messages", type=int, default=20_000, help="that are there before")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--database", default="sqlite", choices=["sqlite", "postgresql"])
    parser.add_argument("--every", type=float, default=10, help="seconds between two looks")
    parser.add_argument("--out", type=Path, default=Path("var/benchmark-soak.json"))
    return parser.parse_args()


def serve(
    urls: Mapping[str, str],
    directory: Path,
    processes: int,
    core: int | None = None,
    checkout: Checkout = HERE,
) -> Server:
    """Start both services in one server, as in production, without rate limits."""
    port = free_port()
    env = {
        "SPECD_BIND": f"127.0.0.1:{port}",
        "SPECD_WORKERS": str(processes),
        "SPECD_DATA_DIR": str(directory / f"server-{port}"),
        "SPECD_CHAT_DATABASE_URL": urls["chat"],
        "SPECD_PAYMENT_DATABASE_URL": urls["payment"],
        "SPECD_CHAT_SECRET": realm.SECRET.decode(),
        "SPECD_CHAIN_RPC_URLS": f"{CHAIN_ID}=http://127.0.0.1:9",
        "SPECD_RATE_LIMITS": "false",
        "SPECD_CHAT_SCHEDULED_MESSAGES_PER_USER": "1000000",
        "SPECD_LOG_LEVEL": "warning",
    }
    command = [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"]
    log = directory / f"server-{port}.log"
    return Server(checkout.name, command, port=port, log=log, env=env, core=core, checkout=checkout)


async def soak(
    server: Server, stage: realm.Stage, bearer: str, arguments: argparse.Namespace
) -> tuple[list[Memory], int]:
    """Return the memory of the arbiter and of each worker, and the number of turns."""
    while len(Running(server).pids()) <= arguments.processes:  # it listens before it forks
        await asyncio.sleep(0.1)
    arbiter, *workers = Running(server).pids()
    titles = {arbiter: "arbiter"}
    titles |= {pid: f"worker {number}" for number, pid in enumerate(workers, 1)}
    memory = {pid: Memory(title) for pid, title in titles.items()}
    coming = turns(stage, bearer)

    async def turn(connection: Connection) -> None:
        await next(coming)(connection)

    async def look() -> None:
        began = time.monotonic()
        while True:
            for pid, seen in memory.items():
                seen.samples.append((time.monotonic() - began, pss(pid)))
            await asyncio.sleep(arguments.every)

    looking = asyncio.create_task(look())
    seconds = arguments.minutes * 60
    done = await pace(
        server.port, turn, per_second=arguments.rate, seconds=seconds, connections=CONNECTIONS
    )
    looking.cancel()
    return list(memory.values()), len(done)


def run(urls: Mapping[str, str], directory: Path, arguments: argparse.Namespace) -> bool:
    upgrade(urls["chat"], "chat")
    stage = realm.found(urls["chat"])
    realm.fill(urls["chat"], stage, arguments.messages)
    bearer = prepare_ours(urls["payment"])
    with serve(urls, directory, arguments.processes) as server:
        memory, count = asyncio.run(soak(server, stage, bearer, arguments))
    print(f"{arguments.database}, {count:,} turns, {arguments.rate:g} a second\n")
    print(memory_table(memory))
    draw_chart("soak", memory_table(memory), arguments.out.with_suffix(".svg"))
    samples = {process.title: process.samples for process in memory}
    write_json(arguments.out, samples=json.loads(json.dumps(samples)))
    return all(process.is_flat for process in memory)


def main() -> int:
    arguments = read_arguments()
    logs.configure("warning")
    with tempfile.TemporaryDirectory(prefix="specd-soak-") as name:
        directory = Path(name)
        if arguments.database == "sqlite":
            urls = {it: f"sqlite:///{directory / it}.db" for it in ("chat", "payment")}
            return 0 if run(urls, directory, arguments) else 1
        with running_postgres(port=free_port(), core=None) as prefix:
            urls = {it: create_database(prefix, it) for it in ("chat", "payment")}
            return 0 if run(urls, directory, arguments) else 1


if __name__ == "__main__":
    sys.exit(main())
