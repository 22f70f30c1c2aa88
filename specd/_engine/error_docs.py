"""The entries of the page of errors, and the link from a response to its entry."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Failure:
    """One way in which a request can fail. `code` is None if the response has only a status.
    `message` may contain `{placeholders}`. `when` and `advice` are Markdown. `extra` names the
    response's other keys. `subject` groups the failures that share the general code.
    """

    anchor: str
    code: str | None
    status: int
    message: str
    when: str
    advice: str
    extra: tuple[str, ...] = ()
    subject: str = ""


def first_paragraph(kind: type) -> str:
    """Return the first paragraph of a class's docstring, without its list of facts."""
    paragraph = inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0]
    return re.split(r"\s*\bFacts: ", " ".join(paragraph.split()))[0]


def help_link(service: str, anchor: str, prefix: str = "") -> tuple[str, str]:
    """Return the header (RFC 8288) with the link from a response to an entry. `prefix` is the path
    of the public address.
    """
    return ("Link", f'<{prefix}/docs/{service}/errors#{anchor}>; rel="help"')
