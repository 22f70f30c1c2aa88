"""Computes medians of rounds and writes them as a Markdown table and a JSON file."""

import json
import os
import platform
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.load.wrk import Load


@dataclass(frozen=True, slots=True)
class Figures:
    """The medians over the rounds of one peer and operation."""

    per_second: float
    p50_ms: float
    p99_ms: float
    cpu_us: float
    rounds: int


COLUMNS = {"per_second": "requests/s", "p50_ms": "p50 ms", "cpu_us": "CPU us/request"}
"""The fields of `Figures` by which two commits are compared, with their titles."""


class Rounds:
    """All measurements of a run, by (operation, peer)."""

    def __init__(self) -> None:
        self._loads: dict[tuple[str, str], list[tuple[Load, float]]] = defaultdict(list)

    def add(self, operation: str, peer: str, load: Load, cpu_seconds: float) -> None:
        self._loads[operation, peer].append((load, cpu_seconds))

    def medians(self, operation: str, peer: str) -> Figures:
        loads = self._loads[operation, peer]
        return Figures(
            per_second=median(load.per_second for load, _ in loads),
            p50_ms=median(load.p50_ms for load, _ in loads),
            p99_ms=median(load.p99_ms for load, _ in loads),
            cpu_us=median(cpu * 1e6 / load.requests for load, cpu in loads),
            rounds=len(loads),
        )

    def tabulated(
        self, operations: Sequence[str], peers: Sequence[str]
    ) -> dict[str, dict[str, Figures]]:
        return {
            operation: {peer: self.medians(operation, peer) for peer in peers}
            for operation in operations
        }


def figures_table(title: str, row: Mapping[str, Figures]) -> str:
    """Return the table of one operation, with a line per peer."""
    lines = [
        f"**{title}**",
        "",
        "| server | requests/s | p50 ms | p99 ms | CPU us/request |",
        "|---|---:|---:|---:|---:|",
    ]
    for peer, it in row.items():
        numbers = f"{it.per_second:,.0f} | {it.p50_ms:.2f} | {it.p99_ms:.2f} | {it.cpu_us:.0f}"
        lines.append(f"| {peer} | {numbers} |")
    return "\n".join(lines)


def beside_table(
    title: str,
    rows: Mapping[str, tuple[Mapping[str, float], Mapping[str, float]]],
    columns: Mapping[str, str] = COLUMNS,
) -> str:
    """Return a table of each figure of the other checkout, ours, and the ratio of ours to it."""
    heads = " | ".join(f"{name}: before | now | ratio" for name in columns.values())
    lines = [f"| {title} | {heads} |", "|---|" + "---:|" * 3 * len(columns)]
    for name, (before, now) in rows.items():
        cells = []
        for key in columns:
            ratio = f"{now[key] / before[key]:.2f}" if before[key] else ""
            cells += [_number(before[key]), _number(now[key]), ratio]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def figures_beside(
    title: str, table: Mapping[str, Mapping[str, Figures]], before: str, now: str
) -> str:
    """Return `beside_table` of two of the measured servers."""
    rows = {name: (asdict(row[before]), asdict(row[now])) for name, row in table.items()}
    return beside_table(f"{title}, {before} and now", rows)


def _number(figure: float) -> str:
    return f"{figure:.2f}" if abs(figure) < 100 else f"{figure:,.0f}"


def machine() -> dict[str, Any]:
    """Return the machine and the versions of the run, so that two files can be compared."""
    distributions = (
        "advanced_alchemy", "blacksheep", "connexion", "falcon", "fastapi", "gunicorn",
        "httptools", "jsonschema_rs", "litestar", "msgspec", "orjson", "psycopg", "pydantic",
        "sqlalchemy", "starlette", "uvicorn", "uvloop",
    )  # fmt: skip
    versions = {}
    for name in distributions:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "absent"
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "cores": os.cpu_count(),
        "load_average": os.getloadavg()[0],
        "python": platform.python_version(),
        "versions": versions,
    }


def write_json(path: Path, **parts: Any) -> None:
    """Write the parts with the machine's description. Dataclasses become plain objects."""
    text = json.dumps({"machine": machine(), **parts}, default=_plain, indent=2)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


def _plain(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)
