"""python -m benchmarks.chat: a realm of a thousand people, a million messages, both databases."""

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path
from statistics import median

import httpx

import logs
from benchmarks.chat.databases import databases, filled, founded
from benchmarks.chat.operations import API, FLAT, OPERATIONS, SIZES, Operation, headers
from benchmarks.chat.realm import SECRET, Stage
from benchmarks.load.figures import write_json
from benchmarks.load.processes import Server, free_port
from benchmarks.load.wrk import Load, run_wrk

CROWDED = 16

TITLES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}

Figures = dict[str, float]


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.chat", description=__doc__)
    parser.add_argument("--seconds", type=int, default=3, help="length of one load")
    parser.add_argument("--messages", type=int, default=SIZES[-1])
    parser.add_argument("--database", action="append", choices=list(TITLES))
    parser.add_argument("--operation", action="append", choices=list(OPERATIONS))
    parser.add_argument("--rounds", type=int, default=1, help="of loads, sizes in turn")
    parser.add_argument("--keep", type=Path, help="a directory where the databases stay")
    parser.add_argument("--out", type=Path, default=Path("var/benchmark-chat.json"))
    return parser.parse_args()


def serve(url: str, directory: Path) -> Server:
    """As in production, one worker on core 0; wrk and PostgreSQL share core 1."""
    port = free_port()
    env = {
        "SPECD_BIND": f"127.0.0.1:{port}",
        "SPECD_WORKERS": "1",
        "SPECD_DATA_DIR": str(directory / f"server-{port}"),
        "SPECD_CHAT_DATABASE_URL": url,
        "SPECD_CHAT_SECRET": SECRET.decode(),
        "SPECD_RATE_LIMITS": "false",
        "SPECD_CHAT_SCHEDULED_MESSAGES_PER_USER": "1000000",
        "SPECD_LOG_LEVEL": "warning",
    }
    command = [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py", "wsgi:chat"]
    log = directory / f"server-{port}.log"
    return Server("specd", command, port=port, log=log, env=env, core=0)


def load(server: Server, operation: Operation, stage: Stage, seconds: int, crowd: int) -> Load:
    return run_wrk(
        server.url + API + operation.path(stage),
        script=operation.script,
        arguments=[*operation.arguments(stage), *headers(stage)],
        seconds=seconds,
        connections=crowd,
        core=1,
    )


def measure(
    servers: Mapping[int, Server], stage: Stage, names: Sequence[str], seconds: int, rounds: int
) -> dict[int, dict[str, Figures]]:
    """For each number of messages and operation: latencies of one connection, requests a second of
    many. Servers take turns, so that a slow minute of the machine hits all of them alike.
    """
    measured: dict[int, dict[str, Figures]] = {size: {} for size in servers}
    for name in names:
        sizes = [size for size in servers if name in FLAT or size in largest(servers)]
        found: dict[int, list[Figures]] = {size: [] for size in sizes}
        for _ in range(rounds):
            for size in sizes:
                found[size].append(measure_once(servers[size], stage, OPERATIONS[name], seconds))
        for size, several in found.items():
            figures = {part: median(one[part] for one in several) for part in several[0]}
            measured[size][name] = figures
            print(
                f"{size:>10,} {name:<14}{figures['per_second']:>8,.0f}/s"
                f"  p50 {figures['p50_ms']:.2f} ms, CPU {figures['cpu_us']:,.0f} us",
                file=sys.stderr,
            )
    return measured


def largest(sizes: Mapping[int, object]) -> list[int]:
    """All operations are measured at the largest size, and at every one from a million on."""
    return [size for size in sizes if size >= SIZES[-1] or size == max(sizes)]


def measure_once(server: Server, stage: Stage, operation: Operation, seconds: int) -> Figures:
    settle(server)
    load(server, operation, stage, 1, 1)
    before = server.cpu_seconds()
    alone = load(server, operation, stage, seconds, 1)
    cpu_us = (server.cpu_seconds() - before) * 1e6 / alone.requests
    crowded = alone
    if operation.script != "alternate.lua":
        settle(server)
        crowded = load(server, operation, stage, seconds, CROWDED)
    return {
        "per_second": crowded.per_second,
        "p50_ms": alone.p50_ms,
        "p99_ms": alone.p99_ms,
        "cpu_us": cpu_us,
    }


def settle(server: Server) -> None:
    """Wait until what an earlier load left in the queue, whose answers nobody reads, is done."""
    deadline = time.monotonic() + 120
    at_once = 0
    with httpx.Client(base_url=server.url, timeout=120) as client:
        while at_once < 10:
            began = time.monotonic()
            client.get(f"{API}/server_settings").raise_for_status()
            spent = time.monotonic() - began
            at_once = at_once + 1 if spent < 0.05 else 0
            if began > deadline:
                raise TimeoutError("the server does not come to rest")
            time.sleep(0.05)


def check(server: Server, stage: Stage, messages: int) -> None:
    """What was loaded by SQL must look to the service like what it wrote itself."""
    with httpx.Client(
        base_url=server.url + API, auth=(stage.email, stage.api_key), timeout=60
    ) as client:
        topics = client.get(f"/users/me/{stage.hall_id}/topics").json()["topics"]
        assert len(topics) == 10_000, len(topics)
        narrow = '[["channel", "stage"], ["topic", "act"]]'
        window = {"anchor": "oldest", "num_before": 0, "num_after": 2000, "narrow": narrow}
        found_ = client.get("/messages", params=window).json()["messages"]
        assert [m["id"] for m in found_] == list(range(messages - 999, messages + 1))
        flags = {**window, "op": "add", "flag": "collapsed"}
        answer = client.post("/messages/flags/narrow", data=flags).json()
        assert answer["processed_count"] == 1000, answer
        annex = {"subscriptions": '[{"name": "annex"}]'}
        assert client.post("/users/me/subscriptions", data=annex).is_success


def main() -> int:
    arguments = read_arguments()
    logs.configure("warning")
    sizes = sorted({size for size in SIZES if size < arguments.messages} | {arguments.messages})
    tables: dict[str, dict[int, dict[str, Figures]]] = {}
    kept = arguments.keep
    with nullcontext(kept) if kept else tempfile.TemporaryDirectory(prefix="specd-chat-") as place:
        Path(place).mkdir(parents=True, exist_ok=True)
        for kind in arguments.database or list(TITLES):
            tables[TITLES[kind]] = run(kind, Path(place), sizes, arguments)
    for database, table in tables.items():
        for size in largest(table):
            print(figures_table(database, table[size], size) + "\n")
        print(flatness_table(database, table) + "\n")
    write_json(arguments.out, figures=tables)
    return 0


def run(
    kind: str, directory: Path, sizes: Sequence[int], arguments: argparse.Namespace
) -> dict[int, dict[str, Figures]]:
    """Each size on a copy of one founded realm, behind a server of its own."""
    with ExitStack() as stack:
        own = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="specd-chat-servers-")))
        where = stack.enter_context(databases(kind, directory, stays=arguments.keep is not None))
        stage = founded(where, directory / f"{kind}.json")
        servers = {}
        for size in sizes:
            url = filled(where, stage, size)
            servers[size] = stack.enter_context(serve(url, own))
            check(servers[size], stage, size)
        names = arguments.operation or list(OPERATIONS)
        return measure(servers, stage, names, arguments.seconds, arguments.rounds)


def figures_table(database: str, table: dict[str, Figures], messages: int) -> str:
    lines = [
        f"**{database}, {messages:,} messages**",
        "",
        "| operation | requests/s | p50 ms | p99 ms | CPU us/request | goal for p50 |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, it in table.items():
        operation = OPERATIONS[name]
        goal = "" if operation.p50_below_ms is None else f"{operation.p50_below_ms:g} ms"
        lines.append(
            f"| {operation.title} | {it['per_second']:,.0f} | {it['p50_ms']:.2f} |"
            f" {it['p99_ms']:.2f} | {it['cpu_us']:,.0f} | {goal} |"
        )
    return "\n".join(lines)


def flatness_table(database: str, tables: dict[int, dict[str, Figures]]) -> str:
    """p50 by the number of messages, and how much the largest costs against the smallest."""
    sizes = sorted(tables)
    lines = [
        f"| {database}, p50 ms at | " + " | ".join(f"{size:,}" for size in sizes) + " | growth |",
        "|---|" + "---:|" * (len(sizes) + 1),
    ]
    for name in next(iter(sorted(tables.items(), reverse=True)))[1]:
        times = [tables[size][name]["p50_ms"] for size in sizes if name in tables[size]]
        if len(times) > 1:
            cells = "| " * (len(sizes) - len(times)) + " | ".join(f"{it:.2f}" for it in times)
            lines.append(f"| {name} | {cells} | {times[-1] / times[0]:.2f} x |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
