"""A sample of `scripts/cost`: every operation with small and larger data, and with its longest
lists.

Statements and structure are checked, so that the result does not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import yaml

from tests.contract.cost.campaign import warm_up
from tests.contract.cost.checking import COSTS, CostChecker
from tests.contract.cost.crowd import Scale
from tests.contract.cost.fillings import fillings
from tests.contract.cost.meter import Meter
from tests.contract.cost.places import Document, unbounded
from tests.contract.cost.repeating import repeat_all
from tests.contract.cost.stage import ChatStage, Stage, chat_on, payment_on
from tests.contract.cost.weighing import weighed
from tests.support.contract import operations_of
from tests.support.marks import in_all
from tests.support.postgres import PostgresServer
from tests.support.served import served

SERVICES = ("payment", "chat")
PARTS = (0.02, 0.06)
"""Shares of the stored data. No operation may need more statements for more data."""
LONG_TEXTS = ("content", "welcome_message_custom_text")
"""Names of rendered fields, which are sent with their maximum length."""
SHARE = 0.05
"""Share of a list's maximum, sufficient to distinguish a statement per item from one for all."""
CPU_S = 5.0
"""Twenty times the maximum of a request, exceeded only by excessive growth."""


@pytest.fixture(params=["sqlite", in_all("postgresql")])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database of each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/crowded.db"
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    name = server.create()
    yield server.url_of(name)
    server.drop(name)


@pytest.fixture(scope="module", params=["sqlite", in_all("postgresql")])
def little(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CostChecker]:
    """The chat service with the smaller data, and the usual costs of its operations. Writes are
    rolled back.
    """
    directory = tmp_path_factory.mktemp("little")
    with ExitStack() as stack:
        url = f"sqlite:///{directory}/chat.db"
        if request.param == "postgresql":
            server: PostgresServer = request.getfixturevalue("postgres")
            name = server.create()
            stack.callback(server.drop, name)
            url = server.url_of(name)
        stage = stack.enter_context(chat_on(url, directory, Scale().part(PARTS[0])))
        yield new_checker(stage, stack.enter_context(measured(stage)))


@contextmanager
def measured(stage: Stage) -> Iterator[Meter]:
    """A meter that also records written bytes."""
    with weighed(stage.database), Meter(stage.database).open() as meter:
        yield meter


def new_checker(stage: Stage, meter: Meter) -> CostChecker:
    checker = CostChecker(stage, meter, timed=False)
    warm_up(checker)
    return checker


def fill_dear_places(checker: CostChecker) -> None:
    """Fill every list of every operation with some of the stored objects, and rendered texts to
    their maximum.
    """
    stage = checker.stage
    seen: set[tuple[str, str]] = set()
    for base in stage.bases():
        for place in stage.document.places(base.operation):
            is_text = place.type == "string" and "enum" not in place.schema
            is_dear = place.type == "array" or (is_text and place.name in LONG_TEXTS)
            share = 1.0 if is_text else SHARE
            if not is_dear or (base.operation, place.label) in seen:
                continue
            seen.add((base.operation, place.label))
            name, filling = next(iter(fillings(stage.document, place, stage.pools)))
            checker.check(
                base.operation,
                place.label,
                name,
                lambda part, base=base, place=place, filling=filling, share=share: stage.build(
                    base, place, filling(part * share)
                ),
            )


def test_payment_operations_cost_at_most_their_limits(url: str) -> None:
    with payment_on(url, Scale().part(0.02)) as stage, measured(stage) as meter:
        checker = new_checker(stage, meter)
    assert checker.findings == []
    assert max(tried.cost.seconds for tried in checker.tries) < CPU_S


def test_chat_operations_cost_at_most_their_limits(little: CostChecker) -> None:
    fill_dear_places(little)
    assert little.findings == []
    assert {tried.operation for tried in little.tries} >= set(allowed_of("chat"))
    assert max(tried.cost.seconds for tried in little.tries) < CPU_S


@pytest.mark.parametrize("little", ["sqlite"], indirect=True)
def test_number_of_statements_does_not_grow_with_the_data(
    little: CostChecker, tmp_path: Path
) -> None:
    url, scale = f"sqlite:///{tmp_path}/chat.db", Scale().part(PARTS[1])
    assert isinstance(little.stage, ChatStage)
    with (
        chat_on(url, tmp_path, scale, compiled=little.stage) as stage,
        Meter(stage.database).open() as meter,
    ):
        usual = new_checker(stage, meter).usual
    assert usual.keys() == little.usual.keys()
    grown = {
        operation: (little.usual[operation], statements)
        for operation, statements in usual.items()
        if statements > little.usual[operation]
    }
    assert grown == {}


@pytest.mark.parametrize("little", ["sqlite"], indirect=True)
def test_repeated_request_writes_no_more(little: CostChecker) -> None:
    """This must be the last test of this data, because it keeps the writes."""
    assert repeat_all(little.stage, little.meter) == []


@pytest.mark.parametrize("service", SERVICES)
def test_every_place_has_a_limit(service: str) -> None:
    document = Document(served(service))
    places = [p for o in operations_of(served(service)) for p in unbounded(document, o)]
    assert places == []


@pytest.mark.parametrize("service", SERVICES)
def test_every_operation_has_a_limit_of_statements(service: str) -> None:
    assert set(allowed_of(service)) == set(operations_of(served(service)))


def allowed_of(service: str) -> dict[str, int]:
    named: dict[str, int] = yaml.safe_load(COSTS.read_text())[service]
    return named
