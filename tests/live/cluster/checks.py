"""The checks of the rehearsal, by name. Each check prints PASS or FAIL and its figure."""

from __future__ import annotations

import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import httpx

from specd.db import Database
from tests.live.chain_fixture import LocalChain, running_anvil
from tests.live.cluster.campaign import Campaign
from tests.live.cluster.load import Load, timings
from tests.live.cluster.topology import MACHINES, NODES, Cluster, running_cluster, until
from tests.support.copied_tree import CopiedTree
from wsgi import project

TTL_S = 10.0
"""Patroni's value, in patroni.yml."""
WATCHDOG_S = TTL_S - 5
"""Patroni's default: it resets a node this long before another becomes the leader."""
WITHOUT_SUCCESS_S = TTL_S + 5
CUT_S = TTL_S + 10
"""The other nodes query an unreachable primary, each for two seconds, before one replaces it."""
BEFORE_S, AFTER_S = 4.0, 8.0
"""Load before a fault and after the recovery."""
BLACK_HOLE_S = 20.0
DISK_FULL_S = 15.0
ABSENCE_S = 6.0
"""The time in which the loss or return of a database must be detected."""
EVENT_S = 0.02
"""The maximum median time of an event from one machine to the other."""


@dataclass(frozen=True)
class Outcome:
    """The result of a check.

    `faults` are violated expectations; the check has passed if there are none.
    """

    figure: str
    faults: list[str]


Check = Callable[..., Outcome]
"""A check, called with an empty folder and `is_pooled`."""


def _outcome(load: Load, *, without_success_s: float, tries_once: bool = False) -> Outcome:
    faults = load.faults()
    kinds = {
        "invoices": load.invoices,
        "messages": load.messages,
        "scheduled messages": load.scheduled,
    }
    for name, seen in kinds.items():
        if not seen.acknowledged:
            faults.append(f"no {name} were acknowledged")
        if seen.unexpected:
            faults.append(f"{name}: statuses {seen.unexpected}")
        if seen.without_retry_after:
            faults.append(f"{name}: {seen.without_retry_after} times 503 without Retry-After")
        if seen.longest_gap_s > without_success_s:
            faults.append(f"{name}: {seen.longest_gap_s:.1f} s without a success")
        failed = sum(n for s, n in seen.statuses.items() if s not in (200, 201))
        failed += seen.broken.total()
        if tries_once and failed:
            faults.append(f"{name}: {failed} failed: {dict(seen.statuses)}, {dict(seen.broken)}")
    counts = ", ".join(f"{len(seen.acknowledged)} {name}" for name, seen in kinds.items())
    gap = max(seen.longest_gap_s for seen in kinds.values())
    statuses = sum((seen.statuses for seen in kinds.values()), Counter())
    broken = sum((seen.broken for seen in kinds.values()), Counter())
    return Outcome(
        f"{counts}, {len(load.readers[0].message_ids)} events to each of {len(load.readers)}"
        f" readers, {len(load.shop.events)} webhooks, {gap:.1f} s without a success,"
        f" answers {dict(statuses)}, broken {broken.total()}",
        faults,
    )


def under_fault(
    break_it: Callable[[Cluster], None],
    folder: Path,
    is_pooled: bool,
    *,
    without_success_s: float = WITHOUT_SUCCESS_S,
    **options: Any,
) -> Outcome:
    """Break a part of the cluster under load.

    Nothing is lost, and the cluster recovers within seconds. `options` are those of the cluster.
    """
    with _stage(folder, is_pooled, **options) as (cluster, chain):
        with Load(cluster, chain) as load:
            time.sleep(BEFORE_S)
            break_it(cluster)
            until(cluster.takes_writes, "a primary", 90)
            for name in MACHINES:
                cluster.until_ready(name)
            time.sleep(AFTER_S)
        return _outcome(load, without_success_s=without_success_s)


@contextmanager
def _stage(folder: Path, is_pooled: bool, **options: Any) -> Iterator[tuple[Cluster, LocalChain]]:
    """A cluster without limits, with a chain whose blocks both workers read."""
    with running_anvil() as chain:
        settings = {
            "SPECD_RATE_LIMITS": "false",
            "SPECD_CHAIN_RPC_URLS": f"31337={chain.url}",
            "SPECD_CHAIN_POLL_S": "0.5",
            "SPECD_CHAT_SCHEDULED_MESSAGES_PER_USER": "1000000",
            "SPECD_WEBHOOK_NETWORKS": "127.0.0.0/8",
        }
        with running_cluster(folder, is_pooled=is_pooled, settings=settings, **options) as cluster:
            yield cluster, chain


def _kill_primary(cluster: Cluster) -> None:
    node = cluster.leader()
    assert node is not None
    cluster.programs[node].kill()
    until(lambda: cluster.leader() not in (None, node), "another primary")
    cluster.programs[node].start()


def _hang_primary(cluster: Cluster) -> None:
    """The primary hangs until its watchdog resets it.

    This machine has no watchdog, so the check resets it. Patroni 3.0 allows a primary that resumes
    later to become the leader again.
    """
    node = cluster.leader()
    assert node is not None
    cluster.programs[node].send(signal.SIGSTOP)
    time.sleep(WATCHDOG_S)
    cluster.programs[node].kill()
    until(lambda: cluster.leader() not in (None, node), "another primary")
    cluster.programs[node].start()


def _kill_replica(cluster: Cluster) -> None:
    node = cluster.replica()
    cluster.programs[node].kill()
    time.sleep(TTL_S)
    cluster.programs[node].start()


def _kill_replicas(cluster: Cluster) -> None:
    """No commit is on two nodes, so none is acknowledged."""
    replicas = [node for node in NODES if node != cluster.leader()]
    for node in replicas:
        cluster.programs[node].kill()
    time.sleep(TTL_S)
    for node in replicas:
        cluster.programs[node].start()
    until(cluster.has_synchronous, "a synchronous replica")


def _restart(cluster: Cluster, *, name: str, away_s: float) -> None:
    cluster.programs[name].kill()
    time.sleep(away_s)
    cluster.programs[name].start()


def _switch_over(cluster: Cluster) -> None:
    before = cluster.leader()
    cluster.switch_over()
    until(lambda: cluster.leader() not in (None, before), "the new primary")


def _kill_servers(cluster: Cluster) -> None:
    """Kill one process of specd every two seconds, servers and workers of both machines in turn."""
    for number in range(8):
        name = ("serve-a", "worker-a", "serve-b", "worker-b")[number % 4]
        cluster.programs[name].kill()
        cluster.programs[name].start()
        time.sleep(2)


def _cut_primary(cluster: Cluster) -> None:
    """The primary is isolated until another node has replaced it."""
    node = cluster.leader()
    assert node is not None
    with cluster.cut(node):
        until(lambda: cluster.leader() not in (None, node), "another primary")


def _black_hole(cluster: Cluster) -> None:
    with cluster.black_hole():
        time.sleep(BLACK_HOLE_S)


def _forget_connections(cluster: Cluster) -> None:
    """Idle connections leave room at the primary for later ones."""
    before = cluster.backends()
    with cluster.forgotten():
        time.sleep(BLACK_HOLE_S)
    until(lambda: before.isdisjoint(cluster.backends()), "an end of old connections", ABSENCE_S)


def _fill_disk(cluster: Cluster) -> None:
    """The primary cannot write for a while. It may crash, and another node may replace it."""
    node = cluster.leader()
    assert node is not None
    filler = cluster.folder / node / "filler"
    with filler.open("wb", buffering=0) as out, suppress(OSError):
        while True:
            out.write(bytes(65_536))
    time.sleep(DISK_FULL_S)
    filler.unlink()


def _wait(cluster: Cluster) -> None:
    time.sleep(TTL_S)


def rolling_restart(folder: Path, is_pooled: bool) -> Outcome:
    """Each server in turn is stopped by SIGTERM and restarted, with clients that do not retry."""
    with _stage(folder, is_pooled) as (cluster, chain):
        with Load(cluster, chain, tries_once=True, pause_s=0.05) as load:
            time.sleep(BEFORE_S)
            for name in MACHINES:
                _replace(cluster, name)
            time.sleep(AFTER_S)
        return _outcome(load, without_success_s=5, tries_once=True)


def _replace(cluster: Cluster, name: str, tree: Path | None = None) -> None:
    for word in ("serve", "worker"):
        cluster.programs[f"{word}-{name}"].stop(60)
    if tree is None:
        cluster.start_machine(name)
    else:
        cluster.start_machine(name, tree)
    cluster.until_ready(name)
    until(lambda: cluster.balances(name), f"the balancer's trust in machine {name}", 10)


def next_release(folder: Path) -> Path:
    """Return a copy of this release with an additional compatible migration of each service, which
    adds a column to its busiest table.
    """
    tree = CopiedTree(folder)
    for service, table in (("payment", "invoice"), ("chat", "message")):
        versions = tree.path / "models" / "migrations" / service / "versions"
        oldest = max(path.name[:4] for path in versions.glob("[0-9]*_*.py"))
        (versions / f"{int(oldest) + 1:04d}_a_further_column.py").write_text(
            f"""from alembic import op
import sqlalchemy as sa

revision = "{int(oldest) + 1:04d}"
down_revision = oldest = "{oldest}"


def upgrade() -> None:
    op.add_column("{table}", sa.Column("rehearsed", sa.Text, nullable=True, server_default="yes"))
"""
        )
    return tree.path


def upgrade(folder: Path, is_pooled: bool) -> Outcome:
    """Run `specd migrate` of the next release under load, then replace the servers, and restart one
    of this release meanwhile.
    """
    with _stage(folder / "cluster", is_pooled) as (cluster, chain):
        tree = next_release(folder)
        with Load(cluster, chain, tries_once=True, pause_s=0.05) as load:
            time.sleep(BEFORE_S)
            cluster.specd("migrate", tree=tree)
            for name in MACHINES:
                ready = httpx.get(f"http://{MACHINES[name]}:8080/readyz", timeout=5)
                assert ready.status_code == 200, ready.text
            _replace(cluster, "a")
            for name in MACHINES:
                _replace(cluster, name, tree)
            time.sleep(AFTER_S)
        return _outcome(load, without_success_s=5, tries_once=True)


def campaign(folder: Path, is_pooled: bool, *, minutes: float = 60) -> Outcome:
    """Every fault of the network and the database in turn for `minutes`, under a moderate load."""
    with _stage(folder, is_pooled) as (cluster, chain):
        breaks = {
            name: each for name, each in LASTING_FAULTS.items() if is_pooled or name != POOLER
        }
        load = Load(
            cluster, chain, pause_s=0.25, readers=10, read_pause_s=1, schedulers=10, claimants=16
        )
        with load:
            ran = Campaign(cluster, load)
            figure = ran.run(breaks, minutes=minutes)
        outcome = _outcome(load, without_success_s=BLACK_HOLE_S + ABSENCE_S)
    return Outcome(f"{figure}; {outcome.figure}", [*ran.faults, *outcome.faults])


def figures(folder: Path, is_pooled: bool) -> Outcome:
    """Measure the cost of a request and the time of an event from one machine to the other.

    All limits are read from the database on each kind of connection.
    """
    faults = []
    with _stage(folder, is_pooled) as (cluster, chain):
        for service in project.names:
            url = cluster.database_url(service, is_pooled=is_pooled)
            with closing(Database(url)) as database:
                faults += [f"{service}: {each}" for each in database.missing_limits()]
        took = timings(cluster, chain)
    if median(took["event"]) > EVENT_S:
        faults.append("an event takes too long from one machine to the other")
    return Outcome(
        ", ".join(f"{name} p50 {median(each) * 1000:.1f} ms" for name, each in took.items()), faults
    )


POOLER = "pgbouncer-killed"
FAULTS: Mapping[str, Callable[[Cluster], None]] = {
    "primary-killed": _kill_primary,
    "primary-hangs": _hang_primary,
    "replica-killed": _kill_replica,
    "replicas-killed": _kill_replicas,
    "etcd-killed": partial(_restart, name="etcd", away_s=TTL_S * 1.5),
    POOLER: partial(_restart, name="pgbouncer", away_s=2),
    "switchover": _switch_over,
    "servers-killed": _kill_servers,
}
LASTING_FAULTS: Mapping[str, Callable[[Cluster], None]] = {
    **{name: each for name, each in FAULTS.items() if name != "servers-killed"},
    "primary-cut": _cut_primary,
    "black-hole": _black_hole,
    "connections-forgotten": _forget_connections,
}
"""Checks that do not restart processes of specd."""
CHECKS: Mapping[str, Check] = {
    **{name: partial(under_fault, fault) for name, fault in FAULTS.items()},
    "primary-cut": partial(under_fault, _cut_primary, without_success_s=CUT_S),
    "black-hole": partial(under_fault, _black_hole, without_success_s=BLACK_HOLE_S + ABSENCE_S),
    "connections-forgotten": partial(under_fault, _forget_connections, without_success_s=ABSENCE_S),
    "disk-full": partial(
        under_fault, _fill_disk, without_success_s=DISK_FULL_S + TTL_S, has_small_disks=True
    ),
    "clock-off": partial(under_fault, _wait, clocks={"b": "+5s"}, without_success_s=5),
    "campaign": campaign,
    "figures": figures,
    "rolling-restart": rolling_restart,
    "upgrade": upgrade,
}


def run(name: str, folder: Path, *, is_pooled: bool, **options: Any) -> Outcome:
    """Run a check, with its own options, in an empty folder, and stop everything."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    return CHECKS[name](folder, is_pooled, **options)
