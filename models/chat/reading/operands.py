"""The channels and users in the operands of a narrow. One statement reads each kind."""

import re
from collections.abc import Iterable

from models.chat.access.channels import ChannelView, filter_visible, find_channels
from models.chat.access.naming import find_named
from models.chat.common.name_keys import key_of
from models.chat.identity.actors import Actor
from models.chat.messages.errors import BadNarrow
from models.chat.reading.terms import Operand
from specd.db import Db

MAX_PEOPLE = 1000
"""In one narrow: the maximum number of users in a conversation."""

_ID = re.compile(r"[0-9]{1,10}", re.ASCII)


class NamedChannels:
    """The channels in the operands that the actor may see."""

    def __init__(self, db: Db, actor: Actor, operands: Iterable[Operand]) -> None:
        names = {operand for operand in operands if isinstance(operand, str)}
        ids = {operand for operand in operands if isinstance(operand, int)}
        ids |= {int(name) for name in names if _ID.fullmatch(name)}
        self._by_id: dict[int, ChannelView] = {}
        self._by_name: dict[str, ChannelView] = {}
        if ids or names:
            channels = find_channels(db, actor, channel_ids=ids, names=names)
            for channel in filter_visible(db, actor, channels):
                self._by_id[channel.id] = channel
                self._by_name[key_of(channel.name)] = channel

    def access(self, operand: int | str) -> ChannelView:
        """Return the channel. Raise `BadNarrow` if the actor may not see it."""
        channel = None
        if isinstance(operand, str):
            channel = self._by_name.get(key_of(operand.strip()))
            if channel is None and _ID.fullmatch(operand):
                operand = int(operand)
        if isinstance(operand, int):
            channel = self._by_id.get(operand)
        if channel is None:
            raise BadNarrow(desc=f"unknown channel {operand}")
        return channel


class NamedUsers:
    """The users in the operands: by id, by ids, or by emails separated by commas."""

    def __init__(self, db: Db, actor: Actor, operands: Iterable[Operand]) -> None:
        """Raise `BadNarrow` if there are more than `MAX_PEOPLE`."""
        named = {part for operand in operands for part in _parts_of(operand)}
        if len(named) > MAX_PEOPLE:
            raise BadNarrow(desc=f"more than {MAX_PEOPLE} users")
        rows = find_named(db, actor, named, system_bots=True) if named else {}
        self._ids: dict[int | str, int] = {name: row.id for name, row in rows.items()}

    def find(self, operand: Operand) -> list[int] | None:
        """Return the ids of the users, or None unless the actor may see all of them."""
        ids = [self._ids.get(part) for part in _parts_of(operand)]
        found_ids = [user_id for user_id in ids if user_id is not None]
        return found_ids if found_ids and len(found_ids) == len(ids) else None

    def access(self, operand: Operand) -> list[int]:
        """Return the ids of the users. Raise `BadNarrow` unless the actor may see all of them."""
        user_ids = self.find(operand)
        if user_ids is None:
            shown = operand if not isinstance(operand, list) else ",".join(map(str, operand))
            raise BadNarrow(desc=f"unknown user {shown}")
        return user_ids


def _parts_of(operand: Operand) -> list[int | str]:
    if isinstance(operand, int):
        return [operand]
    if isinstance(operand, str):
        return [part.strip() for part in operand.split(",", MAX_PEOPLE)]
    return list(operand)
