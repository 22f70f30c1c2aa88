"""A pytest plugin for the tests of services. Its fixtures call a service in the process of the
test, with an empty database for each test.

`client` calls the service as an HTTP client does, and `as_user` as a user with valid credentials.
To change the user, the settings or the service, define `actor`, `service_settings` or `service` in
a `conftest.py`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from specd._testing import Backends, Client

__all__ = ["Client", "actor", "as_user", "client", "service", "service_settings"]


@pytest.fixture
def client(
    service: str, service_settings: Mapping[str, Any], service_backends: Backends
) -> Iterator[Client]:
    """A client without credentials."""
    backend = service_backends.get(service, service_settings)
    with _library().Client(backend) as client:
        yield client


@pytest.fixture
def as_user(client: Client, actor: Any) -> Client:
    """A client whose requests have `actor` as `ctx.actor`."""
    return client.as_user(actor)


@pytest.fixture
def actor() -> Any:
    """The result of the service's security functions for valid credentials."""
    return "user"


@pytest.fixture
def service(request: pytest.FixtureRequest) -> str:
    """The service that a test is about: the one named like the test's folder, or the only one."""
    name: str = _library().service_of(request.path)
    return name


@pytest.fixture
def service_settings() -> Mapping[str, Any]:
    """Settings of the service in tests, by the names of their fields."""
    return {}


@pytest.fixture(scope="session")
def service_backends(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backends]:
    """The services of this test run."""
    library = _library()
    library.log_plain_tracebacks()
    backends: Backends = library.Backends(tmp_path_factory.mktemp("services"))
    yield backends
    backends.close()


def _library() -> Any:
    """Import the module that does the work when a test needs it. Ignore the warnings of libraries
    that specd imports, because they are not about the project.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_module("specd._testing")


def __getattr__(name: str) -> Any:
    if name == "Client":
        return _library().Client
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
