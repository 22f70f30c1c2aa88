"""The loop of every worker: step until there is nothing to do, pause, go on.

A step is one unit of work that happens completely or not at all, so a worker may be killed at any
instant. SIGTERM and SIGINT let every step finish; a second signal ends the process at once.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import structlog
from tenacity import (
    RetryCallState,
    RetryError,
    Retrying,
    stop_when_event_set,
    wait_random_exponential,
)

import tracing
from models.clock import Clock
from models.errors import DatabaseUnavailable

LONGEST_BACK_OFF_S = 10.0
LONGEST_OUTAGE_PAUSE_S = 2.0
"""The longest pause without a database: a step then fails at once and costs nothing."""
NICENESS = 10
"""Of workers whose work is less urgent than answers."""
SIGNALS = frozenset({signal.SIGTERM, signal.SIGINT})


@dataclass(frozen=True, slots=True)
class Worker:
    """One loop: `try_one` is called until it returns False, then again after `poll_s` seconds.

    A step that raises is logged and tried again after a growing, jittered pause; it never ends the
    worker. `close` runs once after the last step, e.g. to release a lease. `niceness` (0 to 19) is
    that of its thread, where threads have priorities (Linux).
    """

    name: str
    try_one: Callable[[], bool]
    poll_s: float
    close: Callable[[], None] = lambda: None
    niceness: int = 0


class PeriodicStep:
    """A step that is repeated until it finds nothing more to do, and again after `every`."""

    def __init__(self, clock: Clock, every: timedelta, step: Callable[[], bool]) -> None:
        self._clock, self._every, self._step = clock, every, step
        self._due_at = clock.now()

    def try_one(self) -> bool:
        """Do the step if it is due; return whether it found something to do."""
        if self._clock.now() < self._due_at:
            return False
        if self._step():
            return True
        self._due_at = self._clock.now() + self._every
        return False


class WorkerPool:
    """The workers of one process, a thread each. They stop together."""

    def __init__(self) -> None:
        self.stopping = threading.Event()
        self._returned = threading.Condition()
        self._returns = 0
        self.failed = False
        self.failing: set[str] = set()
        """Names of workers whose last step failed."""
        self._threads: list[threading.Thread] = []
        self._log = structlog.get_logger("workers")

    def start(self, worker: Worker) -> None:
        """Run `worker` in a thread of its own; also from a running worker's step."""
        thread = threading.Thread(target=self._run, args=(worker,), name=worker.name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def wake(self) -> None:
        """End the pauses of all workers after failed steps."""
        with self._returned:
            self._returns += 1
            self._returned.notify_all()

    def stop(self) -> None:
        """Let every worker finish its step, and wait until all have."""
        self._begin_to_stop()
        while self._threads:
            self._threads.pop().join()

    def run_until_signal(self, workers: list[Worker]) -> None:
        """Run `workers` until SIGTERM or SIGINT. Main thread only.

        The signals are blocked in all threads and collected here by `sigwait`: no handler ever
        interrupts a step or an Event's lock.
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
        except BaseException:
            # A failing step does not get here: this is a bug, and half a pool must not go on.
            self._log.exception("worker_died", worker=worker.name)
            self.failed = True
            if not self.stopping.is_set():
                os.kill(os.getpid(), signal.SIGTERM)

    def _loop(self, worker: Worker) -> None:
        retrying = Retrying(
            wait=_pause_s,
            stop=stop_when_event_set(self.stopping),
            sleep=self._pause,
            before_sleep=partial(self._log_failure, worker),
        )
        step = tracing.traced(worker.name, worker.try_one)
        while not self.stopping.is_set():
            try:
                more = retrying(step)
            except RetryError:  # the last step failed and the pool is stopping
                return
            self.failing.discard(worker.name)
            if not more:
                self.stopping.wait(worker.poll_s)

    def _log_failure(self, worker: Worker, state: RetryCallState) -> None:
        self.failing.add(worker.name)
        problem = state.outcome.exception() if state.outcome else None
        if isinstance(problem, DatabaseUnavailable):
            return  # the log has one line for the outage
        self._log.warning(
            "worker_step_failed",
            worker=worker.name,
            attempt=state.attempt_number,
            pause_s=round(state.upcoming_sleep, 2),
            exc_info=problem,
        )


_back_off = wait_random_exponential(multiplier=0.5, max=LONGEST_BACK_OFF_S)


def _pause_s(state: RetryCallState) -> float:
    """Return the seconds until a step that failed is tried again."""
    pause_s = _back_off(state)
    problem = state.outcome.exception() if state.outcome else None
    if isinstance(problem, DatabaseUnavailable):
        return min(pause_s, LONGEST_OUTAGE_PAUSE_S)
    return pause_s
