"""A client in a separate process, whose output is read by lines."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path
from types import TracebackType


class Program:
    """A running program and the lines that it has printed. A context manager."""

    def __init__(self, argv: list[str], directory: Path, **environment: str) -> None:
        self.lines: list[str] = []
        self._argv, self._directory = argv, directory
        self._environment = {**os.environ, "HOME": str(directory), **environment}

    def __enter__(self) -> Program:
        self._process = subprocess.Popen(
            self._argv,
            cwd=self._directory,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait(10)
        self._reader.join()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            for line in output:
                self.lines.append(line)
