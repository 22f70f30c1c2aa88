"""Our engine, stock connexion and openapi-core accept the same requests, except documented
differences.

`scripts/differential` runs the same with 20,000 requests for each document.
"""

import asyncio
import logging
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
import structlog

from tests.contract.differential.compare import ACCEPT, CRASH, Implementations, explain
from tests.contract.differential.differences import EVERY
from tests.contract.differential.generate import Generator, Request
from tests.contract.differential.run import run
from tests.contract.differential.subjects import SUBJECTS, WITHOUT_STOCK, shop
from tests.specd.engine.services import SHOP

NUMBERS = {"shop": 1000, "payment": 1000, "chat": 300}
SEED = 20261121


@pytest.fixture(autouse=True)
def silence() -> Iterator[None]:
    """Restore logging after the test, because the implementations log each rejection."""
    before = structlog.get_config()
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(50), cache_logger_on_first_use=False
    )
    yield
    structlog.configure(**before)
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("name", SUBJECTS)
def test_implementations_agree(name: str, tmp_path: Path) -> None:
    number = NUMBERS[name]
    report = run(name, tmp_path, number=number, seed=SEED)
    assert report.asked == number
    assert report.unexplained == []
    # A run in which nearly all requests are rejected, or accepted, would prove nothing.
    implementations = ("ours", "core") if name in WITHOUT_STOCK else ("ours", "stock", "core")
    for verdict, least in (("accept", 0.2), ("reject", 0.1)):
        agreed = ", ".join(f"{implementation} {verdict}" for implementation in implementations)
        assert report.verdicts[agreed] > least * number
    assert sum(report.explained.values()) < 0.6 * number


def generator(seed: int) -> Generator:
    _, credentials = shop(Path())
    return Generator(SHOP, base_path="/shop", credentials=credentials, seed=seed)


def test_same_seed_gives_the_same_requests() -> None:
    first, second = (list(islice(generator(7), 200)) for _ in range(2))
    assert first == second
    assert first != list(islice(generator(8), 200))


def test_unexplained_disagreement_is_detected(tmp_path: Path) -> None:
    """Verifies the comparison itself with an engine that rejects everything."""
    request = Request("GET", "/shop/items/special", template="/items/special", base_path="/shop")
    for wrong in (
        {"ours": "reject", "stock": ACCEPT, "core": ACCEPT},
        {"ours": ACCEPT, "stock": "reject", "core": ACCEPT},
        {"ours": ACCEPT, "stock": ACCEPT, "core": "reject"},
        {"ours": CRASH, "stock": CRASH, "core": CRASH},
    ):
        assert explain(request, wrong, SHOP)[1] is False


def test_no_difference_matches_a_plain_request() -> None:
    """Conditions are narrow: none of them matches the simplest valid requests."""
    plain = [
        Request("GET", "/shop/items/special", base_path="/shop"),
        Request("GET", "/shop/items", query=[("limit", "5")], base_path="/shop"),
        Request(
            "POST",
            "/shop/items",
            headers=[("Idempotency-Key", "12345678")],
            content_type="application/json",
            body=b'{"name":"a","price":"1"}',
            base_path="/shop",
        ),
    ]
    allowed = {("core", "cast of odd text"), ("stock", "cast of odd text")}
    for request in plain:
        fitting = {(d.oracle, d.name) for d in EVERY if d.applies(request, SHOP)}
        assert fitting <= allowed, request


def test_every_difference_has_a_reason() -> None:
    assert all(difference.reason and difference.verdicts for difference in EVERY)


def test_implementations_do_not_run_handlers(tmp_path: Path) -> None:
    service, _ = shop(tmp_path)
    request = Request("POST", "/shop/notes/wait", query=[("seconds", "60")], base_path="/shop")
    verdicts = asyncio.run(Implementations(service).ask(request))
    assert set(verdicts.values()) == {ACCEPT}
