"""The proxies of docs/deploy without servers: documented errors, and no secret in a log."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
import pytest
import yaml

from pages import chat, payment
from tests.live.cluster import haproxy
from tests.live.deployment import DEPLOY, NAME, Caddy, Nginx, has_ipv6
from tests.live.running_server import ROOT, free_port, until_it_answers
from tests.pages.stage import Stage
from tests.support.service_pages import build_pages

TOKEN = "tok_3vJx0f9Zr6Qm8sLkW2yBn5cT1uHd7eGaPiXoRzEw4"
SECRET = f"/checkout/{TOKEN}"
SERVICES = {
    "/v1/invoices": ("payment", "ErrorResponse"),
    "/api/v1/messages": ("chat", None),
    "/api/v1/user_uploads": ("chat", None),
}
"""Service and schema of errors, by path."""
INSIDE = ("/metrics", "/healthz", "/readyz", "/%6detrics", "/%72eadyz", "/health%7a", "/other")


@dataclass(frozen=True)
class Proxy:
    """A running proxy in front of two servers that are down."""

    port: int
    plain_port: int
    six: str
    folder: Path

    def ask(self, path: str, *, host: str = "127.0.0.1", plain: bool = False) -> httpx.Response:
        port = self.plain_port if plain else self.port
        with httpx.Client(verify=False, trust_env=False, timeout=20) as client:
            request = client.build_request(
                "GET", f"{'http' if plain else 'https'}://{host}:{port}{path}",
                headers={"Host": NAME}, extensions={"sni_hostname": NAME},
            )  # fmt: skip
            return client.send(request)

    @cached_property
    def answers(self) -> dict[str, httpx.Response]:
        """Return the response to each path of clients.

        The requests are simultaneous, because HAProxy waits a second before each of three retries.
        """
        paths = [*page_paths(), *SERVICES, SECRET]
        with ThreadPoolExecutor(len(paths)) as clients:
            return dict(zip(paths, clients.map(self.ask, paths), strict=True))


@contextmanager
def running_nginx(folder: Path) -> Iterator[Proxy]:
    away = (f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}")
    with Nginx(folder, away) as nginx:
        yield Proxy(nginx.port, nginx.plain_port, nginx.six, folder)


@contextmanager
def running_caddy(folder: Path) -> Iterator[Proxy]:
    away = (f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}")
    with Caddy(folder, away) as caddy:
        yield Proxy(caddy.port, caddy.plain_port, caddy.six, folder)


@contextmanager
def running_haproxy(folder: Path) -> Iterator[Proxy]:
    program = shutil.which("haproxy", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        pytest.skip("haproxy: not installed")
    folder.mkdir()
    port, plain_port = free_port(), free_port()
    six = "[::1]" if has_ipv6() else "127.0.0.66"
    haproxy.write_certificate(folder / "specd.pem", f"DNS:{NAME}")
    text = haproxy.replaced(
        (DEPLOY / "cluster" / "haproxy.cfg").read_text(),
        ("bind :443,[::]:443", f"bind 127.0.0.1:{port},{six}:{port}"),
        ("bind :80,[::]:80", f"bind 127.0.0.1:{plain_port},{six}:{plain_port}"),
        ("/etc/haproxy/specd.pem", str(folder / "specd.pem")),
        ("bind 127.0.0.1:5000", f"bind 127.0.0.1:{free_port()}"),
        ("/run/haproxy/admin.sock", str(folder / "admin.sock")),
        ("10.0.0.11:8080", f"127.0.0.1:{free_port()}"),
        ("10.0.0.12:8080", f"127.0.0.1:{free_port()}"),
        *((f"10.0.0.2{number}:5432 check", f"127.0.0.1:{free_port()}") for number in (1, 2, 3)),
    )
    (folder / "haproxy.cfg").write_text(text)
    with (folder / "out.log").open("wb") as log:
        process = subprocess.Popen(
            [program, "-db", "-f", str(folder / "haproxy.cfg")], stdout=log, stderr=log
        )
    try:
        until_it_answers(f"http://127.0.0.1:{plain_port}/", process, folder / "out.log")
        yield Proxy(port, plain_port, six, folder)
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture(scope="module", params=[running_nginx, running_haproxy, running_caddy])
def proxy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    with request.param(tmp_path_factory.mktemp("away") / "proxy") as running:
        yield running


@cache
def document(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "specs" / f"{name}.yaml").read_text())
    return loaded


def page_paths() -> list[str]:
    """Return a path of each of our pages, except the redirect of `/`."""
    clients = build_pages(documents={}, own=[chat.add_chat, payment.add_dashboard])
    maps = (Stage().build().url_map, clients.url_map)
    rules = {rule.rule for each in maps for rule in each.iter_rules()} - {"/"}
    paths = {re.sub(r"<.*", "x", rule) for rule in rules}
    return sorted(paths | {"/user_uploads/1/x", "/user_avatars/1/x", "/exports/1/x"})


@pytest.mark.parametrize("path", SERVICES)
def test_each_service_answers_in_its_form(proxy: Proxy, path: str) -> None:
    service, schema = SERVICES[path]
    answer = proxy.answers[path]
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
    assert answer.headers["Content-Type"] == "application/json"
    if schema:
        components = {"components": document(service)["components"]}
        whole = {"$ref": f"#/components/schemas/{schema}", **components}
        jsonschema_rs.validate(whole, answer.json())
    else:
        assert answer.json().keys() == {"result", "msg", "code"}
        assert (answer.json()["result"], answer.json()["code"]) == ("error", "DATABASE_UNAVAILABLE")


def test_each_path_of_clients_is_passed_on(proxy: Proxy) -> None:
    paths = page_paths()
    assert len(paths) >= 8
    for path in paths:
        answer = proxy.answers[path]
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2"), path


@pytest.mark.parametrize("path", INSIDE)
def test_paths_for_inside_do_not_exist(proxy: Proxy, path: str) -> None:
    assert proxy.ask(path).status_code == 404


def test_ipv6_is_served_alike(proxy: Proxy) -> None:
    if proxy.six != "[::1]":
        pytest.skip("NOT TESTED: this machine has no IPv6; another address stands for it")
    assert proxy.ask("/v1/invoices", host="[::1]").status_code == 503
    assert proxy.ask("/docs", host="[::1]", plain=True).status_code == 301


def test_key_in_clear_is_refused_and_a_browser_is_redirected(proxy: Proxy) -> None:
    for path in ("/v1/invoices", "/api/v1/messages"):
        assert proxy.ask(path, plain=True).status_code == 403
    moved = proxy.ask("/checkout/x", plain=True)
    assert (moved.status_code, moved.headers["Location"]) == (301, f"https://{NAME}/checkout/x")


def test_no_log_has_the_secret_of_a_path(proxy: Proxy) -> None:
    assert proxy.answers[SECRET].status_code == 503
    logs = [path for path in proxy.folder.iterdir() if path.suffix == ".log"]
    assert logs
    for path in logs:
        assert TOKEN not in path.read_text()
