"""python -m benchmarks.capacity: the cost of each activity of users and shops for PostgreSQL and
the servers, and the resulting cost of an hour of 1,000 users and 100,000 open invoices.
docs/scale.md uses these figures to state when a second installation is required.
"""

import argparse
import asyncio
import itertools
import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlencode

from benchmarks.chat import realm
from benchmarks.chat.operations import API
from benchmarks.load.figures import write_json
from benchmarks.load.paced import Connection, Work, flood, to_bytes
from benchmarks.load.processes import TICKS_PER_SECOND, Server, free_port
from benchmarks.payment.contestants import prepare_ours
from benchmarks.payment.postgres import connect, create_database, running_postgres
from benchmarks.payment.stock import stock_invoices
from benchmarks.soak.__main__ import serve
from benchmarks.soak.turns import Shop, headers_of, requests_of
from benchmarks.watcher.__main__ import furnish
from specd import _logs as logs
from specd._db.migrate import upgrade
from specd.db import Database

CONNECTIONS = 4


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one operation: milliseconds of CPU time, and bytes of write-ahead log."""

    database_ms: float
    server_ms: float
    log_bytes: float


PERSON_HOUR: Mapping[str, float] = {
    "register": 0.5,
    "presence": 60,
    "send": 6,
    "event": 6 * 30,
    "history": 20,
    "flag": 30,
}
"""How often a person with an open client does each operation in an hour. A message goes to 100
subscribers, 30 of whom have an open client.
"""
INVOICE_LIFE: Mapping[str, float] = {"create": 1, "get": 30, "cancel": 1}
"""A checkout page that is open for five minutes polls every ten seconds."""


class Costs:
    """Measures the two services on one PostgreSQL."""

    def __init__(self, server: Server, prefix: str, seconds: float) -> None:
        self._server, self._prefix, self._seconds = server, prefix, seconds
        with connect(prefix) as connection:
            query = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'"
            (pid,) = connection.execute(query).fetchone() or (0,)
        self._postmaster = int(_stat(pid)[1])

    async def of(self, work: Work) -> Cost:
        """Repeat the work for some time. Return the cost of one repetition."""
        await flood(
            self._server.port, work, seconds=min(0.5, self._seconds), connections=CONNECTIONS
        )
        database, server, log = self._database_s(), self._server.cpu_seconds(), self._log()
        rate = await flood(self._server.port, work, seconds=self._seconds, connections=CONNECTIONS)
        count = rate * self._seconds
        return Cost(
            (self._database_s() - database) * 1000 / count,
            (self._server.cpu_seconds() - server) * 1000 / count,
            (self._log() - log) / count,
        )

    def _database_s(self) -> float:
        """Return the CPU time of all PostgreSQL processes, including ended ones."""
        ticks = 0
        for path in Path("/proc").glob("[0-9]*"):
            try:
                fields = _stat(int(path.name))
            except OSError:
                continue
            if int(path.name) == self._postmaster:
                ticks += sum(map(int, fields[11:15]))
            elif int(fields[1]) == self._postmaster:
                ticks += int(fields[11]) + int(fields[12])
        return ticks / TICKS_PER_SECOND

    def _log(self) -> int:
        with connect(self._prefix) as connection:
            query = "SELECT pg_current_wal_insert_lsn() - '0/0'"
            (position,) = connection.execute(query).fetchone() or (0,)
        return int(position)


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


async def chat(costs: Costs, stage: realm.Stage, port: int) -> dict[str, Cost]:
    """Return the cost of each operation of a person."""
    connection, headers = Connection(port), headers_of(stage)
    wanted = urlencode({"event_types": '["message"]'})
    register = to_bytes("POST", f"{API}/register", wanted, headers)
    queue = json.loads(await connection.ask(register))["queue_id"]
    (send,) = requests_of(stage, "send")
    await connection.ask(send)
    events = urlencode({"queue_id": queue, "last_event_id": -1, "dont_block": "true"})
    everything = to_bytes("POST", f"{API}/register", "", headers)
    presence = urlencode({"status": "active", "ping_only": "false", "new_user_input": "true"})
    requests = {
        "presence": to_bytes("POST", f"{API}/users/me/presence", presence, headers),
        "event": to_bytes("GET", f"{API}/events?{events}", headers=headers),
        "history": requests_of(stage, "messages")[0],
        "send": send,
    }
    found = {name: await costs.of(_asking(request)) for name, request in requests.items()}
    add, remove = requests_of(stage, "one flag")
    turns = itertools.cycle((add, remove))
    found["flag"] = await costs.of(lambda connection: connection.ask(next(turns)))
    found["register"] = await costs.of(_asking(everything))  # last, because queues remain
    connection.close()
    return found


async def payment(costs: Costs, bearer: str, port: int) -> dict[str, Cost]:
    """Return the cost of each operation on an invoice."""
    shop, connection, numbers = Shop(bearer), Connection(port), itertools.count()
    made: list[str] = []

    async def create(connection: Connection) -> None:
        answer = await connection.ask(shop.create(f"capacity-{next(numbers)}"))
        made.append(json.loads(answer)["id"])

    async def cancel(connection: Connection) -> None:
        await create(connection)
        await connection.ask(shop.cancel(made.pop()))

    created = await costs.of(create)
    both = await costs.of(cancel)
    canceled = Cost(
        both.database_ms - created.database_ms,
        both.server_ms - created.server_ms,
        both.log_bytes - created.log_bytes,
    )
    got = await costs.of(_asking(shop.get(made[0])))
    connection.close()
    return {"create": created, "get": got, "cancel": canceled}


def _asking(request: bytes) -> Work:
    return lambda connection: connection.ask(request)


def table(title: str, found: Mapping[str, Cost], often: Mapping[str, float]) -> str:
    lines = [
        f"| {title} | times | PostgreSQL, ms | server, ms | log, KiB |",
        "|---|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {name} | {times:g} | {found[name].database_ms:.2f} | {found[name].server_ms:.2f}"
        f" | {found[name].log_bytes / 1024:.1f} |"
        for name, times in often.items()
    ]
    whole = total(found, often)
    lines.append(
        f"| all | | {whole.database_ms:,.0f} | {whole.server_ms:,.0f}"
        f" | {whole.log_bytes / 1024:,.0f} |"
    )
    return "\n".join(lines)


def total(found: Mapping[str, Cost], often: Mapping[str, float]) -> Cost:
    """Return the total cost."""

    def summed(part: Callable[[Cost], float]) -> float:
        return sum(part(found[name]) * times for name, times in often.items())

    return Cost(
        summed(lambda cost: cost.database_ms),
        summed(lambda cost: cost.server_ms),
        summed(lambda cost: cost.log_bytes),
    )


def stored_bytes(url: str, prefix: str, count: int) -> float:
    """Return the size on disk of an open invoice, including its indexes."""
    database = Database(url)
    first = database.run(furnish)
    database.dispose()
    with connect(prefix, "payment") as connection:
        size = "SELECT pg_database_size('payment')"
        before = connection.execute(size).fetchone()
        stock_invoices(url, like=first, count=count)
        after = connection.execute(size).fetchone()
    assert before is not None
    assert after is not None
    return float(after[0] - before[0]) / count


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.capacity", description=__doc__)
    parser.add_argument("--seconds", type=float, default=10, help="for each figure")
    parser.add_argument("--messages", type=int, default=100_000, help="that are there before")
    parser.add_argument("--invoices", type=int, default=100_000, help="whose size is measured")
    parser.add_argument("--out", type=Path, default=Path("var/benchmark-capacity.json"))
    asked = parser.parse_args()
    logs.configure("warning")
    with (
        tempfile.TemporaryDirectory(prefix="specd-capacity-") as name,
        running_postgres(port=free_port(), core=None) as prefix,
    ):
        urls = {it: create_database(prefix, it) for it in ("chat", "payment")}
        upgrade(urls["chat"], "chat")
        stage = realm.found(urls["chat"])
        realm.fill(urls["chat"], stage, asked.messages)
        bearer = prepare_ours(urls["payment"])
        with serve(urls, Path(name), 1) as server:
            costs = Costs(server, prefix, asked.seconds)
            people = asyncio.run(chat(costs, stage, server.port))
            shops = asyncio.run(payment(costs, bearer, server.port))
        stored = stored_bytes(urls["payment"], prefix, asked.invoices)
    hour = total(people, PERSON_HOUR)
    print(table("a person's hour", people, PERSON_HOUR))
    print(
        f"\n1,000 people: {hour.database_ms / 3600:.2f} cores of PostgreSQL,"
        f" {hour.server_ms / 3600:.2f} of specd, {hour.log_bytes * 1000 / 2**30:.2f} GiB of log\n"
    )
    print(table("an invoice's life", shops, INVOICE_LIFE))
    life = total(shops, INVOICE_LIFE)
    print(
        f"\n100,000 invoices an hour: {life.database_ms / 36:.2f} cores of PostgreSQL,"
        f" {life.server_ms / 36:.2f} of specd; 100,000 open ones:"
        f" {stored * 100_000 / 2**20:,.0f} MiB"
    )
    figures = {
        kind: {name: asdict(cost) for name, cost in found.items()}
        for kind, found in (("chat", people), ("payment", shops))
    }
    write_json(asked.out, costs=figures, stored_bytes=stored)
    return 0


if __name__ == "__main__":
    sys.exit(main())
