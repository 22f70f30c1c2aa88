"""python -m tests.live.cluster [CHECK ...]: rehearse faults, a restart and an upgrade of a cluster.

Prints PASS or FAIL and a figure for each check, with direct connections to the primary and through
PgBouncer.
"""

import argparse
import shutil
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import structlog

from tests.live.cluster.checks import CHECKS, POOLER, Outcome, run
from tests.live.cluster.topology import FAKETIME, missing_programs


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/cluster", description=__doc__)
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=f"of: {', '.join(CHECKS)}")
    parser.add_argument("--only", choices=("straight", "pooled"), help="one way to the database")
    parser.add_argument("--minutes", type=float, default=60, help="of the campaign, default 60")
    parser.add_argument("--keep", type=Path, help="where to leave the logs")
    asked = parser.parse_args()
    unknown = set(asked.checks) - CHECKS.keys()
    if unknown:
        parser.error(f"no check is named {', '.join(sorted(unknown))}")
    missing = missing_programs()
    if shutil.which("iptables", path="/usr/sbin:/sbin") is None:
        missing.append("iptables")
    if not FAKETIME.exists():
        missing.append("libfaketime")
    if missing:
        parser.error(f"install {', '.join(missing)} first")
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    failed = 0
    with tempfile.TemporaryDirectory(prefix="specd-cluster-") as made:
        place = Path(asked.keep or made).absolute()
        place.mkdir(parents=True, exist_ok=True)
        place.chmod(0o755)
        for name in asked.checks or CHECKS:
            for way in (asked.only,) if asked.only else ("straight", "pooled"):
                if name == POOLER and way == "straight":
                    continue
                options = {"minutes": asked.minutes} if name == "campaign" else {}
                outcome = _try(name, place / f"{name}-{way}", is_pooled=way == "pooled", **options)
                failed += bool(outcome.faults)
                print("FAIL" if outcome.faults else "PASS", f"{name}, {way}:", outcome.figure)
                for fault in outcome.faults[:20]:
                    print("    ", fault)
                sys.stdout.flush()
    return 1 if failed else 0


def _try(name: str, folder: Path, **options: Any) -> Outcome:
    try:
        return run(name, folder, **options)
    except Exception as error:
        traceback.print_exc()
        return Outcome("", [repr(error)])


if __name__ == "__main__":
    sys.exit(main())
