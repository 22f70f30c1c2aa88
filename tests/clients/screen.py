"""A program in a pseudo-terminal, for a test in another process. Run by the Python with pyte:

    python screen.py COLUMNS LINES PROGRAM [ARGUMENT ...]

Each line of its input is a JSON object: `{"type": "text"}` types the text, and `{"until":
"pattern", "seconds": 5}` reads the program's output until a line of the screen matches, or until
the time is over. For each it prints a line of JSON: `{"screen": ["a line", ...], "found": true,
"seconds": 0.3}`.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import struct
import sys
import termios
import time

import pyte  # type: ignore[import-not-found]

LOOK_S = 0.02


class Terminal:
    """The program and its screen."""

    def __init__(self, columns: int, lines: int, argv: list[str]) -> None:
        self._screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self._screen)
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", COLUMNS=str(columns), LINES=str(lines))
            os.execvp(argv[0], argv)
        size = struct.pack("HHHH", lines, columns, 0, 0)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, size)

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def read(self, until: str | None, seconds: float) -> bool:
        """Read the program's output. Return whether a line matches."""
        ends = time.monotonic() + seconds
        while True:
            readable, _, _ = select.select([self._fd], [], [], LOOK_S)
            if readable:
                try:
                    self._stream.feed(os.read(self._fd, 65536))
                except OSError:  # the program has ended
                    return self._shows(until)
            elif self._shows(until):
                return True
            if time.monotonic() > ends:
                return self._shows(until)

    def lines(self) -> list[str]:
        return [line.rstrip() for line in self._screen.display]

    def _shows(self, pattern: str | None) -> bool:
        return pattern is not None and any(re.search(pattern, line) for line in self.lines())


def main() -> None:
    columns, lines, *argv = sys.argv[1:]
    terminal = Terminal(int(columns), int(lines), argv)
    for line in sys.stdin:
        asked = json.loads(line)
        began = time.monotonic()
        if "type" in asked:
            terminal.type(asked["type"])
        found = terminal.read(asked.get("until"), asked.get("seconds", 0.2))
        answer = {
            "screen": terminal.lines(),
            "found": found,
            "seconds": round(time.monotonic() - began, 3),
        }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
