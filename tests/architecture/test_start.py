"""What a process does not import before it has a use for it: each is seconds or megabytes."""

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
    # gunicorn's configuration says where metrics are kept, and is read before this is imported.
    "specd._cli.serve": {"alembic", "psycopg", *ENGINE, *PAYMENTS, *RENDERING, *SPANS},
    "wsgi:chat": {"models.payment.tables", *SEARCHED_RARELY, *PAYMENTS},
    "wsgi:payment": {"models.chat.tables", *SEARCHED_RARELY, *RENDERING, *CHAINS},
    "wsgi:app": {*SEARCHED_RARELY, *CHAINS, *SPANS},
    "specd._workers.registry": {"alembic", "PIL", *ENGINE, *CHAINS, *SPANS},
    "specd._cli.worker": {"alembic", "PIL", *SPANS},
    "cli.demo": {"alembic", *ENGINE, *CHAINS},
}


@pytest.mark.parametrize("what", ABSENT)
def test_what_has_no_use_yet_is_not_imported(what: str, tmp_path: Path) -> None:
    module, _, attribute = what.partition(":")
    program = f"import json, sys, {module}; {module}{attribute and '.' + attribute}"
    done = subprocess.run(
        [sys.executable, "-c", f"{program}; print(json.dumps(sorted(sys.modules)))"],
        cwd=ROOT,
        env={
            **{name: value for name, value in os.environ.items() if not name.startswith("OTEL_")},
            "SPECD_DATA_DIR": str(tmp_path),
            "PYTHONWARNINGS": "ignore",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    imported = set(json.loads(done.stdout))
    assert imported & ABSENT[what] == set()
