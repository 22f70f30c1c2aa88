"""`python -m tests.contract.differential.run [N] [SEED]` sends N requests to each document and
prints the findings.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import structlog

from tests.contract.differential.compare import Report, compare
from tests.contract.differential.subjects import SUBJECTS, WITHOUT_STOCK


def run(name: str, directory: Path, *, number: int, seed: int) -> Report:
    """Compare one document with `number` generated requests."""
    service, credentials = SUBJECTS[name](directory)
    try:
        with_stock = name not in WITHOUT_STOCK
        return compare(service, credentials, number=number, seed=seed, with_stock=with_stock)
    finally:
        if service.database is not None:
            service.database.dispose()


def main(arguments: list[str]) -> int:
    number = int(arguments[0]) if arguments else 20_000
    seed = int(arguments[1]) if len(arguments) > 1 else 1
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    unexplained = 0
    for name in SUBJECTS:
        with TemporaryDirectory() as directory:
            report = run(name, Path(directory), number=number, seed=seed)
        print(f"== {name}, seed {seed}: " + "\n".join(report.lines()), flush=True)
        for request, verdicts in report.unexplained[:20]:
            print(verdicts, request, sep="\n  ")
        unexplained += len(report.unexplained)
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
