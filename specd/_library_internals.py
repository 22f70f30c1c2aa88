"""The internals of libraries that we call or override.

An override that a library no longer calls fails silently, so the start fails if one of these parts
is missing. To raise the version of a library, read the modules that use its parts.
"""

import re
import warnings
from importlib.metadata import version
from pkgutil import resolve_name

LIBRARY_INTERNALS = (
    "connexion:ConnexionMiddleware._build_middleware_stack",
    "connexion.middleware.abstract:AbstractRoutingAPI._add_operation_internal",
    "connexion.middleware.abstract:AbstractRoutingAPI._framework_path_and_name",
    "connexion.security:AbstractSecurityHandler._resolve_func",
    "connexion.spec:OpenAPISpecification._validate_spec",
    "sqlalchemy:Connection._handle_dbapi_exception",
    "sqlalchemy:Connection._has_events",
    "sqlalchemy:Engine._has_events",
    "uvicorn.protocols.http.flow_control:FlowControl.resume_reading",
    "uvicorn.protocols.http.httptools_impl:STATUS_LINE",
    "uvicorn.protocols.http.httptools_impl:HttpToolsProtocol._start_asgi_task",
    "uvicorn.protocols.http.httptools_impl:HttpToolsProtocol._unset_keepalive_if_required",
    "uvicorn.protocols.http.httptools_impl:HttpToolsProtocol.on_response_complete",
    "uvicorn.protocols.http.httptools_impl:HttpToolsProtocol.send_400_response",
    "uvicorn.protocols.http.httptools_impl:HttpToolsProtocol.timeout_keep_alive_handler",
    "uvicorn.protocols.http.httptools_impl:RequestResponseCycle.run_asgi",
    "uvicorn_worker:UvicornWorker._install_sigquit_handler",
    "uvicorn_worker:UvicornWorker._serve",
)


class LibraryInternalMissing(Exception):
    """The installed version of a library lacks a part that we use."""


def check_library_internals(*libraries: str) -> None:
    """Raise `LibraryInternalMissing` for the first part that `libraries` lack. Without arguments,
    check all libraries.
    """
    for seam in LIBRARY_INTERNALS:
        library = re.split("[.:]", seam)[0]
        if libraries and library not in libraries:
            continue
        try:
            with warnings.catch_warnings(action="ignore"):  # connexion imports deprecated modules
                resolve_name(seam)
        except (ImportError, AttributeError):
            raise LibraryInternalMissing(
                f"{library} {version(library)} has no {seam}, which specd uses;"
                " install the versions of constraints.txt"
            ) from None
