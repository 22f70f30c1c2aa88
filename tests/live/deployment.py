"""The files of docs/deploy, with replaced addresses of services that this machine does not have."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import httpx
import pytest
import yaml

from tests.live.running_server import ROOT, free_port, until_it_answers

DEPLOY = ROOT / "docs" / "deploy"
NAME = "chat.example"
_VARIABLE = re.compile(r"\$\{(\w+)(?::([?-])([^}]*))?\}")


def environment_of_units(places: Mapping[str, str]) -> dict[str, str]:
    """Return `specd.env` with the lines for several machines. `places` replaces values for this
    machine.

    Each of `places` must be a line of the file.
    """
    lines = (DEPLOY / "specd.env").read_text().splitlines()
    found = dict(
        line.removeprefix("#").split("=", 1)
        for line in lines
        if re.match(r"#?SPECD_\w+=", line) and "MAIL" not in line
    )
    return placed(found, places)


def environment_of_containers(
    service: str, given: Mapping[str, str], places: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment of a service in compose.yaml for an operator's variables.

    A secret is the operator's file, of which the container has a copy.
    """
    everything = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    composed = everything["services"][service]

    def value_of(found: re.Match[str]) -> str:
        name, how, rest = found[1], found[2], found[3]
        if given.get(name):
            return given[name]
        assert how == "-", f"compose.yaml wants {name}: {rest}"
        return str(rest)

    environment = {
        name: _VARIABLE.sub(value_of, str(value)) for name, value in composed["environment"].items()
    }
    files = {
        f"/run/secrets/{name}": _VARIABLE.sub(value_of, everything["secrets"][name]["file"])
        for name in composed.get("secrets", ())
    }
    environment = {name: files.get(value, value) for name, value in environment.items()}
    return placed({k: v for k, v in environment.items() if v}, places)


def placed(found: dict[str, str], places: Mapping[str, str]) -> dict[str, str]:
    assert not places.keys() - found.keys(), "the file does not name them"
    return {**found, **places}


def has_ipv6() -> bool:
    """Return whether the loopback interface of this machine has an IPv6 address."""
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


class _Proxy:
    """A proxy with our configuration in front of two servers. A context manager."""

    port: int
    plain_port: int
    certificate: Path
    _folder: Path
    _command: list[str]
    _environment: Mapping[str, str] = {}

    def __enter__(self) -> Self:
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command, env={**os.environ, **self._environment}, stdout=log, stderr=log
            )
        until_it_answers(f"http://127.0.0.1:{self.plain_port}/", self._process, self.log)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(20)

    @property
    def log(self) -> Path:
        return self._folder / "out.log"


class Nginx(_Proxy):
    """Debian's nginx."""

    def __init__(self, folder: Path, servers: tuple[str, str]) -> None:
        program = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
        if program is None:
            pytest.skip("nginx: not installed")
        self.port, self.plain_port = free_port(), free_port()
        self._folder = folder
        folder.mkdir()
        certificate, key = _write_certificate(folder)
        self.certificate = certificate
        # Without IPv6 on this machine another loopback address replaces it.
        six = self.six = "[::1]" if has_ipv6() else "127.0.0.66"
        text = (DEPLOY / "nginx.conf").read_text()
        for there, here in (
            ("10.0.0.11:8080", servers[0]),
            ("10.0.0.12:8080", servers[1]),
            ("listen 443 ", f"listen 127.0.0.1:{self.port} "),
            ("listen 80 ", f"listen 127.0.0.1:{self.plain_port} "),
            ("listen [::]:443 ", f"listen {six}:{self.port} "),
            ("listen [::]:80 ", f"listen {six}:{self.plain_port} "),
            ("/etc/ssl/specd.crt", str(certificate)),
            ("/etc/ssl/private/specd.key", str(key)),
            ("/run/nginx.pid", str(folder / "nginx.pid")),
            ("/var/log/nginx/error.log", str(folder / "error.log")),
            ("/var/lib/nginx/body", str(folder / "body")),
            ("/var/lib/nginx/proxy", str(folder / "proxy")),
        ):
            assert there in text, there
            text = text.replace(there, here)
        (folder / "nginx.conf").write_text(text)
        user = "user root; " if os.geteuid() == 0 else ""
        self._command = [program, "-p", str(folder), "-c", str(folder / "nginx.conf"),
                         "-e", "stderr", "-g", f"daemon off; {user}"]  # fmt: skip

    def client(self, address: str = "127.0.0.1", name: str = NAME) -> httpx.Client:
        """A client at another loopback address, which trusts only our certificate."""
        trusted = httpx.create_ssl_context(str(self.certificate))
        return _Client(
            name,
            transport=httpx.HTTPTransport(verify=trusted, local_address=address),
            base_url=f"https://127.0.0.1:{self.port}",
            headers={"Host": name},
            timeout=60,
        )


class Caddy(_Proxy):
    """Caddy, whose own files are in the folder."""

    def __init__(self, folder: Path, servers: tuple[str, str]) -> None:
        program = shutil.which("caddy")
        if program is None:
            pytest.skip("caddy: not installed")
        self.port, self.plain_port = free_port(), free_port()
        self._folder = folder
        folder.mkdir()
        self.certificate, key = _write_certificate(folder)
        six = self.six = "[::1]" if has_ipv6() else "127.0.0.66"
        bind = f"bind 127.0.0.1 {six}"
        text = (DEPLOY / "Caddyfile").read_text()
        for there, here in (
            ("10.0.0.11:8080", servers[0]),
            ("10.0.0.12:8080", servers[1]),
            (
                "\n{\n",
                f"\n{{\nadmin off\nhttp_port {self.plain_port}\nhttps_port {self.port}\n",
            ),
            ("\t@api ", f"\t{bind}\n\t@api "),
            ("\t@clients ", f"\t{bind}\n\ttls {self.certificate} {key}\n\t@clients "),
        ):
            assert text.count(there) == 1, there
            text = text.replace(there, here)
        (folder / "Caddyfile").write_text(text)
        self._command = [program, "run", "--adapter", "caddyfile", "--config",
                         str(folder / "Caddyfile")]  # fmt: skip
        homes = ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")
        self._environment = dict.fromkeys(homes, str(folder))

    def client(self) -> httpx.Client:
        """A client that trusts only our certificate."""
        trusted = httpx.create_ssl_context(str(self.certificate))
        base_url = f"https://127.0.0.1:{self.port}"
        options = {"verify": trusted, "base_url": base_url, "headers": {"Host": NAME}}
        return _Client(NAME, timeout=60, **options)


def _write_certificate(folder: Path) -> tuple[Path, Path]:
    """Write a certificate of both names and its key, and return their paths."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-keyout", key, "-out", certificate, "-days", "2", "-subj", f"/CN={NAME}",
         "-addext", f"subjectAltName=DNS:{NAME},DNS:pay.example"],
        check=True, capture_output=True,
    )  # fmt: skip
    return certificate, key


class _Client(httpx.Client):
    def __init__(self, name: str, **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self._name = name

    def send(self, request: httpx.Request, **options: object) -> httpx.Response:  # type: ignore[override]
        request.extensions["sni_hostname"] = self._name
        return super().send(request, **options)  # type: ignore[arg-type]
