"""Keeps several child processes running until a signal stops all of them."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from demo.stopping import stop_with_parent

LONGEST_DELAY_S = 15.0
STEADY_AFTER_S = 30.0
LAST_LINES = 15

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Program:
    """A child process to keep running. Its output goes to the file `log`."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str]
    log: Path


@dataclass(slots=True)
class Supervisor:
    """Starts programs, restarts those that end, and stops all of them."""

    say: Say
    first_delay_s: float = 0.5
    grace_s: float = 12.0
    children: dict[str, asyncio.subprocess.Process] = field(default_factory=dict)
    keepers: list[asyncio.Task[None]] = field(default_factory=list)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    async def start(self, program: Program) -> None:
        """Start a program and keep it running."""
        process = await self._spawn(program)
        self.keepers.append(asyncio.create_task(self._keep(program, process)))

    async def until(self, what: str, probe: Callable[[], Awaitable[bool]], within_s: float) -> bool:
        """Wait until `probe` is true. Return False if stopped before, or if the time is over."""
        deadline = _now() + within_s
        while not await probe():
            if await self._stopped_within(0.1):
                return False
            if _now() > deadline:
                self.say(f"{what} did not happen within {within_s:g} seconds.")
                return False
        return not self.stopping.is_set()

    async def stop(self) -> None:
        """Stop all children: send SIGTERM, wait, then send SIGKILL to their process groups."""
        self.stopping.set()
        for name, process in reversed(self.children.items()):
            self.say(f"stopping {name}")
            with suppress(ProcessLookupError):
                process.terminate()
        _, unfinished = (
            await asyncio.wait(self.keepers, timeout=self.grace_s) if self.keepers else ((), ())
        )
        for name, process in self.children.items():
            if process.returncode is None:
                self.say(f"{name} did not stop within {self.grace_s:g} seconds: killed")
            # Also if the child has ended, because its own children must not survive.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        if unfinished:
            await asyncio.wait(unfinished)
        self.say("all stopped")

    async def _keep(self, program: Program, process: asyncio.subprocess.Process) -> None:
        delay = self.first_delay_s
        while True:
            started = _now()
            code = await process.wait()
            if self.stopping.is_set():
                return
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            delay = self.first_delay_s if _now() - started > STEADY_AFTER_S else delay
            self.say(
                f"{program.name} died ({_reason(code)}); again in {delay:g} s. Its last words:"
            )
            for line in _last_lines(program.log):
                self.say(f"    {line}")
            if await self._stopped_within(delay):
                return
            delay = min(delay * 2, LONGEST_DELAY_S)
            process = await self._spawn(program)
            if self.stopping.is_set():  # set meanwhile, so stop() has missed this process
                process.terminate()

    async def _spawn(self, program: Program) -> asyncio.subprocess.Process:
        program.log.parent.mkdir(parents=True, exist_ok=True)
        with program.log.open("ab") as log:
            # In a new session, Ctrl-C reaches only the supervisor, which then stops the children.
            process = await asyncio.create_subprocess_exec(
                *program.argv,
                env=program.env,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=stop_with_parent,
            )
        self.children[program.name] = process
        return process

    async def _stopped_within(self, timeout_s: float) -> bool:
        with suppress(TimeoutError):
            await asyncio.wait_for(self.stopping.wait(), timeout_s)
        return self.stopping.is_set()


async def supervise(body: Callable[[Supervisor], Awaitable[int]], supervisor: Supervisor) -> int:
    """Run `body`, and stop all children when it returns or raises. SIGINT, SIGTERM and SIGHUP set
    `stopping`.
    """
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, supervisor.stopping.set)
    try:
        return await body(supervisor)
    finally:
        await supervisor.stop()


def print_status(line: str) -> None:
    """Print a status line on standard error, separate from the output for scripts."""
    print(f"specd: {line}", file=sys.stderr, flush=True)


def _now() -> float:
    return asyncio.get_running_loop().time()


def _reason(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"


def _last_lines(log: Path) -> list[str]:
    with log.open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - 8192))
        return file.read().decode(errors="replace").splitlines()[-LAST_LINES:]
