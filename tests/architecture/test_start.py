"""Modules that a process does not import before they are used. Each costs seconds or megabytes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHAINS = {"Crypto", "eth_abi", "eth_keys", "eth_utils", "pydantic", "web3"}
PAYMENTS = {"btclib_secp256k1", *CHAINS}
RENDERING = {"markdown_it", "nh3", "pygments.formatters.html", "PIL"}
SEARCHED_RARELY = {"alembic", "boto3", "psycopg", "PIL", "zxcvbn.frequency_lists"}
ENGINE = {"connexion", "handlers", "jsonschema_rs", "prometheus_client"}
SPANS = {"opentelemetry", "specd._tracing.otel"}

ABSENT = {
    "specd._cli.main": {
        "sqlalchemy",
        "specd._db.database",
        "gunicorn",
        *ENGINE,
        *PAYMENTS,
        *RENDERING,
        *SPANS,
    },
    # The configuration of gunicorn, which defines the directory of metrics, is read before this.
    "specd._cli.serve": {"alembic", "psycopg", *ENGINE, *PAYMENTS, *RENDERING, *SPANS},
    "wsgi:chat": {"models.payment.tables", *SEARCHED_RARELY, *PAYMENTS},
    "wsgi:payment": {"models.chat.tables", *SEARCHED_RARELY, *RENDERING, *CHAINS},
    "wsgi:app": {*SEARCHED_RARELY, *CHAINS, *SPANS},
    "specd._workers.registry": {"alembic", "PIL", *ENGINE, *CHAINS, *SPANS},
    "specd._cli.worker": {"alembic", "PIL", *SPANS},
    "cli.demo": {"alembic", *ENGINE, *CHAINS},
}


CHAINED = (
    ("specd._workers.registry", "cli.demo", "specd._cli.worker"),
    ("wsgi:payment",),
    ("wsgi:chat", "wsgi:app"),
)
"""Imported in turn, each chain in a fork of a process that has imported the first two of ABSENT. If
several imports together leave a module out, so does each of them.
"""
PROGRAM = """
import json, os, sys
from importlib import import_module

def look(*chain):
    for what in chain:
        module, _, attribute = what.partition(":")
        import_module(module)
        if attribute:
            getattr(sys.modules[module], attribute)
        print(json.dumps([what, sorted(sys.modules)]), flush=True)

first, *chains = json.loads(sys.argv[1])
look(*first)
for chain in chains:
    pid = os.fork()
    if not pid:
        look(*chain)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0, chain
"""


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Return the imported modules by the module or application that was imported last."""
    first = [what for what in ABSENT if what not in {each for chain in CHAINED for each in chain}]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps([first, *CHAINED])],
        cwd=ROOT,
        env={
            **{name: value for name, value in os.environ.items() if not name.startswith("OTEL_")},
            "SPECD_DATA_DIR": str(tmp_path_factory.mktemp("data")),
            "PYTHONWARNINGS": "ignore",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {what: set(modules) for what, modules in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("what", ABSENT)
def test_unused_modules_are_not_imported(what: str, imported: dict[str, set[str]]) -> None:
    assert imported[what] & ABSENT[what] == set()
