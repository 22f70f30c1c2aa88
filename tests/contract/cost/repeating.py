"""Repeats the same requests on a database that keeps their writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx

from tests.contract.cost.meter import Meter
from tests.contract.cost.stage import Base, Stage

TIMES = 3
MORE = 256
"""Differences up to this many bytes are normal, because ids and numbers become longer."""
OF_A_KIND = 1
"""Number of places per operation with a switch. Most others are handled alike."""
LAST = ("deactivate", "delete", "regenerate", "archive", "revoke", "fetch_api_key")
"""Prefixes of operations after which their names or keys are invalid."""


def repeat_all(stage: Stage, meter: Meter) -> list[str]:
    """Send each request several times, and each with a switch with it on and off. Return those that
    wrote more in the last round than in the previous one.
    """
    stage.database.keeps = True
    findings = []
    bases = sorted(stage.bases(), key=lambda base: base.operation.startswith(LAST))
    try:
        for base in bases:
            for about, requests in _rounds(stage, base):
                written = []
                for _ in range(TIMES):
                    measured = [meter.measure(lambda r=r: stage.send(r()))[0] for r in requests]
                    written.append(sum(cost.written.total() for cost in measured))
                if written[-1] > max(written[:-1]) + MORE:
                    findings.append(f"{base.operation} {about} writes ever more: {written}")
    finally:
        stage.database.keeps = False
    return findings


def _rounds(stage: Stage, base: Base) -> Iterator[tuple[str, list[Callable[[], httpx.Request]]]]:
    yield "unchanged", [lambda: stage.build(base)]
    switches = 0
    for place in stage.document.places(base.operation):
        values = [True, False] if place.type == "boolean" else place.schema.get("enum", [])[:2]
        if len(values) == 2 and place.where in ("query", "body") and switches < OF_A_KIND:
            switches += 1
            yield (
                place.label,
                [lambda v=value, p=place: stage.build(base, p, v) for value in values],
            )
