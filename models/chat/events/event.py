"""What all events for clients share: a kind is a class, and an event is one record of it."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, ClassVar, Final, TypeVar, dataclass_transform

WireObject = Mapping[str, Any]
"""An object as answers of the API show it too. The class with the field names its maker."""


class Absent(Enum):
    """The type of `ABSENT`."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT
"""The value of a field that this one event does not have. None is JSON's null."""

Value = TypeVar("Value")


def given(value: Value | None) -> Value | Absent:
    """A field from an optional argument: the value, or `ABSENT` for None."""
    return ABSENT if value is None else value


@dataclass_transform(kw_only_default=True, frozen_default=True)
class ClientEvent:
    """An event as clients see it. Its fields are those of the body, in their order.

    A kind is a type of event, or a type with an op:
    `class DeviceAddEvent(ClientEvent, type="device", op="add")`. Each kind becomes a frozen,
    keyword-only dataclass. Fields that are `internal` are for the delivery
    (`models.chat.queues.delivery`), and clients never see them.
    """

    type: ClassVar[str]
    op: ClassVar[str | None]
    internal: ClassVar[tuple[str, ...]]
    _keys: ClassVar[tuple[tuple[str, str], ...]]

    def __init_subclass__(
        cls, *, type: str, op: str | None = None, internal: tuple[str, ...] = ()
    ) -> None:
        cls.type, cls.op, cls.internal = type, op, internal
        kind: Any = dataclass(frozen=True, kw_only=True)(cls)
        cls._keys = tuple(
            (field.name, f"_{field.name}" if field.name in internal else field.name)
            for field in fields(kind)
        )

    @property
    def channel_id(self) -> int | None:
        """The channel that a client must be able to read when it is told; None: no channel."""
        return None

    def payload(self) -> dict[str, Any]:
        """The body without `id` and `type`: `op`, then every field that is not absent. The keys of
        internal fields begin with an underscore.
        """
        body: dict[str, Any] = {} if self.op is None else {"op": self.op}
        for name, key in self._keys:
            value = getattr(self, name)
            if value is not ABSENT:
                body[key] = value
        return body
