"""Errors that the engine and the database raise."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from specd._db.errors import DatabaseUnavailable
from specd._settings import SettingsError

if TYPE_CHECKING:
    from specd._engine.errors import (
        InvalidRequest,
        MethodNotAllowed,
        NotFound,
        RateLimited,
        Unauthenticated,
        Violation,
    )
    from specd._error_table import Answer, Row

__all__ = [
    "Answer",
    "DatabaseUnavailable",
    "InvalidRequest",
    "MethodNotAllowed",
    "NotFound",
    "RateLimited",
    "Row",
    "SettingsError",
    "Unauthenticated",
    "Violation",
]


def __getattr__(name: str) -> Any:
    """Import the errors of the engine when one is first used. Models and workers use only the other
    errors, so they start without connexion.
    """
    if name in __all__:
        module = "specd._error_table" if name in ("Answer", "Row") else "specd._engine.errors"
        return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
