"""The engine's use of connexion's internals.

connexion finds operations, handlers and security functions, and the engine replaces its other
parts. connexion has no public methods for this, so the engine overrides and calls private ones,
only in this module. To raise connexion's version, read this module. The start fails if connexion no
longer has one of them (`specd/_library_internals.py`). An override that connexion no longer calls
would leave a service without operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from connexion import ConnexionMiddleware
from connexion.middleware.abstract import AbstractRoutingAPI
from connexion.operations import AbstractOperation
from connexion.security import AbstractSecurityHandler
from connexion.spec import OpenAPISpecification

Compiled = TypeVar("Compiled")


class OperationsOfDocument(AbstractRoutingAPI[Compiled]):
    """The operations of a document, which connexion iterates, with public methods to override.

    For each operation, connexion calls `make_operation` (its public method) and then `add`. Their
    exceptions are passed to `refuse`.
    """

    def add_paths(self, paths: Any = None) -> None:
        """Add all operations, including those with methods that connexion does not support
        (`QUERY`).
        """
        for path, item in self.specification["paths"].items():
            for method in item:
                try:
                    self.add_operation(path, method)
                except Exception as error:
                    self.refuse(path, method, error)

    def add(self, path: str, method: str, operation: Compiled) -> None:
        """Add a compiled operation. `path` and `method` are as in the document."""
        raise NotImplementedError

    def refuse(self, path: str, method: str, error: Exception) -> None:
        """Record the reason why an operation cannot be compiled."""
        raise NotImplementedError

    @staticmethod
    def _framework_path_and_name(operation: AbstractOperation, path: str) -> tuple[str, str]:
        return path, operation.operation_id

    def _add_operation_internal(
        self, method: str, path: str, operation: Compiled, name: str | None = None
    ) -> None:
        self.add(path, method, operation)


def find_security_function(
    handler: AbstractSecurityHandler, scheme: Any
) -> Callable[..., Any] | None:
    """Return the function that a security scheme of the document names, or None."""
    function: Callable[..., Any] | None = handler._resolve_func(scheme)
    return function


@contextmanager
def nothing_validated() -> Iterator[None]:
    """Disable connexion's validation in this context, because the given document is generated from
    a valid one.
    """
    OpenAPISpecification._validate_spec = classmethod(lambda cls, spec: None)
    try:
        yield
    finally:
        del OpenAPISpecification._validate_spec


def build(app: ConnexionMiddleware) -> None:
    """Build the middleware stack before the first request. This compiles the documents."""
    app.app, app.middleware_stack = app._build_middleware_stack()
