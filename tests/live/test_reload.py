"""`specd serve --reload`: valid and invalid edits under load, without a failed request."""

import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import httpx
import pytest

from tests.live.running_server import free_port, until_it_answers
from tests.support.marks import in_all
from tests.support.stranger import PROGRAM, Stranger

PATIENCE_S = 120.0
READERS = 3
HANDLER = "greeter/handlers/greetings.py"
DOCUMENT = "greeter/openapi.yaml"
TABLES = "greeter/models.py"
ERRORS = "greeter/errors.py"


class Reloading:
    """A service with `--reload` in a separate tree."""

    def __init__(self, folder: Path) -> None:
        self.tree = Stranger(folder)
        self.tree.specd("new", "greeter")
        self.tree.specd("migrate")
        self.edit(HANDLER, 'f"Hello {person}"', '"version 0"')
        self.edit(
            HANDLER,
            "from specd import Context\n",
            "from greeter import models as models\nfrom specd import Context\n",
        )
        bind = f"127.0.0.1:{free_port()}"
        self.url = f"http://{bind}/greeter/v1"
        self.log = folder / "server.log"
        with self.log.open("wb") as out:
            self.server = subprocess.Popen(
                self.tree.argv(PROGRAM, "serve", "--reload", "--only", "greeter"),
                cwd=self.tree.path, env={**self.tree.env, "SPECD_BIND": bind},
                stdout=out, stderr=out,
            )  # fmt: skip
        until_it_answers(f"{self.url}/greetings/Ada", self.server, self.log)

    def text(self, name: str) -> str:
        return (self.tree.path / name).read_text()

    def write(self, name: str, text: str) -> None:
        (self.tree.path / name).write_text(text)

    def edit(self, name: str, old: str, new: str) -> None:
        text = self.text(name)
        assert old in text
        self.write(name, text.replace(old, new))

    def greeting(self) -> object:
        return httpx.get(f"{self.url}/greetings/Ada", timeout=PATIENCE_S).json().get("text")

    def mistake(self) -> str:
        """Return the errors about a newer version, or an empty list."""
        answer = httpx.get(f"{self.url}/nothing", timeout=PATIENCE_S)
        assert answer.status_code == 404
        return "".join(each["message"] for each in answer.json().get("details", ()))

    def until(self, holds: Callable[[], bool]) -> float:
        """Wait for the condition, and return the elapsed seconds."""
        began = time.monotonic()
        while not holds():
            assert time.monotonic() - began < PATIENCE_S, self.log.read_text()[-4000:]
            time.sleep(0.02)
        return time.monotonic() - began

    def until_greeting(self, text: str) -> float:
        return self.until(lambda: self.greeting() == text)

    def until_mistake(self, text: str) -> None:
        """Wait until this error is reported, or none if it is empty."""
        self.until(lambda: text in self.mistake() if text else not self.mistake())

    def stop(self) -> None:
        self.server.terminate()
        self.server.wait(20)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reloading]:
    reloading = Reloading(tmp_path_factory.mktemp("reload"))
    yield reloading
    reloading.stop()


@pytest.fixture
def reloading(served: Reloading) -> Iterator[Reloading]:
    """A server with the initial files."""
    files = {name: served.text(name) for name in (HANDLER, DOCUMENT, TABLES, ERRORS)}
    yield served
    for name, text in files.items():
        if served.text(name) != text:
            served.write(name, text)
    if served.server.poll() is None:
        served.until_greeting("version 0")


class Readers:
    """Clients that send requests during a context. `failures` are unexpected responses."""

    def __init__(self, reloading: Reloading) -> None:
        self.failures: list[str] = []
        self.answered = [0] * READERS
        self._url = f"{reloading.url}/greetings/Ada"
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=self._read, args=(n,)) for n in range(READERS)]

    def __enter__(self) -> "Readers":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def _read(self, number: int) -> None:
        with httpx.Client(timeout=PATIENCE_S) as client:
            while not self._stopping.wait(0.01):
                try:
                    answer = client.get(self._url)
                    if not (answer.status_code == 200 and "version" in answer.json()["text"]):
                        self.failures.append(answer.text)
                except httpx.HTTPError as error:
                    self.failures.append(repr(error))
                self.answered[number] += 1


BAD = [
    (HANDLER, lambda text: text + "def broken(:\n", "invalid syntax (greetings.py, line 11)"),
    (HANDLER, lambda text: text.replace("person: str", "who: str"), "takes who, which"),
    (DOCUMENT, lambda text: text.replace("type: string", "type: strong", 1), "person"),
    (DOCUMENT, lambda text: text + "  - [\n", f"{DOCUMENT}:"),
    (TABLES, lambda text: text + "1 / 0\n", "ZeroDivisionError"),
    (ERRORS, lambda text: text + "1 / 0\n", f"{ERRORS}:"),
]
"""File, invalid edit, and the reported error."""


@pytest.mark.parametrize("rounds", [1, in_all(3)])
def test_edits_good_and_bad_fail_no_request(reloading: Reloading, rounds: int) -> None:
    handler, wanted, took = reloading.text(HANDLER), "", []
    with Readers(reloading) as readers:
        for name, spoil, expected in BAD * rounds:
            for _ in range(2):
                # All have the same length, because Python compares whole seconds and lengths.
                wanted = f"version {len(took) % 9 + 1}"
                reloading.write(HANDLER, handler.replace("version 0", wanted))
                took.append(reloading.until_greeting(wanted))
                assert reloading.mistake() == ""
            before = reloading.text(name)
            reloading.write(name, spoil(before))
            reloading.until_mistake(expected)
            assert reloading.greeting() == wanted, "the last good version serves on"
            reloading.write(name, before)
            reloading.until_mistake("")
    print(f"{len(took)} good edits, {sum(readers.answered)} requests")
    print(f"visible after {median(took):.2f} s, at most {max(took):.2f} s")
    assert readers.failures == []
    assert min(readers.answered) >= len(took)
    log = reloading.log.read_text()
    assert "Traceback" in log
    assert "the previous version keeps serving" in log


WAITS = """    pathlib.Path("began").touch()
    while not pathlib.Path("ends").exists():
        time.sleep(0.01)
"""


def test_request_under_way_is_answered_by_the_version_that_took_it(reloading: Reloading) -> None:
    began, ends = (reloading.tree.path / name for name in ("began", "ends"))
    ends.touch()
    source = reloading.text(HANDLER)
    slow = source.replace("    return {", f"{WAITS}    return {{").replace("version 0", "version 1")
    reloading.write(
        HANDLER, slow.replace("from specd", "import pathlib\nimport time\nfrom specd", 1)
    )
    answers: list[object] = []
    reloading.until_greeting("version 1")
    began.unlink()
    ends.unlink()
    asking = _asked(reloading, answers)

    def is_under_way() -> bool:
        nonlocal asking
        if not (
            began.exists() or asking.is_alive()
        ):  # the previous version is still served for a moment
            answers.clear()
            asking = _asked(reloading, answers)
        return began.exists()

    try:
        reloading.until(is_under_way)
        reloading.write(HANDLER, source.replace("version 0", "version 2"))
        reloading.until_greeting("version 2")
        assert asking.is_alive(), "it is still being answered"
    finally:
        ends.touch()
        asking.join()
    assert answers == ["version 1"]


def _asked(reloading: Reloading, answers: list[object]) -> threading.Thread:
    """Return a thread with a request in progress."""
    asking = threading.Thread(target=lambda: answers.append(reloading.greeting()))
    asking.start()
    return asking


def test_ends_with_all_its_processes(reloading: Reloading) -> None:
    # One with the models, and one that serves; the previous version may not have ended yet.
    reloading.until(lambda: len(descendants(reloading.server.pid)) == 2)
    processes = descendants(reloading.server.pid)
    reloading.server.kill()
    reloading.server.wait()
    reloading.until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in processes))


def descendants(pid: int) -> list[int]:
    """Return the descendants of a process."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except FileNotFoundError:
        return []  # it has ended meanwhile
    return [found for child in map(int, children) for found in (child, *descendants(child))]
