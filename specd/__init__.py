"""specd serves hand-written OpenAPI documents: it rejects every request that the document does
not allow, and calls your Python function for all others.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from specd._project import Project, Service

if TYPE_CHECKING:
    __version__: str

    from specd._composition import ComposedService, service_from_settings
    from specd._cors import Cors
    from specd._db.errors import Refusal
    from specd._engine.context import Context
    from specd._engine.files import File, FileIntake
    from specd._engine.http.proxies import network_of_client
    from specd._engine.http.queries import parse_pairs
    from specd._engine.idempotency import Idempotency, idempotent
    from specd._engine.phases import before_transaction, read_only
    from specd._engine.pools import Pool
    from specd._engine.response import Response, encode
    from specd._error_table import ErrorTable
    from specd._limits.limiter import RateLimiter
    from specd._security_events import current_caller, emit
    from specd._settings import Settings, setting
    from specd._tracing import Outgoing, current_traceparent

_MODULES = {
    "ComposedService": "specd._composition",
    "Context": "specd._engine.context",
    "Cors": "specd._cors",
    "ErrorTable": "specd._error_table",
    "File": "specd._engine.files",
    "FileIntake": "specd._engine.files",
    "Idempotency": "specd._engine.idempotency",
    "Outgoing": "specd._tracing",
    "Pool": "specd._engine.pools",
    "RateLimiter": "specd._limits.limiter",
    "Refusal": "specd._db.errors",
    "Response": "specd._engine.response",
    "Settings": "specd._settings",
    "before_transaction": "specd._engine.phases",
    "current_caller": "specd._security_events",
    "current_traceparent": "specd._tracing",
    "emit": "specd._security_events",
    "encode": "specd._engine.response",
    "idempotent": "specd._engine.idempotency",
    "network_of_client": "specd._engine.http.proxies",
    "parse_pairs": "specd._engine.http.queries",
    "read_only": "specd._engine.phases",
    "service_from_settings": "specd._composition",
    "setting": "specd._settings",
}
"""Name -> the module that defines it, which is imported when the name is first used."""

__all__ = [
    "ComposedService",
    "Context",
    "Cors",
    "ErrorTable",
    "File",
    "FileIntake",
    "Idempotency",
    "Outgoing",
    "Pool",
    "Project",
    "RateLimiter",
    "Refusal",
    "Response",
    "Service",
    "Settings",
    "before_transaction",
    "current_caller",
    "current_traceparent",
    "emit",
    "encode",
    "idempotent",
    "network_of_client",
    "parse_pairs",
    "read_only",
    "service_from_settings",
    "setting",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("specd._release").RELEASE
    if name not in _MODULES:
        raise AttributeError(f"module 'specd' has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value
