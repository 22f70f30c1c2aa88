"""The loop every worker runs in: step until there is nothing to do, pause, go on. Knows no domain.

A step is one unit of work that either happens wholly or not at all, so a worker may be killed at
any instant. SIGTERM and SIGINT let every step finish; a second signal ends the process at once.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import structlog
from tenacity import (
    RetryCallState,
    RetryError,
    Retrying,
    stop_when_event_set,
    wait_random_exponential,
)

from models.clock import Clock
from models.errors import DatabaseUnavailable

LONGEST_BACK_OFF_S = 10.0
LONGEST_OUTAGE_PAUSE_S = 2.0
"""A step that fails at once costs nothing, and the first that succeeds wakes all others."""
NICENESS = 10
"""Of workers whose work nobody waits for as for an answer."""
SIGNALS = frozenset({signal.SIGTERM, signal.SIGINT})


def _nothing() -> None:
    """A worker that holds nothing has nothing to give back."""


@dataclass(frozen=True, slots=True)
class Worker:
    """One loop: `try_one` is called until it returns False, then again after `poll_s` seconds.

    A step that raises is logged and tried again after a growing, jittered pause; it never ends the
    worker. `close` runs once after the last step, e.g. to give up a lease. `niceness` (0 to 19):
    how willingly its thread lets others have the processor, where threads have priorities (Linux).
    """

    name: str
    try_one: Callable[[], bool]
    poll_s: float
    close: Callable[[], None] = _nothing
    niceness: int = 0


class PeriodicStep:
    """A step for now and then: until it finds nothing more to do, and again after `every`."""

    def __init__(self, clock: Clock, every: timedelta, step: Callable[[], bool]) -> None:
        self._clock, self._every, self._step = clock, every, step
        self._due_at = clock.now()

    def try_one(self) -> bool:
        """The step, when it is due; False when it is not or found nothing to do."""
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
        self._threads: list[threading.Thread] = []
        self._log = structlog.get_logger("workers")

    def start(self, worker: Worker) -> None:
        """Run `worker` in a thread of its own; also from a running worker's step."""
        thread = threading.Thread(target=self._run, args=(worker,), name=worker.name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def wake(self) -> None:
        """Have every worker that sits out a pause after a failed step try again now."""
        with self._returned:
            self._returns += 1
            self._returned.notify_all()

    def stop(self) -> None:
        """Ask every worker to finish its step, and wait until all have."""
        self._ask_to_stop()
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
            self._ask_to_stop()
            self._log.info("workers_stopping", signal=signal.Signals(received).name)
        finally:
            self._ask_to_stop()
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self.stop()
        self._log.info("workers_stopped")

    def _ask_to_stop(self) -> None:
        self.stopping.set()
        self.wake()

    def _sit_out(self, seconds: float) -> None:
        """A pause after a failed step, until somebody wakes the pool."""
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
            # A failing step does not come here. This is a bug, and half a pool must not go on.
            self._log.exception("worker_died", worker=worker.name)
            self.failed = True
            if not self.stopping.is_set():
                os.kill(os.getpid(), signal.SIGTERM)

    def _loop(self, worker: Worker) -> None:
        patiently = Retrying(
            wait=_pause,
            stop=stop_when_event_set(self.stopping),
            sleep=self._sit_out,
            before_sleep=self._log_failure(worker),
        )
        while not self.stopping.is_set():
            try:
                more = patiently(worker.try_one)
            except RetryError:  # the last step failed and the pool is stopping
                return
            if not more:
                self.stopping.wait(worker.poll_s)

    def _log_failure(self, worker: Worker) -> Callable[[RetryCallState], None]:
        def log(state: RetryCallState) -> None:
            problem = state.outcome.exception() if state.outcome else None
            if isinstance(problem, DatabaseUnavailable):
                return  # the log has one line for the outage, whoever meets it
            self._log.warning(
                "worker_step_failed",
                worker=worker.name,
                attempt=state.attempt_number,
                pause_s=round(state.upcoming_sleep, 2),
                exc_info=problem,
            )

        return log


_back_off = wait_random_exponential(multiplier=0.5, max=LONGEST_BACK_OFF_S)


def _pause(state: RetryCallState) -> float:
    """Seconds until a step that failed is tried again."""
    pause_s = _back_off(state)
    problem = state.outcome.exception() if state.outcome else None
    if isinstance(problem, DatabaseUnavailable):
        return min(pause_s, LONGEST_OUTAGE_PAUSE_S)
    return pause_s
