"""`specd doctor`: checks an installation and names the fixes."""

import importlib.util
import os
import sys
import time
from collections.abc import Iterator

import click

from specd._cli.diagnosis import Finding, diagnose_database, diagnose_limits
from specd._cli.diagnosis_machine import (
    diagnose_exposure,
    diagnose_folders,
    diagnose_removed_settings,
    diagnose_secret,
    diagnose_server,
)
from specd._cli.diagnosis_workers import diagnose_workers
from specd._cli.output import answer, json_option, one_sentence
from specd._cli.privacy import diagnose_files, diagnose_transport
from specd._project import current, find_object
from specd._settings import Settings, load_settings

# A clock that is before the creation of this release must be wrong.
EARLIEST_S = 1_790_000_000


@click.command()
@json_option
@click.pass_context
def doctor(context: click.Context, as_json: bool) -> None:
    """Check an installation and name the fix of each fault.

    Checks databases, workers, files, the port, limits, the clock and the parts of each service.
    Exits 1 if something is broken.
    """
    findings = list(diagnose(load_settings()))
    ok = all(finding.state != "broken" for finding in findings)
    answer(
        {
            "ok": ok,
            "findings": [
                {"check": f.check, "state": f.state, "detail": one_sentence(f.detail)}
                for f in findings
            ],
        },
        as_json=as_json,
        columns=("check", "state", "detail"),
        rows=[(f.check, f.state, one_sentence(f.detail)) for f in findings],
    )
    context.exit(0 if ok else 1)


def diagnose(settings: Settings) -> Iterator[Finding]:
    """Yield every finding, in the order in which the faults should be fixed."""
    yield _interpreter()
    yield _clock()
    for service, url in settings.database_urls.items():
        yield from diagnose_database(service, url, settings, (diagnose_secret, diagnose_workers))
        yield from diagnose_transport(service, url)
    yield diagnose_files(settings)
    yield from diagnose_folders(settings)
    yield diagnose_server(settings)
    yield from diagnose_exposure(settings)
    yield from diagnose_removed_settings(os.environ)
    yield from diagnose_limits(settings)
    for each in current().services:
        if each.diagnose:
            yield from find_object(each.diagnose)(settings)


def _interpreter() -> Finding:
    missing = [name for name in ("uvloop", "httptools") if not importlib.util.find_spec(name)]
    version = ".".join(str(part) for part in sys.version_info[:3])
    if missing:
        return Finding("python", "broken", f"{version}, but {' and '.join(missing)} is missing")
    return Finding("python", "ok", f"{version} with uvloop and httptools")


def _clock() -> Finding:
    now = time.time()
    written = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now))
    if now < EARLIEST_S:
        return Finding("clock", "broken", f"{written} is in the past; set the clock (NTP)")
    return Finding("clock", "ok", written)
