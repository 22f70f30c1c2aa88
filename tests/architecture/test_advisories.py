"""The check for advisories fails if it cannot reach the database."""

import os
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).parent.parent.parent / "scripts" / "advisories"


def test_unreachable_database_is_reported() -> None:
    nowhere = {"https_proxy": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9"}
    ran = subprocess.run([SCRIPT], env=os.environ | nowhere, capture_output=True, text=True)
    assert ran.returncode == 3
    assert ran.stdout == ""
    assert ran.stderr.splitlines()[-1] == (
        "scripts/advisories: the OSV database (https://api.osv.dev/v1/query) cannot be reached; "
        "nothing was checked."
    )
