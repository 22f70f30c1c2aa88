"""Calls by an SDK in another language: a program that makes one call for each line of its input.

A line is a call of the table as JSON, with the `caller` and the `base_url`. The program prints a
line with `status`, `headers`, `schema` (the class of the record) and `record`, the output of the
SDK's own serializer for the typed object. Data lost by the SDK's types is therefore missing in it.
A line with `failed` contains the reason why the program could not make the call.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.contract.sdk.python.drive import Answer


class Bridge:
    """A driver for `tests.contract.sdk.python.drive`. A record is a dict with the name of the SDK's
    class.
    """

    def __init__(self, program: subprocess.Popen[str], base_url: str) -> None:
        self._program = program
        self._base_url = base_url
        self._schemas: dict[str, type] = {}

    def send(self, call: dict[str, Any], caller: dict[str, Any]) -> Answer:
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        line = {**call, "caller": caller, "base_url": self._base_url}
        self._program.stdin.write(json.dumps(line) + "\n")
        self._program.stdin.flush()
        answer = json.loads(self._program.stdout.readline() or '{"failed": "it ended"}')
        assert "failed" not in answer, f"{call['operation']}: {answer['failed']}"
        headers = {name.lower(): value for name, value in answer["headers"].items()}
        record = answer["record"]
        if isinstance(record, dict):
            record = self.schema(answer["schema"])(record)
        return Answer(answer["status"], headers, record)

    def schema(self, name: str) -> type:
        return self._schemas.setdefault(name, type(name, (dict,), {}))

    def member(self, record: Any, name: str) -> Any:
        return record.get(name)

    def bare(self, value: Any) -> Any:
        return value

    def is_absent(self, record: Any, name: str) -> bool:
        return name not in record


@contextmanager
def bridged(
    command: Sequence[str | Path], base_url: str, environment: Mapping[str, str]
) -> Iterator[Bridge]:
    """Yield the SDK whose program is started by a command."""
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        try:
            yield Bridge(program, base_url)
        finally:
            assert program.stdin is not None
            program.stdin.close()
