"""python -m benchmarks.register: the snapshot of a large organization, on both databases.

The organization has a thousand users, 200 channels, a million messages of which the reader has not
read the newest 20,000, and 11,000 topics. It prints the duration of `POST /register` with the
options of each client, in sequential requests, with the CPU time and the bytes.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import httpx
import orjson
from sqlalchemy import text

from benchmarks.chat.databases import TITLES, databases, filled_for
from benchmarks.chat.measures import Figures, serve
from benchmarks.chat.realm import RECENT, Stage
from benchmarks.load.charts import draw_chart
from benchmarks.load.checkout import HERE, add_beside
from benchmarks.load.figures import beside_table, write_json
from benchmarks.load.processes import Server
from specd.db import Database

GOAL_MS = 150
PATH = "/api/v1/register"
FETCHED = [
    *("realm", "presence", "subscription", "message", "starred_messages", "update_message_flags"),
    *("muted_topics", "realm_user", "realm_user_groups", "user_settings", "realm_emoji"),
]
CLIENTS: Mapping[str, Mapping[str, object]] = {
    "everything, for a phone": {
        "apply_markdown": True,
        "client_gravatar": False,
        "slim_presence": True,
        "idle_queue_timeout": "mobile",
        "client_capabilities": {"notification_settings_null": True, "empty_topic_name": True},
    },
    "a terminal, with subscribers": {
        "fetch_event_types": FETCHED,
        "include_subscribers": True,
    },
    "a bot": {"event_types": ["message"], "narrow": []},
}
COLUMNS = {"p50_ms": "p50 ms", "p95_ms": "p95 ms", "cpu_ms": "CPU ms", "kilobytes": "kB"}


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.register", description=__doc__)
    parser.add_argument("--requests", type=int, default=40)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--database", action="append", choices=list(TITLES))
    add_beside(parser)
    parser.add_argument("--out", type=Path, default=Path("var/benchmark-register.json"))
    return parser.parse_args()


def leave_unread(url: str, stage: Stage, messages: int) -> None:
    """Make the reader's newest messages unread."""
    database = Database(url, lock_timeout_s=60)
    unread = text(
        "UPDATE user_message SET flags = 0 WHERE message_id > :recent AND user_id ="
        ' (SELECT id FROM "user" WHERE delivery_email = :email)'
    )
    facts = {"recent": messages - RECENT, "email": stage.email}
    try:
        database.run(lambda session: session.execute(unread, facts))
        database.run(lambda session: session.execute(text("ANALYZE")))
    finally:
        database.dispose()


def check(server: Server, stage: Stage) -> None:
    """Assert that the response contains the complete state."""
    auth = (stage.email, stage.api_key)
    snapshot = httpx.post(server.url + PATH, auth=auth, timeout=120).json()
    assert len(snapshot["realm_users"]) == 1_000
    assert len(snapshot["streams"]) == 200
    assert snapshot["unread_msgs"]["count"] == RECENT
    assert len(snapshot["unread_msgs"]["streams"]) > 10_000


def measure(
    servers: Mapping[str, Server], stage: Stage, requests: int
) -> dict[str, dict[str, Figures]]:
    """Return the wall-clock milliseconds, CPU milliseconds and kilobytes of a request, by server
    and kind of client. Servers take turns.
    """
    measured: dict[str, dict[str, Figures]] = {name: {} for name in servers}
    for client, form in CLIENTS.items():
        for name, server in servers.items():
            measured[name][client] = measure_client(server, stage, form, requests)
    return measured


def measure_client(
    server: Server, stage: Stage, form: Mapping[str, object], requests: int
) -> Figures:
    sent = {key: orjson.dumps(value).decode() for key, value in form.items()}
    with httpx.Client(
        base_url=server.url, auth=(stage.email, stage.api_key), timeout=120
    ) as client:
        client.post(PATH, data=sent).raise_for_status()
        before, times, size = server.cpu_seconds(), [], 0
        for _ in range(requests):
            began = time.perf_counter()
            answer = client.post(PATH, data=sent)
            times.append((time.perf_counter() - began) * 1000)
            answer.raise_for_status()
            size = len(answer.content)
    return {
        "p50_ms": statistics.median(times),
        "p95_ms": statistics.quantiles(times, n=20)[-1],
        "cpu_ms": (server.cpu_seconds() - before) * 1000 / requests,
        "kilobytes": size / 1000,
    }


def table(name: str, measured: Mapping[str, Figures]) -> str:
    lines = [
        f"| {name} | {' | '.join(COLUMNS.values())} |",
        "|---|---:|---:|---:|---:|",
    ]
    for client, row in measured.items():
        cells = (f"{row[key]:,.0f}" for key in COLUMNS)
        lines.append(f"| {client} | {' | '.join(cells)} |")
    return "\n".join(lines)


def run(kind: str, directory: Path, arguments: argparse.Namespace) -> dict[str, dict[str, Figures]]:
    """Measure on one kind of database. Return the figures by the name of the checkout."""
    messages = arguments.messages
    with ExitStack() as stack:
        where = stack.enter_context(databases(kind, directory, stays=False))
        stage, urls = filled_for(where, directory, arguments.beside, messages)
        servers = {}
        for checkout, url in urls.items():
            leave_unread(url, stage, messages)
            server = stack.enter_context(serve(url, directory, checkout))
            check(server, stage)
            servers[checkout.name] = server
        return measure(servers, stage, arguments.requests)


def main() -> int:
    arguments = read_arguments()
    tables: dict[str, dict[str, dict[str, Figures]]] = {}
    with tempfile.TemporaryDirectory(prefix="specd-register-") as directory:
        for kind in arguments.database or list(TITLES):
            tables[TITLES[kind]] = run(kind, Path(directory), arguments)
    shown = [table(name, measured[HERE.name]) for name, measured in tables.items()]
    print("\n\n".join(shown), end="\n\n")
    if other := arguments.beside and arguments.beside.name:
        shown = []
        for name, measured in tables.items():
            rows = {it: (row, measured[HERE.name][it]) for it, row in measured[other].items()}
            shown.append(beside_table(f"{name}, {other} and now", rows, COLUMNS))
        print("\n\n".join(shown), end="\n\n")
    draw_chart("register", "\n\n".join(shown), arguments.out.with_suffix(".svg"))
    write_json(arguments.out, figures=tables)
    ours = [row["p50_ms"] for each in tables.values() for row in each[HERE.name].values()]
    print(f"The goal is a p50 of {GOAL_MS} ms at most; the slowest is {max(ours):.0f} ms.")
    return 0 if max(ours) <= GOAL_MS else 1


if __name__ == "__main__":
    sys.exit(main())
