"""python -m benchmarks.chat: a realm of a thousand people, a million messages, both databases."""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx

from benchmarks.chat.operations import API, FLAT, OPERATIONS, SIZES, Operation, headers
from benchmarks.chat.realm import SECRET, Stage, fill, found
from benchmarks.load.figures import write_json
from benchmarks.load.processes import Server
from benchmarks.load.wrk import Load, run_wrk
from benchmarks.payment.postgres import connect, create_database, running_postgres
from models.migrate import upgrade

PORT, POSTGRES_PORT = 8721, 8723
CROWDED = 16

Figures = dict[str, Any]


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.chat", description=__doc__)
    parser.add_argument("--seconds", type=int, default=3, help="length of one load")
    parser.add_argument("--messages", type=int, default=SIZES[-1])
    parser.add_argument("--database", action="append", choices=["sqlite", "postgresql"])
    parser.add_argument("--operation", action="append", choices=list(OPERATIONS))
    parser.add_argument("--out", type=Path, default=Path("var/benchmark-chat.json"))
    return parser.parse_args()


def serve(url: str, directory: Path) -> Server:
    """As in production, one worker on core 0; wrk and PostgreSQL share core 1."""
    env = {
        "SPECD_BIND": f"127.0.0.1:{PORT}",
        "SPECD_WORKERS": "1",
        "SPECD_DATA_DIR": str(directory / "server"),
        "SPECD_CHAT_DATABASE_URL": url,
        "SPECD_CHAT_SECRET": SECRET.decode(),
        "SPECD_RATE_LIMITS": "false",
        "SPECD_CHAT_SCHEDULED_MESSAGES_PER_USER": "1000000",
        "SPECD_LOG_LEVEL": "warning",
    }
    command = [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py", "wsgi:chat"]
    return Server("specd", command, port=PORT, log=directory / "server.log", env=env, core=0)


def load(server: Server, operation: Operation, stage: Stage, seconds: int, crowd: int) -> Load:
    return run_wrk(
        server.url + API + operation.path(stage),
        script=operation.script,
        arguments=[*operation.arguments(stage), *headers(stage)],
        seconds=seconds,
        connections=crowd,
        core=1,
    )


def measure(server: Server, stage: Stage, names: Sequence[str], seconds: int) -> dict[str, Figures]:
    """For each operation: latencies of one connection, requests a second of many."""
    measured = {}
    for name in names:
        operation = OPERATIONS[name]
        settle(server)
        load(server, operation, stage, 1, 1)
        before = server.cpu_seconds()
        alone = load(server, operation, stage, seconds, 1)
        cpu_us = (server.cpu_seconds() - before) * 1e6 / alone.requests
        in_turn = operation.script == "alternate.lua"
        if not in_turn:
            settle(server)
        crowded = alone if in_turn else load(server, operation, stage, seconds, CROWDED)
        measured[name] = {
            "per_second": crowded.per_second,
            "p50_ms": alone.p50_ms,
            "p99_ms": alone.p99_ms,
            "cpu_us": cpu_us,
        }
        print(
            f"{name:<14}{crowded.per_second:>8,.0f}/s  p50 {alone.p50_ms:.2f} ms", file=sys.stderr
        )
    return measured


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
        assert answer["updated_count"] == 1000, answer
        annex = {"subscriptions": '[{"name": "annex"}]'}
        assert client.post("/users/me/subscriptions", data=annex).is_success


def main() -> int:
    arguments = read_arguments()
    kinds = arguments.database or ["sqlite", "postgresql"]
    names = arguments.operation or list(OPERATIONS)
    sizes = sorted({size for size in SIZES if size < arguments.messages} | {arguments.messages})
    tables: dict[str, dict[int, dict[str, Figures]]] = {}
    with tempfile.TemporaryDirectory(prefix="specd-chat-") as directory_name:
        directory = Path(directory_name)
        if "sqlite" in kinds:
            base = f"sqlite:///{directory / 'base.db'}"

            def copy(size: int) -> str:
                return f"sqlite:///{shutil.copy(directory / 'base.db', directory / f'{size}.db')}"

            tables["SQLite"] = run(base, copy, sizes, names, arguments.seconds, directory)
        if "postgresql" in kinds:
            with running_postgres(port=POSTGRES_PORT, core=1) as prefix:
                base = create_database(prefix, "base")

                def template(size: int) -> str:
                    with connect(prefix) as connection:
                        connection.execute(f'CREATE DATABASE "m{size}" TEMPLATE base'.encode())
                    return f"{prefix}m{size}"

                tables["PostgreSQL"] = run(
                    base, template, sizes, names, arguments.seconds, directory
                )
    for database, table in tables.items():
        print(figures_table(database, table[sizes[-1]], sizes[-1]) + "\n")
        print(flatness_table(database, table) + "\n")
    write_json(arguments.out, figures=tables)
    return 0


def run(
    base: str,
    copy: Callable[[int], str],
    sizes: Sequence[int],
    names: Sequence[str],
    seconds: int,
    directory: Path,
) -> dict[int, dict[str, Figures]]:
    """Each size on a copy of one founded realm; all operations only on the largest."""
    upgrade(base, "chat")
    stage = found(base)
    tables = {}
    for size in sizes:
        began = time.monotonic()
        url = copy(size)
        fill(url, stage, size)
        print(f"{size:,} messages loaded in {time.monotonic() - began:.0f} s", file=sys.stderr)
        with serve(url, directory) as server:
            check(server, stage, size)
            wanted = names if size == sizes[-1] else [name for name in names if name in FLAT]
            tables[size] = measure(server, stage, wanted, seconds)
    return tables


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
    for name in FLAT:
        if name in tables[sizes[0]]:
            times = [tables[size][name]["p50_ms"] for size in sizes]
            cells = " | ".join(f"{it:.2f}" for it in times)
            lines.append(f"| {name} | {cells} | {times[-1] / times[0]:.2f} x |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
