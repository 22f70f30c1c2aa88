"""What the rows of an archive become part of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from models.chat.common.vault import Vault
from models.chat.identity.api_keys import KeyMaker
from models.chat.imports.ids import Ids
from models.chat.imports.texts import Texts
from models.json import Json

Line = Mapping[str, Json]
"""A line of an archive, of which nothing but the names of its columns was checked."""
Row = dict[str, Json]
"""The values of a row, by its columns."""


@dataclass(frozen=True, slots=True)
class Target:
    """What the rows become part of."""

    ids: Ids
    texts: Texts
    keys: KeyMaker
    vault: Vault
    name: str | None = None
    field_types: dict[int, int] = field(default_factory=dict)
    """The types of custom profile fields, by their old ids."""
    avatars: set[str] = field(default_factory=set)
    """The old handles of users' pictures whose files the archive has."""
    password_hashes: Mapping[int, str] = field(default_factory=dict)
    """Hashes that came beside the archive, by the old ids of users."""
    latest: datetime | None = None
    """What has happened has no later time. None: it comes from an installation of ours."""
