"""The privacy checks of `specd doctor`: permissions of files and TLS of databases."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import make_url

from specd._cli.diagnosis import Finding
from specd._settings import Settings, is_loopback

FOR_OTHERS = stat.S_IRWXG | stat.S_IRWXO
MANY = 3


def diagnose_files(settings: Settings) -> Finding:
    """Check that no other user of this machine can read the files of the installation."""
    places = set(settings.find_folders().values())
    for url in map(make_url, settings.database_urls.values()):
        if url.get_backend_name() == "sqlite" and url.database:
            places |= {Path(f"{url.database}{end}") for end in ("", "-wal", "-shm")}
    open_ones = sorted({str(path) for place in places for path in find_open(place)})
    if not open_ones:
        return Finding("files", "ok", f"only the owner can access {settings.data_dir}")
    named = ", ".join(open_ones[:MANY]) + (", ..." if len(open_ones) > MANY else "")
    return Finding(
        "files",
        "broken",
        f"other users of this machine can access {named}; run chmod -R go= on them",
    )


def find_open(place: Path) -> Iterator[Path]:
    """Yield the files and folders under `place` that users other than the owner can access."""
    # A closed folder protects everything in it.
    if not place.exists() or not _is_open(place.parent) or not _is_open(place):
        return
    yield place
    if place.is_dir():
        for folder, folders, files in os.walk(place):
            for path in (Path(folder) / name for name in (*folders, *files)):
                if not path.is_symlink() and _is_open(path):
                    yield path


def _is_open(path: Path) -> bool:
    return bool(stat.S_IMODE(path.stat().st_mode) & FOR_OTHERS)


def diagnose_transport(service: str, url: str) -> Iterator[Finding]:
    """Yield a warning about a remote PostgreSQL whose certificate is not verified."""
    parts = make_url(url)
    host = parts.query.get("host") or parts.host or ""
    is_here = not host or str(host).startswith("/") or is_loopback(str(host))
    mode = parts.query.get("sslmode", os.environ.get("PGSSLMODE", "prefer"))
    if parts.get_backend_name() == "postgresql" and not is_here and mode != "verify-full":
        yield Finding(
            f"{service} database's TLS",
            "warning",
            f"sslmode is {mode}: add ?sslmode=verify-full&sslrootcert=FILE to"
            f" SPECD_{service.upper()}_DATABASE_URL, or an attacker on the"
            " network can impersonate the database",
        )
