"""Where the engine takes hold of connexion below its public interface.

connexion loads and checks documents, and the engine replaces its other half. connexion offers no
public method for this, so the engine overrides four private methods and calls two. They stand here
and nowhere else: whoever raises connexion's version reads this module. The start stops when
connexion no longer has one of them (`seams.py`); an override that connexion does not call would
leave a service without operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

from connexion import ConnexionMiddleware
from connexion.middleware.abstract import AbstractRoutingAPI
from connexion.operations import AbstractOperation
from connexion.security import AbstractSecurityHandler
from connexion.spec import OpenAPISpecification

from server.document.validity import is_certainly_valid

Compiled = TypeVar("Compiled")


class OperationsOfDocument(AbstractRoutingAPI[Compiled]):
    """connexion's walk through the operations of a document, with public methods to override.

    For each operation, connexion calls `make_operation` (its public method) and then `add`, and
    `refuse` when one of them raises.
    """

    def add(self, path: str, method: str, operation: Compiled) -> None:
        """Take in a compiled operation; `path` and `method` as the document writes them."""
        raise NotImplementedError

    def refuse(self, path: str, method: str, error: Exception) -> NoReturn:
        """Raise what stops the start because of an operation that cannot be compiled."""
        raise NotImplementedError

    @staticmethod
    def _framework_path_and_name(operation: AbstractOperation, path: str) -> tuple[str, str]:
        return path, operation.operation_id

    def _add_operation_internal(
        self, method: str, path: str, operation: Compiled, name: str | None = None
    ) -> None:
        self.add(path, method, operation)

    def _handle_add_operation_error(self, path: str, method: str, exc: Exception) -> None:
        self.refuse(path, method, exc)


def find_security_function(
    handler: AbstractSecurityHandler, scheme: Any
) -> Callable[..., Any] | None:
    """Return the function that a security scheme of the document names, or None."""
    function: Callable[..., Any] | None = handler._resolve_func(scheme)
    return function


@contextmanager
def documents_checked_soon() -> Iterator[None]:
    """Within, connexion checks a document only when it is not certainly valid: to say why not."""
    own = OpenAPISpecification._validate_spec

    def check(spec: dict[str, Any]) -> None:
        if not is_certainly_valid(spec):
            own(spec)

    OpenAPISpecification._validate_spec = staticmethod(check)
    try:
        yield
    finally:
        del OpenAPISpecification._validate_spec


def build(app: ConnexionMiddleware) -> None:
    """Build the middleware stack, and so compile the documents, before the first request."""
    app.app, app.middleware_stack = app._build_middleware_stack()
