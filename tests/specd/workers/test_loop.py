"""The loop runs steps while there is work, survives failing steps, and stops between steps."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from specd._workers import loop
from specd._workers.loop import WorkerPool
from specd.errors import DatabaseUnavailable
from specd.workers import Worker

BACK_OFF_S = 60
ROOT = Path(__file__).parents[3]


def wait_for(event: threading.Event) -> None:
    assert event.wait(10), "not set within 10 s"


def test_steps_repeat_immediately_while_there_is_work() -> None:
    work = [True, True, True, False]
    done = threading.Event()

    def try_one() -> bool:
        more = work.pop(0)
        if not work:
            done.set()
        return more

    pool = WorkerPool()
    pool.start(Worker("counting", try_one, poll_s=3600))
    wait_for(done)
    pool.stop()
    assert work == []


def test_failing_step_is_retried_without_affecting_others() -> None:
    failures = [ValueError("first"), KeyError("second")]
    recovered = threading.Event()

    def try_one() -> bool:
        if failures:
            raise failures.pop(0)
        recovered.set()
        return False

    pool = WorkerPool()
    pool.start(Worker("stumbling", try_one, poll_s=3600))
    wait_for(recovered)
    pool.stop()
    assert not pool.failed


def test_stop_interrupts_the_pause_but_not_the_step_and_closes_once() -> None:
    in_step, finish = threading.Event(), threading.Event()
    told: list[str] = []

    def try_one() -> bool:
        in_step.set()
        wait_for(finish)
        told.append("step finished")
        return True

    pool = WorkerPool()
    pool.start(Worker("slow", try_one, poll_s=3600, close=lambda: told.append("closed")))
    pool.start(Worker("idle", lambda: False, poll_s=3600, close=lambda: told.append("idle closed")))
    wait_for(in_step)
    stopper = threading.Thread(target=pool.stop)
    stopper.start()
    wait_for(pool.stopping)
    finish.set()
    stopper.join(10)
    assert not stopper.is_alive()
    assert sorted(told) == ["closed", "idle closed", "step finished"]


def test_stop_does_not_wait_for_a_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "_back_off", lambda _: BACK_OFF_S)
    failed = threading.Event()

    def try_one() -> bool:
        failed.set()
        raise OSError("always")

    pool = WorkerPool()
    pool.start(Worker("hopeless", try_one, poll_s=3600))
    wait_for(failed)
    began = time.monotonic()
    pool.stop()
    assert time.monotonic() - began < BACK_OFF_S


@pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities on Linux only")
def test_back_off_ends_when_the_database_returns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loop, "_pause_s", lambda state: 3600.0)
    failed, recovered = threading.Event(), threading.Event()

    def try_one() -> bool:
        if not failed.is_set():
            failed.set()
            raise DatabaseUnavailable()
        recovered.set()
        return False

    pool = WorkerPool()
    pool.start(Worker("waiting", try_one, poll_s=3600))
    wait_for(failed)
    deadline = time.monotonic() + 10
    while not recovered.wait(0.01) and time.monotonic() < deadline:
        pool.wake()  # repeatedly, because the pause may not have begun
    assert recovered.is_set()
    pool.stop()


def test_niceness_applies_to_one_worker() -> None:
    seen: dict[str, int] = {}
    both = threading.Barrier(3)

    def watch(name: str) -> bool:
        seen[name] = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
        both.wait(10)
        return False

    usual = os.getpriority(os.PRIO_PROCESS, 0)
    pool = WorkerPool()
    pool.start(Worker("nice", lambda: watch("nice"), poll_s=60, niceness=usual + 1))
    pool.start(Worker("plain", lambda: watch("plain"), poll_s=60))
    both.wait(10)
    pool.stop()
    assert seen == {"nice": usual + 1, "plain": usual}
    assert os.getpriority(os.PRIO_PROCESS, 0) == usual


def test_worker_can_start_another() -> None:
    pool = WorkerPool()
    started = threading.Event()

    def second() -> bool:
        started.set()
        return False

    def first() -> bool:
        if not started.is_set():
            pool.start(Worker("second", second, poll_s=3600))
        return False

    pool.start(Worker("first", first, poll_s=3600))
    wait_for(started)
    pool.stop()


PROGRAM = """
import sys
from specd import _logs as logs
from specd._workers.loop import WorkerPool, Worker

logs.configure("info")

def step():
    print("step begins", flush=True)
    sys.stdin.readline()
    print("step ends", flush=True)
    if {dies}:
        raise SystemExit
    return False

def close():
    print("closed", flush=True)

pool = WorkerPool()
pool.run_until_signal([Worker("reading", step, poll_s=3600, close=close)])
print("failed" if pool.failed else "fine", flush=True)
"""


@contextmanager
def program(*, dies: bool = False) -> "Iterator[subprocess.Popen[str]]":
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(dies=dies)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_signal_lets_the_step_finish() -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        with program() as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "step begins\n"
            process.send_signal(number)
            out, _ = process.communicate("go on\n", timeout=10)
            assert out.splitlines() == ["step ends", "closed", "fine"]
            assert process.returncode == 0


def test_second_signal_ends_the_process_during_a_step() -> None:
    with program() as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "step begins\n"
        deadline = time.monotonic() + 10
        while process.poll() is None and time.monotonic() < deadline:
            process.send_signal(signal.SIGTERM)
            time.sleep(0.05)
        assert process.returncode == -signal.SIGTERM


def test_worker_that_dies_of_a_bug_ends_the_process() -> None:
    with program(dies=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "step begins\n"
        out, _ = process.communicate("go on\n", timeout=10)
        assert out.splitlines() == ["step ends", "failed"]


def test_repeated_failure_has_few_tracebacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 200 failures at one place and one at another, the log has two tracebacks, a line for each
    power of two, and at the end their number and the last traceback.
    """
    monkeypatch.setattr(loop, "_back_off", lambda _: 0.0)
    tries = count(1)
    done = threading.Event()

    def step() -> bool:
        number = next(tries)
        if number == 50:
            raise KeyError(number)
        if number <= 201:
            raise ValueError(number)
        done.set()
        return False

    with capture_logs() as lines:
        pool = WorkerPool()
        pool.start(Worker("outbox", step, poll_s=60))
        wait_for(done)
        pool.stop()
    failed = [line for line in lines if line["event"] == "worker_step_failed"]
    assert [line["attempt"] for line in failed] == [1, 2, 4, 8, 16, 32, 50, 64, 128]
    assert [line["attempt"] for line in failed if line["exc_info"]] == [1, 50]
    assert all(line["worker"] == "outbox" for line in failed)
    assert failed[0]["error"].startswith("ValueError test_loop.py:")
    (recovered,) = [line for line in lines if line["event"] == "worker_step_recovered"]
    assert recovered["attempts"] == 201
    assert isinstance(recovered["exc_info"], ValueError)
