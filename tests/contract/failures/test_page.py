"""docs/errors.md and the served pages are complete and current, and their links have targets."""

from __future__ import annotations

import re

import pytest

import specs
from specd._engine.error_docs import Failure
from tests.contract.failures.page import PAGE, SERVICES, rendered
from tests.support.served import documents_of
from tests.support.service_pages import build_pages

ALL = [(service, failure) for service, listed in SERVICES.items() for failure in listed()]
IDS = [f"{service}-{failure.anchor}" for service, failure in ALL]


def codes(service: str) -> set[tuple[str, str]]:
    """Return (status, code) of every error of a service."""
    return {(str(f.status), f"`{f.code}`" if f.code else "none") for f in SERVICES[service]()}


def test_page_matches_the_classes() -> None:
    assert PAGE.read_text() == rendered(), "run scripts/errors-table"


def test_every_error_has_a_description_and_advice() -> None:
    assert len(ALL) > 150
    for (_, failure), name in zip(ALL, IDS, strict=True):
        assert re.fullmatch(r"[A-Z`].{9,}[.)]", failure.when), (
            f"{name}: its class needs a docstring"
        )
        assert re.fullmatch(r"[A-Z].{9,}[.]", failure.advice), f"{name}: its class needs `advice`"


@pytest.mark.parametrize("service", SERVICES)
def test_documents_list_the_same_statuses_and_codes(service: str) -> None:
    heads = [specs.load(name)["info"]["description"] for name in documents_of(service)]
    lines = [line for head in heads for line in head.partition("## Errors")[2].splitlines()]
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    listed = {(status, code) for status, code, *_ in rows if status != "status"}
    # A code mentioned in another row is listed separately.
    mentioned = {("400", "`INVALID_ZOOM_TOKEN`")} if service == "chat" else set()
    found = codes(service) - {("404", "`BAD_REQUEST`")}
    assert listed | mentioned == found


@pytest.mark.parametrize("service", SERVICES)
def test_anchors_are_unique(service: str) -> None:
    page = (
        build_pages(
            documents={service: "/v1/openapi"},
            failures={service: SERVICES[service]()},
        )
        .test_client()
        .get(f"/docs/{service}/errors")
        .text
    )
    anchors = re.findall(r' id="([^"]+)"', page)
    assert len(anchors) == len(set(anchors))
    wanted = {failure.anchor for failure in SERVICES[service]()}
    grouped = {failure.code for failure in SERVICES[service]() if failure.subject}
    own = {"search-field", "search", "found", "contents"}
    own |= {anchor for anchor in anchors if re.fullmatch(r"group-\d+", anchor)}
    assert set(anchors) - own == wanted | grouped
    for anchor in wanted:
        assert f'<a id="{service}-{anchor}"></a>' in PAGE.read_text()


def test_text_is_escaped_in_the_page() -> None:
    bad = Failure("x", "X", 400, "<b>{name}</b>", "When `<i>` comes.", "Send <u>.")
    pages = build_pages(documents={}, failures={"payment": [bad]})
    page = pages.test_client().get("/docs/payment/errors").text
    assert ">&lt;b&gt;{name}&lt;/b&gt; <a " in page
    assert ">When <code>&lt;i&gt;</code> comes.</td>" in page
    assert ">Send &lt;u&gt;.</td>" in page


def test_other_services_have_no_page() -> None:
    pages = build_pages(documents={"payment": "/v1/openapi"})
    assert pages.test_client().get("/docs/payment/errors").status_code == 404
