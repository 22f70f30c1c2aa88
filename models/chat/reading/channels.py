"""The channels that the operands of a narrow name, each by id or by name."""

import re
from collections.abc import Iterable

from models.chat.access.channels import ChannelView, filter_known, find_channels
from models.chat.identity.actors import Actor
from models.chat.messages.errors import BadNarrow
from models.chat.reading.terms import Operand
from models.reader import Db

_ID = re.compile(r"[0-9]{1,10}", re.ASCII)


class NamedChannels:
    """Every channel the actor may know that one of the operands names, read in one statement."""

    def __init__(self, db: Db, actor: Actor, operands: Iterable[Operand]) -> None:
        names = {operand for operand in operands if isinstance(operand, str)}
        ids = {operand for operand in operands if isinstance(operand, int)}
        ids |= {int(name) for name in names if _ID.fullmatch(name)}
        self._by_id: dict[int, ChannelView] = {}
        self._by_name: dict[str, ChannelView] = {}
        if ids or names:
            found = find_channels(db, actor, channel_ids=ids, names=names)
            for channel in filter_known(db, actor, found):
                self._by_id[channel.id] = channel
                self._by_name[channel.name.casefold()] = channel

    def access(self, operand: int | str) -> ChannelView:
        """Raises `BadNarrow` for a channel that the actor may not know."""
        channel = None
        if isinstance(operand, str):
            channel = self._by_name.get(operand.strip().casefold())
            if channel is None and _ID.fullmatch(operand):
                operand = int(operand)
        if isinstance(operand, int):
            channel = self._by_id.get(operand)
        if channel is None:
            raise BadNarrow(desc=f"unknown channel {operand}")
        return channel
