"""Errors that the engine and the database raise."""

from specd._db.errors import DatabaseUnavailable
from specd._engine.errors import (
    BodyTooLarge,
    ForeignOrigin,
    HeadersTooLarge,
    InternalError,
    InvalidRequest,
    MethodNotAllowed,
    NotFound,
    RateLimited,
    RequestTimeout,
    TargetTooLong,
    Unauthenticated,
    UnsupportedMediaType,
    Violation,
)
from specd._settings import SettingsError

__all__ = [
    "BodyTooLarge",
    "DatabaseUnavailable",
    "ForeignOrigin",
    "HeadersTooLarge",
    "InternalError",
    "InvalidRequest",
    "MethodNotAllowed",
    "NotFound",
    "RateLimited",
    "RequestTimeout",
    "SettingsError",
    "TargetTooLong",
    "Unauthenticated",
    "UnsupportedMediaType",
    "Violation",
]
