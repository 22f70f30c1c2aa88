"""The part of a service that its pages use."""

from __future__ import annotations

from typing import Any, Protocol

from settings import Settings
from specd.db import Clock, Database


class Served(Protocol):
    """A service that has a database, implemented by `specd._engine.service.Service`."""

    @property
    def database(self) -> Database: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def adapters(self) -> Any: ...
    @property
    def settings(self) -> Settings: ...
