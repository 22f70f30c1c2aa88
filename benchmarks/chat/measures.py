"""Starts, loads and checks servers of the chat service."""

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import TypeVar

import httpx

from benchmarks.chat.operations import API, OPERATIONS, Operation, headers
from benchmarks.chat.realm import SECRET, Stage
from benchmarks.load.checkout import HERE, Checkout
from benchmarks.load.processes import Server, free_port
from benchmarks.load.wrk import Load, run_wrk

CROWDED = 16

Figures = dict[str, float]
Key = TypeVar("Key", int, str)
"""How servers differ: by the number of their messages, or by the name of their checkout."""


def serve(url: str, directory: Path, checkout: Checkout = HERE) -> Server:
    """Start a server as in production, with one worker on core 0; wrk and PostgreSQL use core 1."""
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
    return Server(checkout.name, command, port=port, log=log, env=env, core=0, checkout=checkout)


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
    servers: Mapping[Key, Server],
    stage: Stage,
    wanted: Mapping[str, Sequence[Key]],
    seconds: int,
    rounds: int,
) -> dict[Key, dict[str, Figures]]:
    """Return the latency on one connection and requests/s on many, for each server and operation in
    `wanted`. Servers take turns, so that a slow minute of the machine affects all of them equally.
    """
    measured: dict[Key, dict[str, Figures]] = {key: {} for key in servers}
    for name, keys in wanted.items():
        found: dict[Key, list[Figures]] = {key: [] for key in keys}
        for position in range(rounds):
            for turn in range(len(keys)):
                key = keys[(position + turn) % len(keys)]
                found[key].append(measure_once(servers[key], stage, OPERATIONS[name], seconds))
        for key, several in found.items():
            figures = {part: median(one[part] for one in several) for part in several[0]}
            measured[key][name] = figures
            print(
                f"{key:>16} {name:<14}{figures['per_second']:>8,.0f}/s"
                f"  p50 {figures['p50_ms']:.2f} ms, CPU {figures['cpu_us']:,.0f} us",
                file=sys.stderr,
            )
    return measured


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
    """Wait until the requests that an earlier load left in the queue have been processed."""
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
    """Assert that the service reads the messages loaded by SQL like its own."""
    with httpx.Client(
        base_url=server.url + API, auth=(stage.email, stage.api_key), timeout=60
    ) as client:
        topics = client.get(f"/users/me/{stage.hall_id}/topics").json()["topics"]
        assert len(topics) == 10_000, len(topics)
        narrow = '[["channel", "stage"], ["topic", "act"]]'
        window: dict[str, str | int] = {
            "anchor": "oldest",
            "num_before": 0,
            "num_after": 2000,
            "narrow": narrow,
        }
        found_ = client.get("/messages", params=window).json()["messages"]
        assert [m["id"] for m in found_] == list(range(messages - 999, messages + 1))
        flags = {**window, "op": "add", "flag": "collapsed"}
        answer = client.post("/messages/flags/narrow", data=flags).json()
        assert answer["processed_count"] == 1000, answer
        annex = {"subscriptions": '[{"name": "annex"}]'}
        assert client.post("/users/me/subscriptions", data=annex).is_success
