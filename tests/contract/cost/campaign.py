"""Measures the cost of every operation at its documented maximum: `scripts/cost`."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import httpx

from specd import _logs as logs
from tests.contract.cost.checking import CostChecker, heaviest, worst
from tests.contract.cost.compounds import compounds
from tests.contract.cost.crowd import Scale
from tests.contract.cost.fillings import fillings
from tests.contract.cost.live import AT_ONCE, measure
from tests.contract.cost.meter import Meter
from tests.contract.cost.places import unbounded
from tests.contract.cost.searching import search_all
from tests.contract.cost.stage import Base, ChatStage, Stage, chat_on, payment_on
from tests.contract.cost.weighing import weighed
from tests.support.postgres import running_server

KEPT_IN = Path("build/cost")
"""The folder of the most expensive input of each target of a search."""
ALIKE = 4
DEAR_S = 0.08
"""Bases that are slower, because they hash passwords, are measured with fewer fillings."""
DEAR_STEP = 9


def warm_up(checker: CostChecker) -> None:
    """Send every base twice, or once if time is not checked, because compiling once is not part of
    a request's cost.
    """
    for base in checker.stage.bases():
        for _ in range(2 if checker.timed else 1):
            checker.meter.measure(lambda base=base: checker.stage.send(checker.stage.build(base)))
        made = checker.check(
            base.operation, "-", "unchanged", lambda part, b=base: checker.stage.build(b)
        )
        usual = checker.usual.get(base.operation, 0)
        checker.usual[base.operation] = max(usual, made.cost.statements)
        if made.cost.seconds > DEAR_S:
            checker.dear.add(base.case.name)


def fill_places(checker: CostChecker, only: str = "", every_nth: int = 1) -> int:
    """Fill every place of every operation with every filling, or with a varying part of them.
    Return the number of places.
    """
    stage = checker.stage
    seen = 0
    alike: Counter[tuple[str, str, int]] = Counter()
    for base in stage.bases():
        if only not in base.operation:
            continue
        for place in stage.document.places(base.operation):
            seen += 1
            kind = (base.operation, place.label.removeprefix(place.name), id(place.schema))
            alike[kind] += 1
            # Twenty settings of one kind are alike, so only the first is tested with everything.
            most = None if alike[kind] == 1 else ALIKE
            step = DEAR_STEP if base.case.name in checker.dear else 1
            step = max(step, every_nth) if place.type == "string" else step
            every = fillings(stage.document, place, stage.pools)
            for name, filling in islice(every, seen % step, most and most + seen % step, step):
                checker.check(
                    base.operation,
                    f"{place.where} {place.label}",
                    name,
                    lambda part, base=base, place=place, filling=filling: stage.build(
                        base, place, filling(part)
                    ),
                )
    return seen


def fill_together(checker: CostChecker, only: str = "", every_nth: int = 1) -> int:
    """Send the requests whose cost comes from combinations, with all narrows or a part of them.
    Return the number of requests.
    """
    stage = checker.stage
    if not isinstance(stage, ChatStage):
        return 0
    number = 0
    for base, about, parameters in compounds(stage):
        if only not in base.operation:
            continue
        number += 1
        if number % every_nth and about.startswith(("narrow", "to a thousand", "about")):
            continue
        checker.check(
            base.operation,
            about,
            "together",
            lambda part, base=base, parameters=parameters: stage.build(
                Base(base.case, base.actor, parameters(part))
            ),
        )
    return number


@contextmanager
def empty_databases(engine: str, directory: Path) -> Iterator[dict[str, str]]:
    """Yield the URL of an empty database for each service."""
    if engine == "sqlite":
        yield {name: f"sqlite:///{directory}/{name}.db" for name in ("payment", "chat")}
        return
    with running_server() as server:
        names = {name: server.create() for name in ("payment", "chat")}
        try:
            yield {name: server.url_of(database) for name, database in names.items()}
        finally:
            for database in names.values():
                server.drop(database)


def try_all(stage: Stage, only: str, every_nth: int, alone: bool) -> CostChecker:
    """Run all tests of a service, and print a summary."""
    started = time.monotonic()
    with Meter(stage.database).open() as meter:
        checker = CostChecker(stage, meter, loud=True)
        warm_up(checker)
        places = fill_places(checker, only, every_nth) if alone else 0
        together = fill_together(checker, only, every_nth)
    for operation in stage.operations:
        checker.findings.extend(
            f"no bound: {place}" for place in unbounded(stage.document, operation)
        )
    kinds = len({tried.filling for tried in checker.tries})
    print(
        f"{stage.service} on {stage.database.dialect}: {len(stage.operations)} operations, "
        f"{places} places, {kinds} kinds of fillings, {together} requests filled together; "
        f"{len(checker.tries)} requests in {time.monotonic() - started:.0f} s"
    )
    return checker


def weigh_all(stage: Stage, only: str, every_nth: int) -> CostChecker:
    """Send the same requests, or a part of them, again to measure the bytes that they write. Print
    the largest.

    Recording the bytes takes time, so time is not checked.
    """
    with weighed(stage.database), Meter(stage.database).open() as meter:
        checker = CostChecker(stage, meter, timed=False, loud=True)
        warm_up(checker)
        fill_places(checker, only, max(every_nth, DEAR_STEP))
        fill_together(checker, only, every_nth)
    print("the heaviest:")
    for tried in heaviest(checker.tries):
        print(f"  {tried}")
    return checker


def try_live(
    checker: CostChecker, unrelated: httpx.Request, url: str, directory: Path
) -> list[str]:
    """Send the most expensive requests to a real server. Return the findings."""
    dearest = [
        tried.request for tried in worst(checker.tries, AT_ONCE) if tried.request is not None
    ]
    if not dearest:
        return []
    delays = measure(directory, url, dearest, unrelated)
    print(delays)
    return [] if delays.is_short else [f"others wait: {delays}"]


def report(checker: CostChecker) -> None:
    print("the worst ten:")
    for tried in worst(checker.tries):
        print(f"  {tried}")
    print(f"{len(checker.findings)} findings")
    for finding in checker.findings:
        print(f"  {finding}")
    sys.stdout.flush()


def search(minutes: float, only: str, seed: int) -> int:
    """Search all targets, or those with that name. Return the exit status."""
    from tests.contract.cost.targets import TARGETS, find_target

    names = [name for name in TARGETS if only in ("", name)]
    if not names:
        print(f"no target {only}: {', '.join(TARGETS)}", file=sys.stderr)
        return 2
    targets = {name: TARGETS[name] for name in names}
    above = search_all(targets, find_target, minutes=minutes, seed=seed, directory=KEPT_IN)
    return 1 if above else 0


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/cost")
    parser.add_argument(
        "engine", nargs="?", choices=("sqlite", "postgresql", "both"), default="both"
    )
    parser.add_argument("--service", choices=("payment", "chat", "both"), default="both")
    parser.add_argument("--only", default="", help="a part of the names of the operations")
    parser.add_argument("--part", type=float, default=1.0, help="how much of the stored data")
    parser.add_argument(
        "--every", type=int, default=1, help="of the texts at a place, try each so-manieth"
    )
    parser.add_argument(
        "--together", action="store_true", help="only what is filled together, and the server"
    )
    parser.add_argument(
        "--search",
        type=float,
        metavar="MINUTES",
        help="search for the inputs that cost the most; with --only, of one target",
    )
    parser.add_argument("--seed", type=int, default=1, help="of the search")
    arguments = parser.parse_args(argv)
    if arguments.search is not None:
        return search(arguments.search, arguments.only, arguments.seed)
    logs.configure("error", secrets=(), stream=open(os.devnull, "wb"))  # noqa: SIM115
    engines = ("sqlite", "postgresql") if arguments.engine == "both" else (arguments.engine,)
    scale = Scale().part(arguments.part)
    found = 0
    for engine in engines:
        directory = Path(tempfile.mkdtemp(prefix="specd-cost-"))
        try:
            with empty_databases(engine, directory) as urls:
                if arguments.service != "chat":
                    with payment_on(urls["payment"], scale) as payment:
                        checker = try_all(
                            payment, arguments.only, arguments.every, not arguments.together
                        )
                        heavy = weigh_all(payment, arguments.only, arguments.every)
                    checker.findings.extend(heavy.findings)
                    report(checker)
                    found += len(checker.findings)
                if arguments.service != "payment":
                    with chat_on(urls["chat"], directory, scale) as chat:
                        checker = try_all(
                            chat, arguments.only, arguments.every, not arguments.together
                        )
                        heavy = weigh_all(chat, arguments.only, arguments.every)
                        checker.findings.extend(heavy.findings)
                        unrelated = chat.build_unrelated()
                    checker.findings.extend(try_live(checker, unrelated, urls["chat"], directory))
                    report(checker)
                    found += len(checker.findings)
        finally:
            shutil.rmtree(directory, ignore_errors=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
