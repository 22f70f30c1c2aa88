"""The part of a service that its pages use."""

from __future__ import annotations

from typing import Any, Protocol

from models.clock import Clock
from models.database import Database
from settings import Settings


class Served(Protocol):
    """A service that has a database; `server.service.Service` is the one we use."""

    @property
    def database(self) -> Database: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def adapters(self) -> Any: ...
    @property
    def settings(self) -> Settings: ...
