"""Names in the text of a message: users, groups, channels, custom emoji, linkifiers.

One pass over the text collects candidates, and then one statement reads each kind that occurs.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Text,
    TypeDecorator,
    and_,
    bindparam,
    func,
    or_,
    select,
)

from models.chat.access.channels import readable_channel_ids
from models.chat.access.membership import belongs
from models.chat.access.people import sees_everybody, visible_to
from models.chat.common.name_keys import composed, key_of
from models.chat.identity.actors import Actor
from models.chat.rendering.links import Linkifier, Linkifiers
from models.chat.rendering.previews import Preview, find_previews, handles_in
from models.chat.tables import Channel, RealmEmoji, User, UserGroup
from models.chat.tables import Linkifier as LinkifierRow
from models.rows import RowQuery
from specd.db import Db

MAX_NAMES = 3_000
"""Maximum number of names of one kind in texts that are rendered together. One message cannot
contain as many.
"""

_BOLD = re.compile(r"([@#])_?\*\*([^*\n]{1,250})\*\*")
_GROUP = re.compile(r"@_?\*([^*\n]{1,100})\*")
_EMOJI = re.compile(r":(?=([a-z0-9_+.-]{1,60}):)")
_USER_ID = re.compile(r"(.*)\|([0-9]{1,10})", re.DOTALL)
WILDCARDS = frozenset(("all", "everyone", "channel", "stream"))


@dataclass(frozen=True, slots=True)
class Names:
    """The names that a text may refer to. Keys are those of `key_of`."""

    users: dict[int, str] = field(default_factory=dict)
    users_by_name: dict[str, list[int]] = field(default_factory=dict)
    groups: dict[str, tuple[int, str, bool]] = field(default_factory=dict)
    """Name -> id, name as written, and whether the author may notify the group."""
    channels: dict[str, tuple[int, str]] = field(default_factory=dict)
    emoji: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Custom emoji: name -> id, address."""
    previews: dict[str, Preview] = field(default_factory=dict)
    """Images that users uploaded, by handle."""
    linkifiers: Linkifiers = field(default_factory=Linkifiers)
    finds_links: bool = True
    """Whether plain addresses become links."""
    translates_emoticons: bool = False
    """The author's setting."""
    host: str = ""
    """The organization's host. Links to its pages become relative."""

    def find_user(self, text: str) -> int | None:
        """Return the id of the user in `Hamlet`, `Hamlet|4` or `|4`, or None if it is unknown or
        ambiguous.
        """
        match = _USER_ID.fullmatch(text)
        if match is not None:
            user_id = int(match[2])
            name = self.users.get(user_id)
            if name is not None and (not match[1] or key_of(name) == key_of(match[1])):
                return user_id
            return None
        named = self.users_by_name.get(key_of(text), ())
        return named[0] if len(named) == 1 else None


_LINKIFIERS = RowQuery(
    Linkifier,
    select(LinkifierRow.pattern, LinkifierRow.url_template)
    .where(LinkifierRow.realm_id == bindparam("realm_id"))
    .order_by(LinkifierRow.position, LinkifierRow.id),
)


def find_linkifiers(db: Db, realm_id: int) -> Linkifiers:
    """Return the organization's linkifiers in the order of their application."""
    return Linkifiers(_LINKIFIERS.all(db, {"realm_id": realm_id}))


def find_names(db: Db, author: Actor, text: str) -> Names:
    """Return the names that a text of the author may refer to."""
    linkifiers = find_linkifiers(db, author.realm_id)
    people: set[str] = set()
    channels: set[str] = set()
    groups: set[str] = set()
    emoji: set[str] = set()
    if "**" in text:
        for sign, name in _BOLD.findall(text):
            (people if sign == "@" else channels).add(name)
    if "@*" in text or "@_*" in text:
        groups.update(_GROUP.findall(text))
    if ":" in text:
        emoji.update(_EMOJI.findall(text))
    people -= WILDCARDS | {"topic"}
    users, by_name = _find_users(db, author, _some(people))
    return Names(
        users=users,
        users_by_name=by_name,
        groups=_find_groups(db, author, _some(groups)),
        channels=_find_channels(db, author, _some(channels)),
        emoji=find_realm_emoji(db, author.realm_id, _some(emoji)) if emoji else {},
        previews=find_previews(db, author.realm_id, _some(handles_in(text))),
        linkifiers=linkifiers,
        translates_emoticons=author.translate_emoticons,
        host=author.realm.host,
    )


def _some(names: set[str]) -> list[str]:
    return sorted(names)[:MAX_NAMES]


class _Lowered(TypeDecorator[str]):
    """A text in lower case by the database's lower(), so that its index can be used."""

    impl = Text
    cache_ok = True

    def bind_expression(self, bindparam: BindParameter[str]) -> ColumnElement[str]:
        return func.lower(bindparam)


def _find_users(
    db: Db, author: Actor, mentions: Iterable[str]
) -> tuple[dict[int, str], dict[str, list[int]]]:
    """Return the users that the author may see: id -> name, and key of a name -> ids."""
    names: list[str] = []
    ids: list[int] = []
    for mention in mentions:
        match = _USER_ID.fullmatch(mention)
        if match is None:
            names.append(composed(mention))
        else:
            ids.append(int(match[2]))
    users: dict[int, str] = {}
    by_name: dict[str, list[int]] = defaultdict(list)
    conditions: list[ColumnElement[bool]] = []
    if ids:
        conditions.append(User.id.in_(ids))
    if names:
        lowered = bindparam(None, names, type_=_Lowered(), expanding=True, unique=True)
        conditions.append(and_(func.lower(User.full_name).in_(lowered), User.is_active))
    if not conditions:
        return users, by_name
    wanted = select(User.id, User.full_name).where(
        User.realm_id == author.realm_id, or_(*conditions)
    )
    if not sees_everybody(db, author):
        wanted = wanted.where(User.id.in_(visible_to(author.id)))
    key = {"realm_id": author.realm_id}
    for user_id, full_name in db.execute(wanted.order_by(User.id), key):
        users[user_id] = full_name
        by_name[key_of(full_name)].append(user_id)
    return users, by_name


def _find_groups(db: Db, author: Actor, names: Sequence[str]) -> dict[str, tuple[int, str, bool]]:
    if not names:
        return {}
    rows = db.execute(
        select(UserGroup.id, UserGroup.name, UserGroup.kind, UserGroup.can_mention_group).where(
            UserGroup.realm_id == author.realm_id,
            UserGroup.name_key.in_([key_of(name) for name in names]),
            ~UserGroup.is_deactivated,
        )
    )
    return {
        key_of(str(name)): (
            group_id,
            str(name),
            kind == "named" and belongs(db, author, can_mention),
        )
        for group_id, name, kind, can_mention in rows
    }


def _find_channels(db: Db, author: Actor, texts: Sequence[str]) -> dict[str, tuple[int, str]]:
    """Return the channels that the author may read."""
    if not texts:
        return {}
    keys = {key_of(text) for text in texts}
    keys |= {key_of(text.partition(">")[0].strip()) for text in texts}
    rows = db.execute(
        select(Channel.id, Channel.name).where(
            Channel.realm_id == author.realm_id,
            Channel.name_key.in_(keys),
            Channel.id.in_(readable_channel_ids(db, author)),
        )
    )
    return {key_of(name): (channel_id, name) for channel_id, name in rows}


def find_realm_emoji(
    db: Db, realm_id: int, names: Sequence[str] | None = None
) -> dict[str, tuple[int, str]]:
    """Return custom emoji, all of them or those with these names: name -> id, address."""
    wanted = select(RealmEmoji.name, RealmEmoji.id, RealmEmoji.source_url).where(
        RealmEmoji.realm_id == realm_id, ~RealmEmoji.is_deactivated
    )
    if names is not None:
        wanted = wanted.where(RealmEmoji.name.in_(names))
    return {name: (emoji_id, url) for name, emoji_id, url in db.execute(wanted)}
