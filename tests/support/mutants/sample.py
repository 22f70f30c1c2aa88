"""A sample of mutants, and a search for it in another version of the source."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tests.support.mutants.operators import Mutant, find_mutants, is_python, mutable_lines

LAYERS = ("specd", "models", "handlers", "workers", "adapters", "cli")
LEFT_OUT = ("models/migrations/", "specd/_cli/templates/")
"""Migrations are old and not changed; templates are not source of this program."""


def mutated_files(root: Path) -> list[str]:
    """Return the files to mutate, layer by layer."""
    files = [
        path.relative_to(root).as_posix()
        for layer in LAYERS
        for path in sorted((root / layer).rglob("*.py"))
    ]
    return [file for file in files if not file.startswith(LEFT_OUT)]


def draw(root: Path, count: int, seed: int) -> list[Mutant]:
    """Return `count` mutants, spread evenly over all lines that have mutants.

    The lines are ordered by layer and file, and divided into `count` equal parts. One line of each
    part is drawn, so a layer is represented by its number of lines. The order is random, so that
    the first mutants of a sample are a sample as well.
    """
    drawing = random.Random(seed)
    lines = [
        mutants
        for file in mutated_files(root)
        for _, mutants in mutable_lines(find_mutants(file, (root / file).read_bytes()))
    ]
    drawn = []
    for part in range(count):
        place = int((part + drawing.random()) * len(lines) / count)
        mutants = drawing.sample(lines[place], len(lines[place]))
        drawn += [m for m in mutants if is_python(m.apply((root / m.file).read_bytes()))][:1]
    drawing.shuffle(drawn)
    return drawn


def write_sample(path: Path, mutants: Sequence[Mutant]) -> None:
    path.write_text("".join(json.dumps(asdict(mutant)) + "\n" for mutant in mutants))


def read_sample(path: Path) -> list[Mutant]:
    return [Mutant(**json.loads(line)) for line in path.read_text().splitlines()]


def find_again(root: Path, mutants: Sequence[Mutant]) -> list[Mutant | None]:
    """Return each mutant in this source, or None if its line is gone or different."""
    known: dict[tuple[str, ...], Mutant] = {}
    for file in {mutant.file for mutant in mutants}:
        if (root / file).exists():
            for mutant in find_mutants(file, (root / file).read_bytes()):
                known[mutant.identity()] = mutant
    return [known.get(mutant.identity()) for mutant in mutants]
