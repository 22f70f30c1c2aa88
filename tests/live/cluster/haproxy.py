"""HAProxy with the files of docs/deploy/cluster, the replacements in them, and its status."""

import csv
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.live.running_server import ROOT

FILES = ROOT / "docs" / "deploy" / "cluster"


def replaced(text: str, *changes: tuple[str, str]) -> str:
    """Return a file's text with replacements. Raise AssertionError if a text is missing."""
    for there, here in changes:
        assert there in text, there
        text = text.replace(there, here)
    return text


def write_certificate(path: Path, *names: str) -> None:
    """Write a certificate of these names (`DNS:...`, `IP:...`) and its key into one file."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-keyout", path, "-out", path, "-days", "2", "-subj", "/CN=specd",
         "-addext", f"subjectAltName={','.join(names)}"],
        check=True, capture_output=True,
    )  # fmt: skip


def ask(admin: Path, line: str) -> str:
    """Return HAProxy's response to a line on its socket."""
    with socket.socket(socket.AF_UNIX) as asking:
        asking.connect(str(admin))
        asking.sendall(f"{line}\n".encode())
        return asking.makefile().read()


def servers(admin: Path) -> Mapping[tuple[str, str], str]:
    """Return the status of each (backend, server) according to HAProxy, such as `UP`."""
    lines = ask(admin, "show stat").removeprefix("# ").splitlines()
    rows = csv.DictReader(line for line in lines if line)
    return {(row["pxname"], row["svname"]): row["status"] for row in rows}
