"""The same requests again and again, on a database that keeps what they write."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx

from tests.contract.cost.meter import Meter
from tests.contract.cost.stage import Base, Stage

TIMES = 3
MORE = 256
"""Bytes by which rows differ anyway: ids and numbers become longer."""
OF_A_KIND = 1
"""So many places of one operation are switched: the others mostly go the same way."""
LAST = ("deactivate", "delete", "regenerate", "archive", "revoke", "fetch_api_key")
"""Operations after which their names or keys mean nothing more."""


def repeat_all(stage: Stage, meter: Meter) -> list[str]:
    """Send each request several times, and each that has a switch with it on and off. Returns
    those that wrote more the last time than the time before.
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
    yield "as it is", [lambda: stage.build(base)]
    switches = 0
    for place in stage.document.places(base.operation):
        values = [True, False] if place.type == "boolean" else place.schema.get("enum", [])[:2]
        if len(values) == 2 and place.where in ("query", "body") and switches < OF_A_KIND:
            switches += 1
            yield (
                place.label,
                [lambda v=value, p=place: stage.build(base, p, v) for value in values],
            )
