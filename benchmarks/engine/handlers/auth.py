"""The security function of the document."""

from benchmarks.engine.operations import OWNER, TOKEN
from specd import Context


def authenticate(token: str, *, request: Context) -> str | None:
    return OWNER if token == TOKEN else None
