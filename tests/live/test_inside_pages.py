"""The sample proxies hide the internal pages in every spelling of their paths."""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import httpx
import pytest

from tests.live.deployment import DEPLOY, Caddy, Nginx
from tests.live.running_server import free_port

INSIDE = ("/metrics", "/healthz", "/readyz")
LEFT_OUT = {"stats socket", "option httpchk", "http-check expect"}
SHOWN = ("/user_avatars/1/0123456789abcdef.png", "/user_uploads/1/2/a.png")
"""Avatars and files."""


class Upstream(BaseHTTPRequestHandler):
    """A server that decodes paths as generously as possible."""

    def do_GET(self) -> None:
        path = "/" + unquote(unquote(self.path.partition("?")[0])).strip("/")
        body = b"inside" if path in INSIDE else b"outside"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


@pytest.fixture
def upstream() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def spellings() -> Iterator[str]:
    for path in INSIDE:
        yield path
        yield f"{path}?a=b"
        yield "/" + "".join(f"%{ord(each):02x}" for each in path[1:])
        for at in range(1, len(path)):
            yield f"{path[:at]}%{ord(path[at]):02X}{path[at + 1 :]}"
            yield f"{path[:at]}%{ord(path[at]):02x}{path[at + 1 :]}"


def haproxy_of(sample: str, folder: Path, upstream: str, port: int) -> Path:
    """Return the sample's frontend and its servers, without TLS and without parts that need other
    programs.
    """
    text = (DEPLOY / "cluster" / sample).read_text().partition("listen primary")[0]
    lines, is_plain = [], False
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["frontend"]:
            is_plain = words[1] == "http"
        if words[:1] == ["bind"] and is_plain:  # it redirects to the other frontend
            line = f"  bind 127.0.0.1:{free_port()}"
        elif words[:1] == ["bind"]:
            line = f"  bind 127.0.0.1:{port}"
        elif words[:1] == ["server"]:
            line = f"  server {words[1]} {upstream}"
        elif " ".join(words[:2]) in LEFT_OUT or words[:1] == ["default-server"]:
            continue
        lines.append(line.replace("/etc/haproxy", str(DEPLOY / "cluster")))
    path = folder / sample
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("sample", ["haproxy.cfg", "cells.cfg"])
def test_haproxy_shows_no_inside_page(sample: str, upstream: str, tmp_path: Path) -> None:
    program = shutil.which("haproxy", path="/usr/sbin:/usr/local/sbin:/usr/bin")
    if program is None:
        pytest.skip("haproxy: not installed")
    port = free_port()
    file = haproxy_of(sample, tmp_path, upstream, port)
    process = subprocess.Popen([program, "-db", "-f", str(file)])
    try:
        until_it_listens(port)
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
            require_outside(client)
            for path in SHOWN:
                assert client.get(path).text == "outside", path
    finally:
        process.terminate()
        process.wait(20)


@pytest.mark.parametrize("proxy", [Nginx, Caddy])
def test_proxy_shows_no_inside_page_and_pictures(
    proxy: type[Nginx] | type[Caddy], upstream: str, tmp_path: Path
) -> None:
    with proxy(tmp_path / "proxy", (upstream, upstream)) as running, running.client() as client:
        require_outside(client)
        for path in SHOWN:
            assert client.get(path).text == "outside", path


def require_outside(client: httpx.Client) -> None:
    tried = 0
    for path in spellings():
        target = path.encode()
        request = client.build_request("GET", "/")
        request.url = request.url.copy_with(raw_path=target)
        answer = client.send(request)
        assert request.url.raw_path == target
        assert answer.status_code == 404, path
        assert answer.text != "inside", path
        tried += 1
    assert tried > 40


def until_it_listens(port: int) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            assert time.monotonic() < deadline, "it does not listen"
            time.sleep(0.05)
