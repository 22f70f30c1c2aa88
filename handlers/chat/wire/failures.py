"""The chat service's failures, for its page of errors."""

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator

import models.chat
from handlers.chat.wire.errors import ENGINE, UNAVAILABLE, anchor_of, find_answer
from models.chat.errors import ChatError, RefusedCommand
from specd import Failure, describe
from specd.errors import DatabaseUnavailable


def list_failures() -> tuple[Failure, ...]:
    """Return every error of the service: those with a code of their own by status, then those
    without by subject.
    """
    code, msg = UNAVAILABLE
    failures = [
        _describe(kind)
        for kind in find_refusals()
        if hasattr(kind, "sentence") and not issubclass(kind, RefusedCommand)
    ]
    failures += [
        describe(
            kind,
            anchor=anchor_of(kind),
            code=code,
            status=status,
            message=msg,
            extra={405: ("allowed_methods",), 429: ("retry-after",)}.get(status, ()),
        )
        for kind, (status, code, msg) in ENGINE.items()
    ]
    failures.append(describe(DatabaseUnavailable, anchor=code, code=code, status=503, message=msg))
    return tuple(sorted(failures, key=lambda f: (f.subject, f.status, f.code or "")))


def find_refusals() -> list[type[ChatError]]:
    """Return the errors of the models and of the handlers, by module, in the order of their
    definitions.
    """
    for module in pkgutil.walk_packages(models.chat.__path__, f"{models.chat.__name__}."):
        importlib.import_module(module.name)
    # By module: classes stand in the order of imports otherwise.
    return sorted(_below(ChatError), key=lambda kind: kind.__module__)


def _describe(kind: type[ChatError]) -> Failure:
    answer = find_answer(kind)
    heading = inspect.getdoc(sys.modules[kind.__module__]) or ""
    return describe(
        kind,
        anchor=anchor_of(kind),
        code=kind.code,
        status=answer.status,
        message=kind.sentence,
        extra=answer.extra,
        subject=heading.partition("\n")[0] if kind.code == ChatError.code else "",
    )


def _below(kind: type[ChatError]) -> Iterator[type[ChatError]]:
    for child in kind.__subclasses__():
        yield child
        yield from _below(child)
