"""The loop of every worker: run steps until there is nothing to do, pause, and repeat.

A step is one unit of work that happens completely or not at all, so a worker can be killed at any
time. After SIGTERM or SIGINT, every worker finishes its step. A second signal ends the process
immediately.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import structlog
from structlog.typing import FilteringBoundLogger
from tenacity import (
    RetryCallState,
    RetryError,
    Retrying,
    stop_when_event_set,
    wait_random_exponential,
)

from specd import _tracing as tracing
from specd._db.errors import DatabaseUnavailable

LONGEST_BACK_OFF_S = 10.0
LONGEST_OUTAGE_PAUSE_S = 2.0
"""The longest pause while the database is unavailable. Steps then fail immediately and cost
nothing.
"""
MAX_PLACES = 20
"""The maximum number of places of failure whose tracebacks are logged until a step succeeds."""
STUCK_S = 300.0
"""A longer step is stuck, because everything that a step waits for has a shorter time limit."""
STUCK_FRAMES = 20
"""The number of stack frames that are logged for a stuck step."""
SIGNALS = frozenset({signal.SIGTERM, signal.SIGINT})


@dataclass(frozen=True, slots=True)
class Worker:
    """A background job: a loop in its own thread, which `specd worker` runs.

    `try_one()` does one step and returns whether there was something to do. If so, it is called
    again immediately, otherwise after `poll_s` seconds. A step that raises is logged and tried
    again after a growing pause. A process can be killed at any time, and several processes can run
    the same job, so a step must be one transaction that locks its rows.

    `close()` runs once after the last step, for example to release a lease. On Linux, `niceness` (0
    to 19) gives the thread a lower priority than requests. A step that takes longer than
    `longest_s` is reported as stuck. So is a job whose `silent_s()` is greater than `longest_s`: it
    returns the seconds since the job's own threads last responded.
    """

    name: str
    try_one: Callable[[], bool]
    poll_s: float
    close: Callable[[], None] = lambda: None
    niceness: int = 0
    longest_s: float = STUCK_S
    silent_s: Callable[[], float] = lambda: 0.0


class WorkerPool:
    """The workers of one process, each in its own thread. They stop together."""

    def __init__(self) -> None:
        self.stopping = threading.Event()
        self._returned = threading.Condition()
        self._returns = 0
        self.failed = False
        self.failing: set[str] = set()
        """Names of workers whose last step failed."""
        self._threads: list[threading.Thread] = []
        self._steps: dict[int, tuple[Worker, float]] = {}
        """Thread of a worker -> the worker, and the start time of its current step, or infinity
        between steps.
        """
        self._told: set[int] = set()
        self._log = structlog.get_logger("workers")

    def start(self, worker: Worker) -> None:
        """Run `worker` in its own thread. The step of a running worker may call this."""
        thread = threading.Thread(target=self._run, args=(worker,), name=worker.name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def wake(self) -> None:
        """End the pauses of all workers after failed steps."""
        with self._returned:
            self._returns += 1
            self._returned.notify_all()

    def notice_stuck(self) -> set[str]:
        """Return the names of workers that are stuck, and log each once, with its stack. A worker
        that was started by another worker counts as that worker: its name begins with that worker's
        name and a colon.
        """
        now, stuck = time.monotonic(), set()
        for thread, (worker, began) in list(self._steps.items()):
            for_s = max(now - began, worker.silent_s())
            if for_s <= worker.longest_s:
                self._told.discard(thread)
                continue
            stuck.add(worker.name.partition(":")[0])
            if thread not in self._told:
                self._told.add(thread)
                frame = sys._current_frames().get(thread)
                where = traceback.format_stack(frame)[-STUCK_FRAMES:] if frame else []
                self._log.error(
                    "worker_stuck", worker=worker.name, for_s=round(for_s), stack="".join(where)
                )
        return stuck

    def stop(self) -> None:
        """Stop all workers, and wait until they have finished their steps."""
        self._begin_to_stop()
        while self._threads:
            self._threads.pop().join()

    def run_until_signal(self, workers: list[Worker]) -> None:
        """Run `workers` until SIGTERM or SIGINT. Main thread only.

        The signals are blocked in all threads and received here by `sigwait`, so a signal handler
        never interrupts a step or the lock of an Event.
        """
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            for worker in workers:
                self.start(worker)
            received = signal.sigwait(SIGNALS)
            self._begin_to_stop()
            self._log.info("workers_stopping", signal=signal.Signals(received).name)
        finally:
            self._begin_to_stop()
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self.stop()
        self._log.info("workers_stopped")

    def _begin_to_stop(self) -> None:
        self.stopping.set()
        self.wake()

    def _pause(self, seconds: float) -> None:
        """Pause after a failed step, unless the pool is woken."""
        with self._returned:
            seen = self._returns
            self._returned.wait_for(
                lambda: self._returns != seen or self.stopping.is_set(), seconds
            )

    def _run(self, worker: Worker) -> None:
        if worker.niceness and sys.platform == "linux":
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), worker.niceness)
        self._log.info("worker_started", worker=worker.name)
        try:
            self._loop(worker)
            worker.close()
            self._steps.pop(threading.get_ident(), None)
        except BaseException:
            # A failing step is not raised here, so this is a bug. A pool without this worker must
            # not continue.
            self._log.exception("worker_died", worker=worker.name)
            self.failed = True
            if not self.stopping.is_set():
                os.kill(os.getpid(), signal.SIGTERM)

    def _loop(self, worker: Worker) -> None:
        failures = _Failures(self._log.bind(worker=worker.name))
        retrying = Retrying(
            wait=_pause_s,
            stop=stop_when_event_set(self.stopping),
            sleep=self._pause,
            before_sleep=partial(self._note_failure, worker, failures),
        )
        thread = threading.get_ident()
        self._steps[thread] = worker, math.inf

        def try_one() -> bool:
            self._steps[thread] = worker, time.monotonic()
            try:
                return worker.try_one()
            finally:
                self._steps[thread] = worker, math.inf

        step = tracing.traced(worker.name, try_one)
        while not self.stopping.is_set():
            try:
                more = retrying(step)
            except RetryError:  # the last step failed and the pool is stopping
                return
            self.failing.discard(worker.name)
            failures.end()
            if not more:
                self.stopping.wait(worker.poll_s)

    def _note_failure(self, worker: Worker, failures: _Failures, state: RetryCallState) -> None:
        self.failing.add(worker.name)
        problem = state.outcome.exception() if state.outcome else None
        # An outage is already logged once.
        if problem is not None and not isinstance(problem, DatabaseUnavailable):
            failures.note(problem, round(state.upcoming_sleep, 2))


class _Failures:
    """Logs the failures of a step that is repeated, perhaps for days. The first failure at each
    place is logged with its traceback. The others are counted, and the 2nd, 4th, 8th, ... failure
    is logged. When the step succeeds, the number of failures and the last traceback are logged.
    """

    def __init__(self, log: FilteringBoundLogger) -> None:
        self._log = log
        self._seen: set[str] = set()
        self._count = 0
        self._last: BaseException | None = None

    def note(self, problem: BaseException, pause_s: float) -> None:
        """Note one failure."""
        self._count += 1
        self._last = problem
        place = _place_of(problem)
        is_new = place not in self._seen and len(self._seen) < MAX_PLACES
        if is_new:
            self._seen.add(place)
        if is_new or self._count.bit_count() == 1:
            self._log.warning(
                "worker_step_failed",
                attempt=self._count,
                pause_s=pause_s,
                error=place,
                exc_info=problem if is_new else None,
            )

    def end(self) -> None:
        """Log a recovery, if the step had failed more than once, and start again."""
        if self._count > 1:
            self._log.warning("worker_step_recovered", attempts=self._count, exc_info=self._last)
        if self._count:
            self._seen.clear()
            self._count, self._last = 0, None


def _place_of(problem: BaseException) -> str:
    """Return the class of an error and the line that raised it, such as `ValueError
    outbox.py:7`.
    """
    kind, at = type(problem).__name__, problem.__traceback__
    if at is None:
        return kind
    while at.tb_next is not None:
        at = at.tb_next
    return f"{kind} {os.path.basename(at.tb_frame.f_code.co_filename)}:{at.tb_lineno}"


_back_off = wait_random_exponential(multiplier=0.5, max=LONGEST_BACK_OFF_S)


def _pause_s(state: RetryCallState) -> float:
    """Return the seconds until a step that failed is tried again."""
    pause_s = _back_off(state)
    problem = state.outcome.exception() if state.outcome else None
    if isinstance(problem, DatabaseUnavailable):
        return min(pause_s, LONGEST_OUTAGE_PAUSE_S)
    return pause_s
