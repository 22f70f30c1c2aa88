"""Where the engine takes hold of connexion below its public interface.

connexion loads and checks documents, and the engine replaces its other half. connexion offers no
public method for this, so the engine overrides three private methods and calls two. They stand here
and nowhere else: whoever raises connexion's version reads this module. The start stops when
connexion no longer has one of them (`seams.py`); an override that connexion does not call would
leave a service without operations.
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
    """connexion's walk through the operations of a document, with public methods to override.

    For each operation, connexion calls `make_operation` (its public method) and then `add`.
    `refuse` gets what they raise.
    """

    def add_paths(self, paths: Any = None) -> None:
        """Take in all operations, also those of methods that connexion does not know (`QUERY`)."""
        for path, item in self.specification["paths"].items():
            for method in item:
                try:
                    self.add_operation(path, method)
                except Exception as error:
                    self.refuse(path, method, error)

    def add(self, path: str, method: str, operation: Compiled) -> None:
        """Take in a compiled operation; `path` and `method` as the document writes them."""
        raise NotImplementedError

    def refuse(self, path: str, method: str, error: Exception) -> None:
        """Note why an operation cannot be compiled."""
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
    """Within, connexion validates no document, because what it is given is made from one that is
    valid.
    """
    OpenAPISpecification._validate_spec = classmethod(lambda cls, spec: None)
    try:
        yield
    finally:
        del OpenAPISpecification._validate_spec


def build(app: ConnexionMiddleware) -> None:
    """Build the middleware stack, and so compile the documents, before the first request."""
    app.app, app.middleware_stack = app._build_middleware_stack()
