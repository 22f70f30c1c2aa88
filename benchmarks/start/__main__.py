"""python -m benchmarks.start: the start time of specd, and its memory at rest.

Every measurement is a new process. Files are in the page cache and Python's caches are written,
because the first round is not counted. `--beside DIRECTORY` measures another checkout of this
repository in turn, with the Python of this one.

It prints medians of all rounds: elapsed seconds, seconds of processor time, and MiB. `serve` ends
with the first response of /readyz, and `demo` when all is ready (like `scripts/run` after specd is
installed; with `anvil` on PATH the chain is anvil). "Later" is processor time after that response,
in all processes: ten requests of each service, and modules that the server loads meanwhile. The RSS
of a process includes pages that it shares with others, and its PSS includes its share of them.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from benchmarks.load.charts import draw_chart
from benchmarks.load.checkout import add_beside, with_ours
from benchmarks.load.figures import write_json
from benchmarks.start.measures import Deployment, Round

Measure = Callable[[Deployment], Round]
MEASURES: dict[str, Measure] = {
    "specd --help": lambda deployed: deployed.run(["--help"]),
    "specd config check": lambda deployed: deployed.run(["config", "check"]),
    "specd payment --help": lambda deployed: deployed.run(["payment", "--help"]),
    "specd chat --help": lambda deployed: deployed.run(["chat", "--help"]),
    "specd worker --help": lambda deployed: deployed.run(["worker", "--help"]),
    "specd serve": lambda deployed: deployed.serve(None),
    "specd serve --only payment": lambda deployed: deployed.serve("payment"),
    "specd serve --only chat": lambda deployed: deployed.serve("chat"),
    "specd demo": Deployment.demo,
}
COLUMNS = {
    "wall_s": "wall s",
    "cpu_s": "CPU s",
    "later_cpu_s": "later CPU s",
    "master_rss": "master RSS",
    "master_pss": "PSS",
    "worker_rss": "worker RSS",
    "worker_pss": "PSS",
}
DEAREST = 10


def table(name: str, rounds: dict[str, list[Round]]) -> str:
    lines = [f"| {name} | " + " | ".join(COLUMNS.values()) + " |"]
    lines.append("|---|" + "---:|" * len(COLUMNS))
    for measure, taken in rounds.items():
        cells = []
        for key in COLUMNS:
            figures = [each[key] for each in taken if key in each]
            form = ".2f" if key.endswith("_s") else ".0f"
            cells.append(format(median(figures), form) if figures else "")
        lines.append(f"| {measure} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def imports_table(deployed: Deployment) -> str:
    spent = deployed.imports()
    lines = [f"| {deployed.checkout.name}: package | ms itself |", "|---|---:|"]
    lines += [f"| {name} | {taken:.0f} |" for name, taken in spent.most_common(DEAREST)]
    return "\n".join([*lines, f"| all {len(spent)} | {sum(spent.values()):.0f} |"])


def measured(
    deployments: Sequence[Deployment], names: Sequence[str], rounds: int
) -> list[dict[str, list[Round]]]:
    """Return the rounds except the first, by checkout and measure."""
    taken: list[dict[str, list[Round]]] = [{name: [] for name in names} for _ in deployments]
    for number in range(rounds + 1):
        for name in names:
            for deployed, found in zip(deployments, taken, strict=True):
                figures = MEASURES[name](deployed)
                if number:
                    found[name].append(figures)
    return taken


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.start", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--measure", action="append", choices=list(MEASURES))
    add_beside(parser)
    parser.add_argument("--out", type=Path, default=Path("var/benchmark-start.json"))
    arguments = parser.parse_args()
    checkouts = with_ours(arguments.beside)
    with tempfile.TemporaryDirectory(prefix="specd-start-") as directory:
        deployments = [
            Deployment(checkout, Path(directory) / str(number))
            for number, checkout in enumerate(checkouts)
        ]
        names = arguments.measure or list(MEASURES)
        taken = measured(deployments, names, arguments.rounds)
        shown = [table(it.name, rounds) for it, rounds in zip(checkouts, taken, strict=True)]
        print("\n\n".join(shown), end="\n\n")
        if arguments.measure is None:
            for deployed in deployments:
                print(imports_table(deployed), end="\n\n")
    figures = {checkout.name: found for checkout, found in zip(checkouts, taken, strict=True)}
    draw_chart("start", "\n\n".join(shown), arguments.out.with_suffix(".svg"))
    write_json(arguments.out, figures=figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
