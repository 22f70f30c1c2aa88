"""HAProxy in front of two installations, with cells.cfg and the maps of docs/deploy/cluster."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.live.cluster import haproxy
from tests.live.cluster.topology import until
from tests.live.running_server import free_port

CELLS = ("one", "two")
NOTICES_S = 10.0
"""The time that HAProxy may need to detect a server."""
Changes = Sequence[tuple[str, str]]


def find_programs(*names: str) -> list[str]:
    """Return the paths of programs. Skip the test if one is not installed."""
    found = {
        name: shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin") for name in names
    }
    if missing := [name for name, place in found.items() if place is None]:
        pytest.skip(f"not installed: {', '.join(missing)}")
    return [str(place) for place in found.values()]


class Router:
    """HAProxy with cells.cfg. A context manager.

    `ports` has the server of each cell, `hosts` and `keys` have the replacements in the maps. It
    uses HTTP without TLS if `is_plain`.
    """

    def __init__(
        self,
        folder: Path,
        ports: Mapping[str, int],
        *,
        hosts: Changes = (),
        keys: Changes = (),
        port: int = 0,
        is_plain: bool = False,
    ) -> None:
        [program] = find_programs("haproxy")
        folder.mkdir()
        self._folder, self._port = folder, port or free_port()
        self.socket, self.hosts, self.keys = (
            folder / name for name in ("admin.sock", "hosts.map", "keys.map")
        )
        for path, changes in ((self.hosts, hosts), (self.keys, keys)):
            path.write_text(haproxy.replaced((haproxy.FILES / path.name).read_text(), *changes))
        whole = folder / "specd.pem"
        haproxy.write_certificate(whole, "IP:127.0.0.1")
        tls = "ssl crt /etc/haproxy/specd.pem alpn h2,http/1.1"
        text = haproxy.replaced(
            (haproxy.FILES / "cells.cfg").read_text(),
            (f"bind :443,[::]:443 {tls}", f"bind 127.0.0.1:{self._port} {'' if is_plain else tls}"),
            ("/run/haproxy/admin.sock", str(self.socket)),
            ("/etc/haproxy/", f"{folder}/"),
            *((f"10.0.{number}.1{machine}:8080", f"127.0.0.1:{ports[cell]}")
              for number, cell in enumerate(CELLS, 1) for machine in (1, 2)),
        )  # fmt: skip
        (folder / "haproxy.cfg").write_text(text)
        self._command = [program, "-db", "-f", str(folder / "haproxy.cfg")]
        self._url = f"{'http' if is_plain else 'https'}://127.0.0.1:{self._port}"
        self._trusted = httpx.create_ssl_context(str(whole))

    def __enter__(self) -> Router:
        with (self._folder / "haproxy.log").open("wb") as out:
            self._process = subprocess.Popen(self._command, stdout=out, stderr=out)
        try:
            until(self._are_up, "HAProxy, with the servers of both cells", NOTICES_S)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(20)

    def _are_up(self) -> bool:
        assert self._process.poll() is None, (self._folder / "haproxy.log").read_text()
        try:
            states = haproxy.servers(self.socket)
        except OSError:  # the socket does not exist, or HAProxy does not listen on it yet
            return False
        return all(states[cell, server] == "UP" for cell in CELLS for server in "ab")

    def ask(self, line: str) -> str:
        """Return the response to a line on HAProxy's socket."""
        return haproxy.ask(self.socket, line)

    def switch_command(self, host: str, cell: str) -> str:
        """Return the value of `--switch-command` in docs/moving.md."""
        [socat] = find_programs("socat")
        line = f"set map {self.hosts} {host} {cell}"
        return f'echo "{line}" | {shlex.quote(socat)} - {shlex.quote(str(self.socket))}'

    def get(self, path: str, host: str, **options: Any) -> httpx.Response:
        headers = {"Host": host, **options.pop("headers", {})}
        with httpx.Client(verify=self._trusted, base_url=self._url) as client:
            return client.get(path, headers=headers, timeout=30, **options)
