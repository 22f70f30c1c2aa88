"""The supervisor restarts programs that die and leaves no processes behind."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from demo.supervisor import Program, Supervisor, supervise

ROOT = Path(__file__).parent.parent.parent
SOON_S = 60.0


def is_running(pid: int) -> bool:
    """Return whether the process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def pids_in(file: Path) -> list[int]:
    return [int(word) for word in file.read_text().split()] if file.exists() else []


def shell(tmp_path: Path, script: str) -> Program:
    return Program("child", ["sh", "-c", script], {**os.environ}, tmp_path / "child.log")


def holds(condition: Callable[[], bool]) -> Callable[[], Awaitable[bool]]:
    async def probe() -> bool:
        return condition()

    return probe


def run(body: Callable[[Supervisor], Awaitable[int]], *, grace_s: float = 5.0) -> list[str]:
    """Supervise `body` with short pauses, and return the output of the supervisor."""
    output: list[str] = []
    status = asyncio.run(
        supervise(body, Supervisor(output.append, first_delay_s=0.01, grace_s=grace_s))
    )
    assert status == 0
    return output


def test_program_that_dies_is_restarted_and_its_last_output_shown(tmp_path: Path) -> None:
    pids = tmp_path / "pids"

    async def body(supervisor: Supervisor) -> int:
        await supervisor.start(shell(tmp_path, f"echo $$ >> {pids}; echo alas; exit 3"))
        thrice = holds(lambda: len(pids_in(pids)) >= 3)
        return 0 if await supervisor.until("Three starts", thrice, SOON_S) else 1

    output = run(body)
    assert len(set(pids_in(pids))) >= 3
    assert output[0].startswith("child died (exit status 3); again in 0.01 s")
    assert output[1] == "    alas"
    assert any("again in 0.02 s" in line for line in output), "the pause must grow"


def test_signal_that_ended_a_program_is_reported(tmp_path: Path) -> None:
    async def body(supervisor: Supervisor) -> int:
        await supervisor.start(shell(tmp_path, "kill -9 $$"))
        is_reported = holds(lambda: any("signal SIGKILL" in line for line in output))
        return 0 if await supervisor.until("The news", is_reported, SOON_S) else 1

    output: list[str] = []
    assert asyncio.run(supervise(body, Supervisor(output.append))) == 0


def test_stopping_ends_children_and_grandchildren(tmp_path: Path) -> None:
    pids = tmp_path / "pids"

    async def body(supervisor: Supervisor) -> int:
        script = f"sleep 300 & echo $$ $! > {pids}; wait"
        await supervisor.start(shell(tmp_path, script))
        started = holds(lambda: len(pids_in(pids)) == 2)
        return 0 if await supervisor.until("The start", started, SOON_S) else 1

    output = run(body)
    assert output == ["stopping child", "all stopped"]
    deadline = time.monotonic() + SOON_S
    while any(is_running(pid) for pid in pids_in(pids)):
        assert time.monotonic() < deadline, "a child outlived its supervisor"
        time.sleep(0.01)


def test_children_that_do_not_stop_in_time_are_killed(tmp_path: Path) -> None:
    pids = tmp_path / "pids"

    async def body(supervisor: Supervisor) -> int:
        script = f"trap '' TERM; echo $$ > {pids}; while :; do sleep 0.1; done"
        await supervisor.start(shell(tmp_path, script))
        started = holds(lambda: len(pids_in(pids)) == 1)
        return 0 if await supervisor.until("The start", started, SOON_S) else 1

    output = run(body, grace_s=0.3)
    assert output == [
        "stopping child",
        "child did not stop within 0.3 seconds: killed",
        "all stopped",
    ]
    assert not is_running(pids_in(pids)[0])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_the_wait(tmp_path: Path, number: signal.Signals) -> None:
    async def body(supervisor: Supervisor) -> int:
        await supervisor.start(shell(tmp_path, "exec sleep 300"))
        os.kill(os.getpid(), number)
        assert not await supervisor.until("What never comes", holds(lambda: False), SOON_S)
        return 0

    began = time.monotonic()
    assert run(body) == ["stopping child", "all stopped"]
    assert time.monotonic() - began < SOON_S


def test_wait_times_out(tmp_path: Path) -> None:
    async def body(supervisor: Supervisor) -> int:
        return int(await supervisor.until("The sun", holds(lambda: False), 0.05))

    assert run(body) == ["The sun did not happen within 0.05 seconds.", "all stopped"]


def test_children_end_with_a_killed_supervisor(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    program = f"""
import asyncio, os, pathlib
from demo.supervisor import Program, Supervisor, supervise
async def body(supervisor):
    await supervisor.start(Program(
        "child", ["sh", "-c", "echo $$ > {pids}; exec sleep 300"], dict(os.environ),
        pathlib.Path("{tmp_path}/child.log")))
    await supervisor.stopping.wait()
    return 0
asyncio.run(supervise(body, Supervisor(print)))
"""
    supervisor = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT)
    deadline = time.monotonic() + SOON_S
    while not pids_in(pids):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    supervisor.kill()
    supervisor.wait()
    while is_running(pids_in(pids)[0]):
        assert time.monotonic() < deadline, "the child outlived its supervisor"
        time.sleep(0.01)
