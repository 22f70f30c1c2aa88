"""What every operation costs at its documented maximum: `scripts/cost`."""

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
from tests.contract.cost.compounds import compounds
from tests.contract.cost.crowd import Scale
from tests.contract.cost.fillings import fillings
from tests.contract.cost.judging import Judge, heaviest, worst
from tests.contract.cost.live import AT_ONCE, measure
from tests.contract.cost.meter import Meter
from tests.contract.cost.places import unbounded
from tests.contract.cost.searching import search_all
from tests.contract.cost.stage import Base, ChatStage, Stage, chat_on, payment_on
from tests.contract.cost.weighing import weighed
from tests.support.postgres import running_server

KEPT_IN = Path("build/cost")
"""The dearest input of each target of a search."""
ALIKE = 4
DEAR_S = 0.08
"""What costs so much with nothing filled in (passwords are hashed) is tried with fewer fillings."""
DEAR_STEP = 9


def warm_up(judge: Judge) -> None:
    """Send every base twice, or once if time is not judged: what is compiled once is not a
    request's cost.
    """
    for base in judge.stage.bases():
        for _ in range(2 if judge.timed else 1):
            judge.meter.measure(lambda base=base: judge.stage.send(judge.stage.build(base)))
        made = judge.judge(
            base.operation, "-", "as it is", lambda part, b=base: judge.stage.build(b)
        )
        usual = judge.usual.get(base.operation, 0)
        judge.usual[base.operation] = max(usual, made.cost.statements)
        if made.cost.seconds > DEAR_S:
            judge.dear.add(base.case.name)


def fill_places(judge: Judge, only: str = "", every_nth: int = 1) -> int:
    """Every place of every operation, with every filling or a part of them, another part at each
    place. Returns how many places there are.
    """
    stage = judge.stage
    seen = 0
    alike: Counter[tuple[str, str, int]] = Counter()
    for base in stage.bases():
        if only not in base.operation:
            continue
        for place in stage.document.places(base.operation):
            seen += 1
            kind = (base.operation, place.label.removeprefix(place.name), id(place.schema))
            alike[kind] += 1
            # Twenty settings of one kind go the same way: the first is tried with everything.
            most = None if alike[kind] == 1 else ALIKE
            step = DEAR_STEP if base.case.name in judge.dear else 1
            step = max(step, every_nth) if place.type == "string" else step
            every = fillings(stage.document, place, stage.pools)
            for name, filling in islice(every, seen % step, most and most + seen % step, step):
                judge.judge(
                    base.operation,
                    f"{place.where} {place.label}",
                    name,
                    lambda part, base=base, place=place, filling=filling: stage.build(
                        base, place, filling(part)
                    ),
                )
    return seen


def fill_together(judge: Judge, only: str = "", every_nth: int = 1) -> int:
    """The requests that are dear by what they combine, of the narrows every or a part. Returns how
    many there are.
    """
    stage = judge.stage
    if not isinstance(stage, ChatStage):
        return 0
    number = 0
    for base, about, parameters in compounds(stage):
        if only not in base.operation:
            continue
        number += 1
        if number % every_nth and about.startswith(("narrow", "to a thousand", "about")):
            continue
        judge.judge(
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
    """URLs of an empty database for each service."""
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


def try_all(stage: Stage, only: str, every_nth: int, alone: bool) -> Judge:
    """Everything that is tried of one service, with a line about it."""
    started = time.monotonic()
    with Meter(stage.database).open() as meter:
        judge = Judge(stage, meter, loud=True)
        warm_up(judge)
        places = fill_places(judge, only, every_nth) if alone else 0
        together = fill_together(judge, only, every_nth)
    for operation in stage.operations:
        judge.findings.extend(
            f"no bound: {place}" for place in unbounded(stage.document, operation)
        )
    kinds = len({tried.filling for tried in judge.tries})
    print(
        f"{stage.service} on {stage.database.dialect}: {len(stage.operations)} operations, "
        f"{places} places, {kinds} kinds of fillings, {together} requests filled together; "
        f"{len(judge.tries)} requests in {time.monotonic() - started:.0f} s"
    )
    return judge


def weigh_all(stage: Stage, only: str, every_nth: int) -> Judge:
    """The same requests, or fewer, once more, for the bytes that they write: what notes these takes
    time, so time is not judged. Prints the heaviest.
    """
    with weighed(stage.database), Meter(stage.database).open() as meter:
        judge = Judge(stage, meter, timed=False, loud=True)
        warm_up(judge)
        fill_places(judge, only, max(every_nth, DEAR_STEP))
        fill_together(judge, only, every_nth)
    print("the heaviest:")
    for tried in heaviest(judge.tries):
        print(f"  {tried}")
    return judge


def try_live(judge: Judge, unrelated: httpx.Request, url: str, directory: Path) -> list[str]:
    """The dearest requests at a real server. Returns what was found."""
    dearest = [tried.request for tried in worst(judge.tries, AT_ONCE) if tried.request is not None]
    if not dearest:
        return []
    delays = measure(directory, url, dearest, unrelated)
    print(delays)
    return [] if delays.is_short else [f"others wait: {delays}"]


def report(judge: Judge) -> None:
    print("the worst ten:")
    for tried in worst(judge.tries):
        print(f"  {tried}")
    print(f"{len(judge.findings)} findings")
    for finding in judge.findings:
        print(f"  {finding}")
    sys.stdout.flush()


def search(minutes: float, only: str, seed: int) -> int:
    """Search all targets, or those of that name. Returns the exit status."""
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
    told = parser.parse_args(argv)
    if told.search is not None:
        return search(told.search, told.only, told.seed)
    logs.configure("error", secrets=(), stream=open(os.devnull, "wb"))  # noqa: SIM115
    engines = ("sqlite", "postgresql") if told.engine == "both" else (told.engine,)
    scale = Scale().part(told.part)
    found = 0
    for engine in engines:
        directory = Path(tempfile.mkdtemp(prefix="specd-cost-"))
        try:
            with empty_databases(engine, directory) as urls:
                if told.service != "chat":
                    with payment_on(urls["payment"], scale) as payment:
                        judge = try_all(payment, told.only, told.every, not told.together)
                        heavy = weigh_all(payment, told.only, told.every)
                    judge.findings.extend(heavy.findings)
                    report(judge)
                    found += len(judge.findings)
                if told.service != "payment":
                    with chat_on(urls["chat"], directory, scale) as chat:
                        judge = try_all(chat, told.only, told.every, not told.together)
                        heavy = weigh_all(chat, told.only, told.every)
                        judge.findings.extend(heavy.findings)
                        unrelated = chat.build_unrelated()
                    judge.findings.extend(try_live(judge, unrelated, urls["chat"], directory))
                    report(judge)
                    found += len(judge.findings)
        finally:
            shutil.rmtree(directory, ignore_errors=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
