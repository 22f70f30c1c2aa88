"""`scripts/mutants`: change the product in small ways, and see which changes a test notices."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Queue
from types import TracebackType
from typing import Self

from tests.support.mutants.operators import Mutant
from tests.support.mutants.sample import LAYERS, draw, find_again, read_sample, write_sample
from tests.support.mutants.selection import Calls, nearest_tests, read_calls
from tests.support.mutants.warm import Report, Request
from tests.support.postgres import VARIABLE, running_server
from tests.support.touched import ROOT, Graph, import_graph, source_files
from tests.support.yaml_files import read_yaml

EQUIVALENT = Path(__file__).with_name("equivalent.yaml")
BATCHES = (4, 12)
"""The numbers of the nearest modules that run first and second. The others follow together."""
MAX_MODULES = 50
DETECTED = ("killed", "hung")


@dataclass(kw_only=True)
class Result:
    """The outcome of a mutant: killed, hung, survived, equivalent, gone or unproven."""

    number: int
    mutant: Mutant
    outcome: str
    by: str = ""
    """The test that failed or did not end."""
    seconds: float = 0
    tests: int = 0
    """The number of tests that passed before."""

    def row(self) -> str:
        words = f"{self.number:>4}  {self.outcome:<10} {self.seconds:6.1f} s  {self.mutant}"
        return f"{words}\n{'':26}{self.by or f'{self.tests} tests passed'}"


class Tree:
    """A copy of a checkout with a process that runs its tests."""

    def __init__(self, root: Path, folder: Path, python: Path, env: dict[str, str]) -> None:
        self.path = folder / "tree"
        self._folder = folder
        self._root = root
        shutil.rmtree(folder, ignore_errors=True)
        self.path.mkdir(parents=True)
        subprocess.run(["git", "init", "--quiet"], cwd=self.path, check=True)
        for file in source_files(root):
            (self.path / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / file, self.path / file, follow_symlinks=False)
        subprocess.run(["git", "add", "--all"], cwd=self.path, check=True)
        self._written: set[str] = set()
        self._times = time.time_ns()
        warm = Path(__file__).with_name("warm.py")
        self._process = subprocess.Popen(
            [python, "-W", "ignore", warm, str(folder)],
            cwd=self.path, env={**os.environ, **env, "PYTHONPATH": str(self.path)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def change(self, mutants: Sequence[Mutant]) -> None:
        """Restore the source, and apply these mutants. Two of a file must not overlap."""
        changed = {mutant.file for mutant in mutants}
        for file in self._written - changed:
            self._write(file, (self._root / file).read_bytes())
        for file in changed:
            source = (self._root / file).read_bytes()
            for mutant in sorted(mutants, key=lambda mutant: -mutant.start):
                if mutant.file == file:
                    source = mutant.apply(source)
            self._write(file, source)
        self._written = changed

    def run(self, request: Request) -> Report:
        """Run tests of the tree in its current state."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(asdict(request)) + "\n")
        self._process.stdin.flush()
        return Report(**json.loads(self._process.stdout.readline()))

    def _write(self, file: str, source: bytes) -> None:
        """Write a file with a new time, because Python recompiles it if the time or
        size differs.
        """
        self._times += 2_000_000_000
        (self.path / file).write_bytes(source)
        os.utime(self.path / file, ns=(self._times, self._times))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def face_nearest(
    tree: Tree, mutant: Mutant, graph: Graph, calls: Calls, number: int, seconds: float
) -> Result:
    """Run the tests near a mutant until one fails or the time is over."""
    tree.change([mutant])
    tests = nearest_tests(mutant, tree.path, graph, calls)[:MAX_MODULES]
    result = Result(number=number, mutant=mutant, outcome="survived")
    first, second = BATCHES
    for batch in (tests[:first], tests[first : first + second], tests[first + second :]):
        if batch and result.seconds < seconds:
            report = tree.run(Request(tests=batch, seconds=seconds - result.seconds))
            result.seconds += report.seconds
            result.tests += len(report.passed)
            if judge(report, result):
                break
    return result


def judge(report: Report, result: Result) -> bool:
    """Record the report in the result. Return whether the mutant was detected."""
    if report.failed:
        result.outcome, result.by = "killed", report.failed[0]
    elif report.hung:
        result.outcome, result.by = "hung", report.hung
    elif report.broken:
        result.outcome, result.by = "killed", f"no test could begin: {report.broken}"
    return result.outcome != "survived"


def face_layer(tree: Tree, survivors: list[Result], layer: str, seconds: float) -> None:
    """Run the tests of a layer with all its survivors applied.

    A test that fails then runs with each survivor alone. If it fails, the survivor is killed. The
    remaining tests run with the remaining survivors.
    """
    deadline = time.monotonic() + seconds
    left = _without_overlaps(survivors)
    passed: list[str] = []
    while left and time.monotonic() < deadline:
        tree.change([result.mutant for result in left])
        report = tree.run(
            Request(tests=[f"tests/{layer}"], seconds=deadline - time.monotonic(), passed=passed)
        )
        passed += report.passed
        blamed = report.failed[:1] or [report.hung] * bool(report.hung)
        if not blamed:
            break
        for result in list(left):
            tree.change([result.mutant])
            alone = tree.run(Request(tests=blamed, seconds=90))
            result.seconds += alone.seconds
            if judge(alone, result):
                left.remove(result)
        passed += blamed
    for result in left:
        result.tests += len(passed)


def _without_overlaps(results: list[Result]) -> list[Result]:
    kept: list[Result] = []
    for result in results:
        if all(
            result.mutant.file != other.mutant.file
            or result.mutant.end <= other.mutant.start
            or other.mutant.end <= result.mutant.start
            for other in kept
        ):
            kept.append(result)
    return kept


def doubt_killers(tree: Tree, results: list[Result]) -> None:
    """Run each test that killed a mutant again, without mutants.

    If the test fails again, the kill proves nothing.
    """
    tests = sorted({result.by for result in results if result.outcome == "killed"} - {""})
    tests = [test for test in tests if test.startswith("tests/")]
    tree.change([])
    report = tree.run(Request(tests=tests, seconds=1800, stop=False))
    for result in results:
        if result.outcome == "killed" and result.by in report.failed:
            result.outcome = "unproven"


def equivalent_mutants() -> dict[tuple[str, ...], str]:
    """Return the mutants that do not change the program, with the reason."""
    return {
        (entry["file"], entry["function"], entry["kind"], entry["context"], entry["change"]): entry[
            "reason"
        ]
        for entry in read_yaml(EQUIVALENT)
    }


def _named(mutant: Mutant) -> tuple[str, ...]:
    change = f"{mutant.original} -> {mutant.replacement}"
    return mutant.file, mutant.function, mutant.kind, mutant.context, " ".join(change.split())


def table(results: Sequence[Result]) -> Iterator[str]:
    """Yield the lines of the table."""
    for result in results:
        yield result.row()
    yield ""
    yield f"{'layer':<10} {'mutants':>8} {'killed':>8} {'hung':>6} {'survived':>9} {'of all':>7}"
    for layer in (*LAYERS, ""):
        counts = Counter(
            result.outcome
            for result in results
            if result.mutant.file.startswith(f"{layer}/" * bool(layer))
        )
        judged = sum(counts[outcome] for outcome in (*DETECTED, "survived"))
        if judged:
            share = sum(counts[outcome] for outcome in DETECTED) / judged
            yield (
                f"{layer or 'all':<10} {judged:>8} {counts['killed']:>8} {counts['hung']:>6}"
                f" {counts['survived']:>9} {share:>7.1%}"
            )
    rest = Counter(result.outcome for result in results)
    for outcome in ("equivalent", "gone", "unproven"):
        yield f"{outcome}, counted nowhere: {rest[outcome]}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/mutants", description=__doc__)
    parser.add_argument("count", type=int, help="how many mutants to draw")
    parser.add_argument("--seed", type=int, default=1, help="of the sample; 1 by default")
    parser.add_argument("--sample", type=Path, help="a sample drawn before, instead of a new one")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout to change a copy of")
    parser.add_argument("--name", default="mutants", help="of the results in build/mutants")
    parser.add_argument("--seconds", type=float, default=90, help="for the tests near a mutant")
    parser.add_argument("--layer-seconds", type=float, default=1200, help="for the rest of a layer")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--resume", action="store_true", help="a run that was interrupted")
    asked = parser.parse_args()
    folder = ROOT / "build/mutants"
    folder.mkdir(parents=True, exist_ok=True)
    root: Path = asked.root.resolve()
    sample = (
        read_sample(asked.sample)[: asked.count]
        if asked.sample
        else draw(root, asked.count, asked.seed)
    )
    write_sample(folder / f"{asked.name}.sample", sample)
    results = _run(root, sample, folder, asked)
    (folder / f"{asked.name}.txt").write_text("".join(f"{line}\n" for line in table(results)))
    (folder / f"{asked.name}.json").write_text(
        json.dumps([asdict(result) for result in results], indent=1)
    )
    print((folder / f"{asked.name}.txt").read_text())


def _run(
    root: Path, sample: Sequence[Mutant], folder: Path, asked: argparse.Namespace
) -> list[Result]:
    graph = import_graph(root)
    calls = read_calls(root, graph)
    partial = folder / f"{asked.name}.partial"
    known = _read_results(partial) if asked.resume else {}
    if not asked.resume:
        partial.unlink(missing_ok=True)
    equivalent = equivalent_mutants()
    results: list[Result] = []
    with (
        _trees(root, folder, asked.processes) as trees,
        ThreadPoolExecutor(asked.processes) as pool,
    ):

        def face(number: int, drawn: Mutant, mutant: Mutant | None) -> Result:
            if number in known:
                return known[number]
            if not mutant:
                return Result(number=number, mutant=drawn, outcome="gone")
            if _named(mutant) in equivalent:
                reason = equivalent[_named(mutant)]
                return Result(number=number, mutant=mutant, outcome="equivalent", by=reason)
            tree = trees.get()
            try:
                return face_nearest(tree, mutant, graph, calls, number, asked.seconds)
            finally:
                trees.put(tree)

        found = find_again(root, sample)
        _require_works(trees)
        for result in pool.map(face, range(1, len(sample) + 1), sample, found):
            results.append(result)
            print(result.row(), file=sys.stderr, flush=True)
            if result.number not in known:
                with partial.open("a") as file:
                    file.write(json.dumps(asdict(result)) + "\n")
        tree = trees.get()
        for layer in LAYERS:
            left = [
                r
                for r in results
                if r.outcome == "survived" and r.mutant.file.startswith(f"{layer}/")
            ]
            face_layer(tree, left, layer, asked.layer_seconds)
        doubt_killers(tree, results)
        trees.put(tree)
    return results


def _read_results(path: Path) -> dict[int, Result]:
    results = [json.loads(line) for line in path.read_text().splitlines()]
    return {
        result["number"]: Result(**{**result, "mutant": Mutant(**result["mutant"])})
        for result in results
    }


def _require_works(trees: Queue[Tree]) -> None:
    """Raise if a test fails in the copies without a mutant."""
    for _ in range(trees.qsize()):
        tree = trees.get()
        report = tree.run(Request(tests=["tests/handlers/chat/test_drafts.py"], seconds=90))
        if not report.passed or report.failed:
            raise SystemExit(f"A test fails without a mutant: {report}")
        trees.put(tree)


@contextmanager
def _trees(root: Path, folder: Path, count: int) -> Iterator[Queue[Tree]]:
    """Yield a queue of trees that share a PostgreSQL server."""
    python = root / ".venv/bin/python"
    with ExitStack() as stack:
        server = stack.enter_context(running_server())
        env = {VARIABLE: server.url_of("postgres")}
        trees: Queue[Tree] = Queue()
        for number in range(count):
            tree = Tree(root, folder / f"tree-{os.getpid()}-{number}", python, env)
            trees.put(stack.enter_context(tree))
        yield trees


if __name__ == "__main__":
    main()
