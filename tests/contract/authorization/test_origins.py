"""Pages of other sites cannot change data with a browser, in any operation of both documents."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from tests.contract.authorization.chat_stage import CLEAN, ChatStage
from tests.contract.authorization.payment_stage import PaymentStage
from tests.contract.authorization.policy import ALLOWED, Case, Policy, load
from tests.support.chat.app import ChatClient
from tests.support.contract import operations_of
from tests.support.served import served

CHAT, PAYMENT = load("chat"), load("payment")
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
OWN = {"chat": "http://acme.example", "payment": "https://pay.example"}
CSRF_FAILED = {
    "result": "error",
    "msg": "CSRF error: a page of another site made your browser send this",
    "code": "CSRF_FAILED",
}
FOREIGN_ORIGIN = {
    "code": "foreign_origin",
    "message": (
        "The request came from a web page of another origin; call the API from your backend."
    ),
    "details": [],
}


def foreign(own: str) -> Iterator[Mapping[str, str]]:
    """Yield the headers of a browser for a page of another site."""
    scheme, _, host = own.partition("://")
    for origin in (
        "https://evil.example",
        "null",
        f"{scheme}://sibling.{host}",
        f"{own}.evil.example",
        f"{own}:8443",
        f"{'http' if scheme == 'https' else 'https'}://{host}",
        f"{own}, https://evil.example",
        "",
    ):
        yield {"Origin": origin}
        yield {"Origin": origin, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    for site in ("cross-site", "same-site", "something-new"):
        yield {"Sec-Fetch-Site": site}


def at_home(own: str) -> Iterator[Mapping[str, str]]:
    """Yield the headers of clients that are not browsers, and of the service's own pages."""
    yield {}
    yield {"Origin": own}
    yield {"Origin": own, "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}
    yield {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}


def changing(policy: Policy, document: Mapping[str, Any]) -> list[tuple[Case, str]]:
    """Return a case for each operation that may change data, and an actor who is allowed to send
    it.
    """
    methods = operations_of(document)
    found = {}
    for case in policy.cases:
        actors = [actor for actor, answer in case.cells.items() if answer == ALLOWED]
        if methods[case.operation][0] != "GET" and actors:
            found.setdefault(case.operation, (case, actors[-1]))
    return list(found.values())


def successes(document: Mapping[str, Any], operation: str) -> list[int]:
    """Return the statuses of success of an operation in the document."""
    method, path = operations_of(document)[operation]
    responses = document["paths"][path][method.lower()]["responses"]
    return [int(status) for status in responses if str(status).startswith("2")]


@contextmanager
def unchanged(file: Path) -> Iterator[None]:
    """Fail if the database is changed in the block."""
    with closing(sqlite3.connect(file)) as connection:
        look = "PRAGMA data_version"
        before = connection.execute(look).fetchone()
        yield
        assert connection.execute(look).fetchone() == before


@pytest.mark.reaches("CSRF_FAILED")
def test_chat_operations_reject_other_origins(chat_stage: ChatStage) -> None:
    cases = changing(CHAT, chat_stage.app.document)
    assert len(cases) > 50
    homes = cycle(at_home(OWN["chat"]))  # one for each slow operation
    for case, actor in cases:
        headers = next(homes)
        served = chat_stage.try_out(case, actor, headers=headers)
        assert served.is_success, (case.name, headers, served.text)
        chat_stage.forget()
        chat_stage.try_out(case, "nobody")  # creates the copy that is compared
        with unchanged(chat_stage.place(CLEAN)):
            for headers in foreign(OWN["chat"]):
                refused = chat_stage.try_out(case, actor, headers=headers)
                place = (case.name, headers)
                assert (refused.status_code, refused.json()) == (403, CSRF_FAILED), place


@pytest.mark.reaches("foreign_origin")
@pytest.mark.parametrize(
    "operation", sorted(case.operation for case, _ in changing(PAYMENT, served("payment")))
)
def test_payment_operations_reject_other_origins(
    operation: str, shop: PaymentStage, sqlite_url: str, tmp_path: Path
) -> None:
    app, file = shop.app, Path(sqlite_url.removeprefix("sqlite:///"))
    cases = {case.operation: (case, actor) for case, actor in changing(PAYMENT, app.document)}
    case, actor = cases.pop(operation)
    shop.database.dispose()
    fresh = Path(shutil.copy(file, tmp_path / "fresh.db"))
    with unchanged(file):
        for headers in foreign(OWN["payment"]):
            refused = shop.answer(case, actor, headers=headers)
            body = refused.json()
            assert body.pop("request_id") == refused.headers["Request-Id"]
            assert (refused.status_code, body) == (403, FOREIGN_ORIGIN), headers
    for headers in at_home(OWN["payment"]):
        shop.database.dispose()
        shutil.copy(fresh, file)
        answer = shop.answer(case, actor, headers=headers)
        assert [answer.status_code] == successes(app.document, operation), (headers, answer.text)


def test_method_override_by_a_form_is_rejected(chat_stage: ChatStage, tmp_path: Path) -> None:
    """For all methods, and all media types that a form of another site can have."""
    database = chat_stage.copy("form")
    chat_stage.app.play(database, chat_stage.clock)
    client = ChatClient(chat_stage.app, "acme.example", chat_stage.cast.cordelia)
    parts = b'--x\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n'
    forms = {
        "application/x-www-form-urlencoded": b"method=%s&full_name=Taken",
        "multipart/form-data; boundary=x": parts % (b"method", b"%s")
        + parts % (b"full_name", b"Taken")
        + b"--x--",
        "text/plain": b"method=%s\r\nfull_name=Taken",
    }
    with unchanged(tmp_path / "form.db"):
        for content_type, form in forms.items():
            for method in (b"PATCH", b"GET", b"OPTIONS", b"HEAD", b"BREW"):
                refused = client.request(
                    "POST",
                    "/settings",
                    content=form % method,
                    headers={"Origin": "null", "Content-Type": content_type},
                )
                assert (refused.status_code, refused.json()) == (403, CSRF_FAILED)
    database.dispose()


def test_reads_with_a_key_are_allowed_from_every_origin(
    chat_stage: ChatStage, tmp_path: Path
) -> None:
    """A `GET` changes nothing, and pages of other sites cannot read the response."""
    database = chat_stage.copy("read")
    chat_stage.app.play(database, chat_stage.clock)
    client = ChatClient(chat_stage.app, "acme.example", chat_stage.cast.cordelia)
    with unchanged(tmp_path / "read.db"):
        for headers in foreign(OWN["chat"]):
            answer = client.request("GET", "/users/me", headers=headers)
            assert answer.status_code == 200
            assert not any(name.startswith("access-control") for name in answer.headers)
    database.dispose()
