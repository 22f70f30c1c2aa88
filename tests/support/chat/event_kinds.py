"""Every kind of event that clients can receive."""

import importlib
import pkgutil

import models.chat.events
from models.chat.events.log import ClientEvent


def list_kinds() -> list[type[ClientEvent]]:
    """Return the event classes in the modules of `models.chat.events`, by type and op."""
    package = models.chat.events
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
    return sorted(ClientEvent.__subclasses__(), key=lambda kind: (kind.type, kind.op or ""))
