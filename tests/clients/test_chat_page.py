"""The client in docs/chat.md works unchanged, except the account and the server's URL."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from tests.clients.conftest import Office
from tests.clients.programs import Program
from tests.live import guides

SITE = "http://127.0.0.1:8080"


def test_example_prints_the_messages_of_the_next_lines(
    office: Office, soon: Callable[[Callable[[], Any]], Any]
) -> None:
    hamlet, blocks = office.cast.hamlet, guides.blocks()
    (code,) = [block for block in blocks if block.startswith("import zulip")]
    (lines,) = [block for block in blocks if block.startswith('curl -s -u "$EMAIL:$API_KEY"')]
    enter, say = lines.split("\n\n")
    for placeholder, value in ((SITE, office.url), ("EMAIL", hamlet.email)):
        assert placeholder in code
        code = code.replace(placeholder, value)
    code = code.replace("API_KEY", hamlet.key)
    environment = {**os.environ, "EMAIL": hamlet.email, "API_KEY": hamlet.key}

    def paste(line: str) -> None:
        here = line.replace(SITE, office.url)
        subprocess.run(["bash", "-c", here], env=environment, check=True, capture_output=True)

    paste(enter)
    listening = [sys.executable, "-W", "ignore", "-c", code]
    with Program(listening, office.directory, PYTHONUNBUFFERED="1") as client:

        def has_heard() -> bool:  # the program does not report when it listens
            paste(say)
            return bool(client.lines)

        assert soon(has_heard)
        assert set(client.lines) == {"Who is there?\n"}
