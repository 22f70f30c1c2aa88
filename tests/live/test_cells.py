"""The files of docs/deploy/cluster for two cells: HAProxy in front of two installations with
separate databases.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from demo.seed import XPUB
from tests.live.cells import Router, find_programs
from tests.live.running_server import ROOT, RunningServer
from tests.support import warm

PASSWORD = "four score and seven"


class Cell:
    """One installation: its server, an organization and a project."""

    def __init__(self, name: str, folder: Path, organization: str) -> None:
        self.name, self.organization, self.host = name, organization, f"pay-{name}.example"
        self._folder = folder
        folder.mkdir(mode=0o700)
        self.server = RunningServer(
            folder,
            {
                "SPECD_PUBLIC_URL": f"https://{self.host}",
                "SPECD_TRUSTED_PROXIES": "127.0.0.1",
                "SPECD_CHAIN_RPC_URLS": "31337=http://127.0.0.1:9",
            },
            application="app",
        )
        self._specd("migrate")
        made = self._specd(
            "chat", "create-realm", "--name", name, "--host", organization, "--owner-email",
            f"owner@{organization}", "--owner-name", "Owner", "--owner-password-file", "-",
            typed=f"{PASSWORD}\n",
        )  # fmt: skip
        self.owner = (f"owner@{organization}", str(made["api_key"]))
        project = self._specd("payment", "create-project", "--name", name, "--xpub", XPUB)
        made = self._specd("payment", "create-key", "--project", project["project_id"])
        self.key = str(made["key"])
        self._specd(
            "payment", "create-method", "--project", project["project_id"], "--id", f"tusd-{name}",
            "--chain-id", "31337", "--token", f"0x{'22' * 20}", "--symbol", "TUSD",
            "--confirmations", "1",
        )  # fmt: skip

    @property
    def public_part(self) -> str:
        return self.key.split("_")[2]

    def _specd(self, *words: str, typed: str = "") -> dict[str, Any]:
        plain = {k: v for k, v in os.environ.items() if not k.startswith("SPECD_")}
        done = warm.run(
            [sys.executable, "-m", "specd._cli.main", *words, "--json"], cwd=ROOT, input=typed,
            env={**plain, "PYTHONPATH": str(ROOT), "SPECD_DATA_DIR": str(self._folder)},
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return answer


@dataclass(frozen=True)
class Site:
    router: Router
    one: Cell
    two: Cell

    def methods_of(self, cell: Cell, host: str) -> list[str]:
        answer = self.router.get(
            "/v1/payment-methods", host, headers={"Authorization": f"Bearer {cell.key}"}
        )
        assert answer.status_code == 200, answer.text
        return [method["id"] for method in answer.json()["methods"]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    find_programs("haproxy")
    folder = tmp_path_factory.mktemp("cells")
    one = Cell("one", folder / "one", "acme.example")
    two = Cell("two", folder / "two", "globex.example")
    router = Router(
        folder / "router",
        {cell.name: cell.server.port for cell in (one, two)},
        keys=[
            ("0a1b2c3d one", f"{one.public_part} one"),
            ("4e5f6071 two", f"{two.public_part} two"),
        ],
    )
    hosts = router.hosts.read_text()
    for cell in (one, two):
        assert f"{cell.organization} {cell.name}" in hosts
        assert f"{cell.host} {cell.name}" in hosts
    with ExitStack() as stack:
        for each in (one.server, two.server, router):
            stack.enter_context(each)
        yield Site(router, one, two)


def test_an_organization_is_found_by_its_host(site: Site) -> None:
    for cell in (site.one, site.two):
        for host in (cell.organization, f"{cell.organization.upper()}:443"):
            told = site.router.get("/api/v1/users/me", host, auth=cell.owner)
            assert told.status_code == 200, told.text
            assert told.json()["email"] == cell.owner[0]


def test_an_owner_is_nobody_in_the_other_cell(site: Site) -> None:
    told = site.router.get("/api/v1/users/me", site.two.organization, auth=site.one.owner)
    assert told.status_code == 401


def test_a_project_is_found_by_the_public_part_of_its_key(site: Site) -> None:
    for host in (site.one.host, site.two.host, "pay.example"):
        assert site.methods_of(site.one, host) == ["tusd-one"]
        assert site.methods_of(site.two, host) == ["tusd-two"]


def test_pages_of_a_cell_are_found_by_its_public_host(site: Site) -> None:
    for cell in (site.one, site.two):
        assert site.router.get("/dashboard", cell.host).status_code in (200, 302, 303)


def test_whoever_is_on_no_map_is_refused_by_the_service_itself(site: Site) -> None:
    unknown = {"Authorization": f"Bearer prk_test_ffffffff_{'x' * 43}"}
    told = site.router.get("/v1/payment-methods", "pay.example", headers=unknown)
    assert (told.status_code, told.json()["code"]) == (401, "unauthorized")
    told = site.router.get("/api/v1/users/me", "nobody.example", auth=site.one.owner)
    assert (told.status_code, told.json()["result"]) == (404, "error")


def test_the_switch_of_a_project_is_one_line_on_the_socket(site: Site) -> None:
    part = site.two.public_part
    site.router.ask(f"set map {site.router.keys} {part} one")
    headers = {"Authorization": f"Bearer {site.two.key}"}
    try:
        told = site.router.get("/v1/payment-methods", "pay.example", headers=headers)
        assert told.status_code == 401
    finally:
        site.router.ask(f"set map {site.router.keys} {part} two")
    assert site.methods_of(site.two, "pay.example") == ["tusd-two"]


def test_a_cell_that_is_away_takes_nobody_else_along(site: Site) -> None:
    theirs = [f"two/{machine}" for machine in ("a", "b")]
    for server in theirs:
        site.router.ask(f"disable server {server}")
    try:
        told = site.router.get("/api/v1/users/me", site.two.organization, auth=site.two.owner)
        assert (told.status_code, told.headers["Retry-After"]) == (503, "2")
        assert site.methods_of(site.one, "pay.example") == ["tusd-one"]
    finally:
        for server in theirs:
            site.router.ask(f"enable server {server}")
