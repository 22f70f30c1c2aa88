"""Quotas: the maximum number of rows of each kind for a user, an organization or a message.
Everything that users can create without limit has a quota.

A quota is checked after the row is stored, in the same unit of work, and an error rolls the unit
back. Concurrent units may exceed it by one row each: a quota limits storage and is not an exact
count. It does not apply to the operator's commands.

Texts that one response lists also have a quota of bytes. Reminders need none, because their notes
are short.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, reduce
from operator import add
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Integer,
    Select,
    SQLColumnExpression,
    bindparam,
    func,
    literal_column,
    or_,
    select,
)
from sqlalchemy.orm import Session, aliased

from models.chat.common.errors import QuotaExceeded
from models.chat.tables import (
    AlertWord,
    Attachment,
    AuditLog,
    BotStorage,
    Channel,
    ChannelFolder,
    ClientDevice,
    Invitation,
    Linkifier,
    MessageEdit,
    MutedUser,
    NavigationView,
    Playground,
    ProfileField,
    Reaction,
    RealmDomain,
    RealmEmoji,
    SavedSnippet,
    ScheduledMessage,
    StoredDraft,
    Submessage,
    User,
    UserGroup,
    UserTopic,
)
from models.dialects import byte_length
from settings import Settings
from specd.db import Query, UtcMs

_OWNER: BindParameter[int] = bindparam("owner_id")
_RECENTLY: BindParameter[datetime] = bindparam("recently", type_=UtcMs)
_USER = aliased(User)
_REALM = select(_USER.realm_id).where(_USER.id == _OWNER).scalar_subquery()
_MADE = select(AuditLog.user_id).where(
    AuditLog.realm_id == _REALM, AuditLog.kind == "user_created", AuditLog.actor_id == _OWNER
)
_SCHEDULED = (
    ScheduledMessage.sender_id == _OWNER,
    ScheduledMessage.state != "sent",
    ScheduledMessage.target_message_id.is_(None),
)


@dataclass(frozen=True, slots=True)
class Quota:
    """A maximum number of rows. `what` names the rows in the error, `setting` contains the maximum,
    and `counted` selects the rows of one owner.

    If there is a `period`, rows created within it count even if they have ended or changed owners.
    """

    what: str
    setting: str
    counted: Select[*tuple[Any, ...]]
    period: timedelta | None = None


def _rows(*owned: ColumnElement[bool]) -> Select[int]:
    """Return a query with one row for each row that meets the conditions."""
    return select(literal_column("1", Integer)).where(*owned)


DEVICES = Quota("devices", "devices_per_user", _rows(ClientDevice.user_id == _OWNER))
BOTS = Quota(
    "bots",
    "bots_per_user",
    _rows(
        User.realm_id == _REALM,
        User.bot_type.is_not(None),
        or_(
            User.is_active & (User.bot_owner_id == _OWNER),
            User.is_active & User.id.in_(_MADE),
            User.id.in_(_MADE.where(AuditLog.at > _RECENTLY)),
        ),
    ),
    timedelta(days=1),
)
"""The bots that a user owns and those that the user created. Giving bots away or deactivating them
does not immediately permit new ones.
"""
STORED_KEYS = Quota("stored keys", "bot_storage_keys", _rows(BotStorage.user_id == _OWNER))
SCHEDULED_MESSAGES = Quota("scheduled messages", "scheduled_messages_per_user", _rows(*_SCHEDULED))
REMINDERS = Quota(
    "reminders",
    "reminders_per_user",
    _rows(
        ScheduledMessage.sender_id == _OWNER,
        ScheduledMessage.state != "sent",
        ScheduledMessage.target_message_id.is_not(None),
    ),
)
DRAFTS = Quota("drafts", "drafts_per_user", _rows(StoredDraft.user_id == _OWNER))
SAVED_SNIPPETS = Quota(
    "saved snippets", "saved_snippets_per_user", _rows(SavedSnippet.user_id == _OWNER)
)
ATTACHMENTS = Quota(
    "uploaded files",
    "attachments_per_user",
    _rows(Attachment.owner_id == _OWNER, Attachment.deleted_at.is_(None)),
)
NAVIGATION_VIEWS = Quota(
    "navigation views", "navigation_views_per_user", _rows(NavigationView.user_id == _OWNER)
)
ALERT_WORDS = Quota("alert words", "alert_words_per_user", _rows(AlertWord.user_id == _OWNER))
MUTED_USERS = Quota("muted users", "muted_users_per_user", _rows(MutedUser.user_id == _OWNER))
GROUPS = Quota(
    "user groups",
    "groups_per_user",
    _rows(UserGroup.creator_id == _OWNER, UserGroup.kind == "named"),
)
INVITATIONS = Quota(
    "invitations",
    "invitations_per_user",
    _rows(Invitation.inviter_id == _OWNER, Invitation.link_id.is_(None)),
)
CHANNELS = Quota("channels", "channels_per_user", _rows(Channel.creator_id == _OWNER))
TOPIC_POLICIES = Quota(
    "topics with a policy of their own",
    "topic_policies_per_user",
    _rows(UserTopic.user_id == _OWNER),
)
MESSAGE_EDITS = Quota(
    "edits of this message",
    "edits_per_message",
    _rows(MessageEdit.message_id == _OWNER, MessageEdit.prev_content.is_not(None)),
)
MESSAGE_MOVES = Quota(
    "moves of this message",
    "edits_per_message",
    _rows(MessageEdit.message_id == _OWNER, MessageEdit.prev_content.is_(None)),
)
"""Separate from edits, so that an author who has used up the edits does not prevent others from
moving the topic.
"""
SUBMESSAGES = Quota(
    "submessages of this message", "submessages_per_message", _rows(Submessage.message_id == _OWNER)
)
REACTIONS = Quota(
    "reactions to this message", "reactions_per_message", _rows(Reaction.message_id == _OWNER)
)
REACTION_EMOJI = Quota(
    "different emoji under this message",
    "reaction_emoji_per_message",
    select(Reaction.reaction_type, Reaction.emoji_code)
    .where(Reaction.message_id == _OWNER)
    .distinct(),
)
LINKIFIERS = Quota("linkifiers", "linkifiers_per_realm", _rows(Linkifier.realm_id == _OWNER))
PLAYGROUNDS = Quota("playgrounds", "playgrounds_per_realm", _rows(Playground.realm_id == _OWNER))
PROFILE_FIELDS = Quota(
    "profile fields", "profile_fields_per_realm", _rows(ProfileField.realm_id == _OWNER)
)
CUSTOM_EMOJI = Quota("custom emoji", "custom_emoji_per_realm", _rows(RealmEmoji.realm_id == _OWNER))
DOMAINS = Quota("domains", "domains_per_realm", _rows(RealmDomain.realm_id == _OWNER))
CHANNEL_FOLDERS = Quota(
    "channel folders", "channel_folders_per_realm", _rows(ChannelFolder.realm_id == _OWNER)
)


def require_within(
    session: Session,
    settings: Settings,
    quota: Quota,
    owner_id: int,
    *,
    now: datetime | None = None,
) -> None:
    """Raise `QuotaExceeded` if the owner (a user, a realm or a message) has more rows than the
    settings permit. `now` is required for a quota with a period.
    """
    most = settings.chat_quotas[quota.setting]
    values: dict[str, Any] = {"owner_id": owner_id, "enough": most + 1}
    if quota.period is not None:
        assert now is not None
        values["recently"] = now - quota.period
    (count,) = _count_of(quota).one(session, values)
    if count > most:
        raise QuotaExceeded(what=quota.what, limit=most)


@cache
def _count_of(quota: Quota) -> Query[int]:
    some = quota.counted.limit(bindparam("enough", type_=Integer)).subquery()
    return Query(select(func.count()).select_from(some))


# --- bytes ------------------------------------------------------------------------------------

MAX_BYTES = 10_000_000
"""The maximum size of all texts of one kind that a user has stored, because one response lists them
all.
"""


@dataclass(frozen=True, slots=True)
class TextQuota:
    """A maximum size of texts. `what` names them in the error, `owned` selects the rows of one
    owner, and `texts` are the columns.
    """

    what: str
    owned: tuple[ColumnElement[bool], ...]
    texts: tuple[SQLColumnExpression[Any], ...]


DRAFT_TEXTS = TextQuota(
    "drafts", (StoredDraft.user_id == _OWNER,), (StoredDraft.content, StoredDraft.recipient_ids)
)
SAVED_SNIPPET_TEXTS = TextQuota(
    "saved snippets", (SavedSnippet.user_id == _OWNER,), (SavedSnippet.content,)
)
SCHEDULED_TEXTS = TextQuota(
    "scheduled messages",
    _SCHEDULED,
    (ScheduledMessage.content, ScheduledMessage.rendered_content, ScheduledMessage.recipient_ids),
)


def require_texts_within(session: Session, quota: TextQuota, owner_id: int) -> None:
    """Raise `QuotaExceeded` if the owner's texts exceed `MAX_BYTES`."""
    (size,) = _size_of(quota).one(session, {"owner_id": owner_id})
    if size > MAX_BYTES:
        raise QuotaExceeded(what=f"bytes in {quota.what}", limit=MAX_BYTES)


@cache
def _size_of(quota: TextQuota) -> Query[int]:
    total = reduce(add, (func.coalesce(byte_length(text), 0) for text in quota.texts))
    return Query(select(func.coalesce(func.sum(total), 0)).where(*quota.owned))
