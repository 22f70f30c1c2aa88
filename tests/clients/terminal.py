"""zulip-term in a pseudo-terminal, with keys as input and a screen as output."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from pathlib import Path
from types import TracebackType

from tests.clients.installed import TERMINAL, TERMINAL_PYTHON

COLUMNS, LINES = 110, 20
START_S = 60.0
_SCREEN = Path(__file__).with_name("screen.py")


class Terminal:
    """A running zulip-term with a configuration file. A context manager."""

    def __init__(self, configuration: Path, *, lines: int = LINES) -> None:
        self.lines: list[str] = []
        self._argv = [
            *(str(TERMINAL_PYTHON), str(_SCREEN), str(COLUMNS), str(lines)),
            *(str(TERMINAL), "--config-file", str(configuration), "--theme", "zt_dark"),
        ]
        # Under a test, zulip-term would not start the thread that polls for events.
        names = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
        self._environment = {**names, "HOME": str(configuration.parent)}

    def __enter__(self) -> Terminal:
        self._process = subprocess.Popen(
            self._argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=self._environment["HOME"],
            env=self._environment,
            text=True,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closing its input ends the program and its terminal, which ends zulip-term."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)

    def begin(self, until: str) -> None:
        """Read until a line matches.

        Start again if zulip-term failed at an early event: it polls before it has its
        `_update_pipe`.
        """
        self.read(f"{until}|_update_pipe", seconds=START_S)
        if self.shows("_update_pipe"):
            self.__exit__(None, None, None)
            self.__enter__()
            self.read(until, seconds=START_S)

    def type(self, text: str, *, until: str | None = None, seconds: float = 0.5) -> float:
        """Type, and read as `read` does."""
        return self._ask({"type": text, "until": until, "seconds": seconds})

    def read(self, until: str, *, seconds: float = 10.0) -> float:
        """Read until a line matches and return the elapsed seconds.

        Raise AssertionError with the screen if no line matches in time.
        """
        return self._ask({"until": until, "seconds": seconds})

    def lose(self, pattern: str, *, seconds: float = 10.0) -> None:
        """Read until no line matches, because the screen is drawn piece by piece."""
        deadline = time.monotonic() + seconds
        while self.shows(pattern):
            assert time.monotonic() < deadline, "\n".join(self.lines)
            self._ask({"until": None, "seconds": 0.1})

    def shows(self, pattern: str) -> bool:
        """Return whether a line of the last screen matches."""
        return any(re.search(pattern, line) for line in self.lines)

    def _ask(self, question: dict[str, object]) -> float:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(question) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        self.lines = answer["screen"]
        assert answer["found"] or question["until"] is None, (
            f"{question} is not on the screen:\n" + "\n".join(self.lines)
        )
        return float(answer["seconds"])
