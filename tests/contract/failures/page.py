"""docs/errors.md, generated from the error classes of the services."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

from specd._composition import list_failures
from specd._engine.error_docs import Failure
from wsgi import project

PAGE = Path(__file__).parents[3] / "docs/errors.md"
SERVICES = {service.name: partial(list_failures, service) for service in project.services}
HEAD = """# What to do about an error

For users who write clients: all errors, with their causes and solutions.

Written by `scripts/errors-table` from the error classes: `models/payment/errors.py`,
`models/chat`, `specd/_engine/errors.py`. Edit those instead of this page.

Every error response has a header `Link: </docs/<service>/errors#...>; rel="help"`, which links to
its row on the copy of this page on the server. `{braces}` stand for values of the request.

On this page: [Payment](#payment), [Chat](#chat).
"""


def rendered() -> str:
    """Return the text of the page."""
    lines = [HEAD]
    for service, find_failures in SERVICES.items():
        lines += [f"## {service.capitalize()}", ""]
        for subject, group in groupby(find_failures(), key=lambda failure: failure.subject):
            lines += [*_table(service, subject, list(group)), ""]
    return "\n".join(lines).rstrip() + "\n"


def _table(service: str, subject: str, failures: Sequence[Failure]) -> Iterator[str]:
    if subject:
        yield f"### {failures[0].code}: {subject.rstrip('.')}"
        yield ""
    told = "`msg`" if service == "chat" else "`message`"
    head = ["status", told, "cause", "solution", "details"]
    head = head if subject else ["code", *head]
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    seen = set()
    for failure in failures:
        anchor = f'<a id="{service}-{failure.anchor}"></a>' if failure.anchor not in seen else ""
        seen.add(failure.anchor)
        code = f"`{failure.code}`" if failure.code else "none"
        extra = ", ".join(f"`{name}`" for name in failure.extra)
        cells = [str(failure.status), failure.message, failure.when, failure.advice, extra]
        cells = cells if subject else [code, *cells]
        row = " | ".join(cell.replace("|", r"\|") for cell in cells)
        yield f"| {anchor}{row} |"
