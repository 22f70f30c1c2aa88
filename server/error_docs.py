"""What the page of errors tells of each failure, and the link that leads there from an answer."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Failure:
    """One way a request can fail. `code` is None where an answer has only its status; `message` may
    hold `{placeholders}`; `when` and `advice` are Markdown; `extra` names what else the answer
    tells; `subject` groups the failures that share a code too general to say much.
    """

    anchor: str
    code: str | None
    status: int
    message: str
    when: str
    advice: str
    extra: tuple[str, ...] = ()
    subject: str = ""


def describe(kind: Any, *, anchor: str, code: str | None, status: int, **more: Any) -> Failure:
    """A failure by its class: the docstring is when it comes, `advice` is what to do."""
    return Failure(
        anchor=anchor,
        code=code,
        status=status,
        when=first_paragraph(kind),
        advice=kind.advice,
        **more,
    )


def first_paragraph(kind: type) -> str:
    """The first paragraph of a class's own docstring, without what it says of facts."""
    paragraph = inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0]
    return re.split(r"\s*\bFacts: ", " ".join(paragraph.split()))[0]


def help_link(service: str, anchor: str) -> tuple[str, str]:
    """The header (RFC 8288) that leads from an answer to what to do."""
    return ("Link", f'</docs/{service}/errors#{anchor}>; rel="help"')
