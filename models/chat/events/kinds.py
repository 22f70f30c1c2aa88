"""Every kind of event that clients can be told of."""

import importlib
import pkgutil

import models.chat.events
from models.chat.events.log import ClientEvent


def list_kinds() -> list[type[ClientEvent]]:
    """The classes of this room's modules, by type and op."""
    room = models.chat.events
    for module in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
        importlib.import_module(module.name)
    return sorted(ClientEvent.__subclasses__(), key=lambda kind: (kind.type, kind.op or ""))
