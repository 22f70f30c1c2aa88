"""Checks of this machine: folders, disk, secrets, address."""

import errno
import os
import shutil
import socket
from collections.abc import Iterator, Mapping
from contextlib import closing
from ipaddress import ip_network
from urllib.parse import urlsplit

import httpx
from sqlalchemy import select

from specd._cli.databases import find_secret
from specd._cli.diagnosis import Finding
from specd._cli.folders import UNRESTORED
from specd._db import secret_checks
from specd._db.database import Database
from specd._db.folders import find_problem
from specd._settings import Settings, find_removed, is_loopback, variable

FULL = 0.1
"""The share of free space below which the alerting rule SpecdDiskFull fires."""
ANY = ("0.0.0.0", "[::]")


def diagnose_folders(settings: Settings) -> Iterator[Finding]:
    """Write a file into each folder and delete it. Check that no restore is unfinished and that the
    disks have free space.
    """
    if settings.restore_marker.exists():
        yield Finding("restore", "broken", UNRESTORED)
    problems = {
        name: problem
        for name, folder in settings.find_folders().items()
        if (problem := find_problem(folder))
    }
    for name, problem in problems.items():
        yield Finding(
            "folders", "broken", f"{problem}; check its owner, its mount and {variable(name)}"
        )
    if not problems:
        yield Finding("folders", "ok", "this user can write all folders")
    places = [folder for folder in settings.find_folders().values() if folder.is_dir()]
    for device, place in {each.stat().st_dev: each for each in places}.items():
        disk = shutil.disk_usage(place)
        if disk.free < disk.total * FULL:
            left = f"{disk.free / disk.total:.0%} ({disk.free >> 20} MiB) of the disk of {place}"
            yield Finding(f"disk {device}", "warning", f"only {left} is free")


def diagnose_secret(service: str, database: Database, settings: Settings) -> Iterator[Finding]:
    """Check that the secret of this machine is that of the database, without creating either."""
    secret = find_secret(service)
    if secret is None:
        return
    name, setting = f"{service} secret", variable(f"{service}_secret")
    file = settings.data_dir / f"{service}-secret"
    with database.reading() as reader:
        sealed = reader.execute(select(secret.table.c.sealed)).scalar()
    if not getattr(settings, f"{service}_secret") and not os.path.lexists(file):
        if sealed is not None:
            problem = f"the database was written with a secret, and neither {setting} nor {file}"
            yield Finding(name, "broken", f"{problem} exists; restore it")
        return
    try:
        texts = secret.open_texts(settings)
        opens = sealed is None or texts.opens(sealed, purpose=secret_checks.PURPOSE)
    except OSError as error:
        yield Finding(name, "broken", f"{file} cannot be read ({error.strerror}); chown it")
        return
    if not opens:
        problem = (
            f"the database was written with another secret; set {setting} as on the other machines"
        )
        yield Finding(name, "broken", problem)


def diagnose_removed_settings(env: Mapping[str, str]) -> Iterator[Finding]:
    """Yield a warning for each setting of earlier releases."""
    for name, advice in find_removed(env).items():
        yield Finding("settings", "warning", f"{name} no longer has an effect: {advice}")


def diagnose_exposure(settings: Settings) -> Iterator[Finding]:
    """Check for settings that are unsafe on a public address: trusting all addresses as proxies,
    and links without TLS.
    """
    for text in settings.trusted_proxies:
        if text != "unix" and ip_network(text).prefixlen == 0:
            yield Finding(
                "proxies",
                "broken",
                f"{variable('trusted_proxies')} has {text}: every client can claim any address",
            )
    public = urlsplit(settings.public_url)
    if (
        public.scheme == "http"
        and settings.published_url
        and not is_loopback(public.hostname or "")
    ):
        yield Finding(
            "public URL",
            "warning",
            f"{variable('public_url')} is not https: links, keys and cookies are not encrypted",
        )


def diagnose_server(settings: Settings) -> Finding:
    """Listen at the address. If it is in use, check whether specd responds there."""
    host, _, port = settings.bind.rpartition(":")
    try:
        with closing(listen_at(settings.bind)):
            detail = f"{settings.bind} is free; `specd serve` can listen there"
            return Finding("server", "ok", detail)
    except PermissionError:
        problem = f"this user cannot listen on {settings.bind}; use a port above 1023"
        return Finding("server", "broken", problem)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            problem = f"this machine cannot listen on {settings.bind} ({error.strerror or error})"
            return Finding("server", "broken", f"{problem}; check {variable('bind')}")
    url = f"http://{_here(host)}:{port}"
    try:
        ready = httpx.get(f"{url}/readyz", timeout=5, trust_env=False)
    except httpx.HTTPError as error:
        problem = f"the server on {settings.bind} does not respond ({type(error).__name__})"
        return Finding("server", "broken", problem)
    if ready.status_code == 200:
        return Finding("server", "ok", f"specd responds on {settings.bind} and is ready")
    told = f"answers {ready.status_code} to /readyz"
    return Finding("server", "broken", f"the server on {settings.bind} {told}")


def _here(host: str) -> str:
    return "127.0.0.1" if host == ANY[0] else "[::1]" if host == ANY[1] else host


def listen_at(bind: str) -> socket.socket:
    """Return a socket that listens at HOST:PORT. Raise OSError."""
    host, _, port = bind.rpartition(":")
    family, kind, protocol, _, address = socket.getaddrinfo(
        host.strip("[]"), int(port), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(1)
    except BaseException:
        listening.close()
        raise
    return listening
