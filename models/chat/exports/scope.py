"""The rows of an export: the conditions of each export type.

`public`: data that every member may see. `full_with_consent`: also data of users who consented.
`full_without_consent`: everything.
"""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, and_, exists, false, or_, select, true
from sqlalchemy.orm import aliased
from sqlalchemy.orm.util import AliasedClass

from models.chat.access.group_settings import CHANNEL_GROUPS
from models.chat.identity.roles import EmailVisibility
from models.chat.tables import (
    Attachment,
    AttachmentMessage,
    Channel,
    ConversationMember,
    Message,
    Subscription,
    User,
    UserGroup,
    UserMessage,
)
from models.dialects import IdColumn

PUBLIC = "public"
FULL_WITH_CONSENT = "full_with_consent"
FULL_WITHOUT_CONSENT = "full_without_consent"
EXPORT_TYPES = (PUBLIC, FULL_WITH_CONSENT, FULL_WITHOUT_CONSENT)
CONSENT = "allow_private_data_export"
"""The column of `User` with the user's consent."""

Condition = ColumnElement[bool]


@dataclass(frozen=True, slots=True)
class Scope:
    """One realm under one export type. Each method returns a condition on a table's rows."""

    realm_id: int
    export_type: str

    @property
    def has_everything(self) -> bool:
        return self.export_type == FULL_WITHOUT_CONSENT

    def consenting(self) -> Select[int]:
        """Return a select of the ids of users who consented, and of their bots."""
        owner = aliased(User)
        owned = select(owner.id).where(owner.realm_id == self.realm_id, _consents(owner))
        return select(User.id).where(
            User.realm_id == self.realm_id, or_(_consents(User), User.bot_owner_id.in_(owned))
        )

    def is_private_to(self, user_id: IdColumn) -> Condition:
        """Return the condition on rows that are private to one user."""
        if self.export_type == PUBLIC:
            return false()
        if self.has_everything:
            return self.is_user(user_id)
        return user_id.in_(self.consenting())

    def is_user(self, user_id: IdColumn) -> Condition:
        return user_id.in_(select(User.id).where(User.realm_id == self.realm_id))

    def delivery_email(self) -> Condition:
        """Return the condition on a user's real email address. If the user hides it even from
        administrators, it is exported only with the user's consent.
        """
        if self.has_everything:
            return true()
        return or_(
            User.email_address_visibility != int(EmailVisibility.NOBODY),
            self.is_private_to(User.id),
        )

    def is_channel(self) -> Condition:
        """Return the condition on `Channel`."""
        own = Channel.realm_id == self.realm_id
        if self.has_everything:
            return own
        if self.export_type == PUBLIC:
            return and_(own, ~Channel.invite_only)
        return and_(own, or_(~Channel.invite_only, Channel.id.in_(self._subscribed())))

    def in_channel(self, channel_id: IdColumn) -> Condition:
        return channel_id.in_(select(Channel.id).where(self.is_channel()))

    def in_conversation(self, conversation_id: IdColumn) -> Condition:
        """Return the condition on conversations with a member whose private data is exported."""
        if self.export_type == PUBLIC:
            return false()
        return conversation_id.in_(
            select(ConversationMember.conversation_id).where(
                self.is_private_to(ConversationMember.user_id)
            )
        )

    def is_message(self) -> Condition:
        """Return the condition on `Message`. In a private channel with protected history, a message
        is exported only if a subscriber who consented has a copy.
        """
        own = Message.realm_id == self.realm_id
        if self.has_everything:
            return own
        open_to_all = Message.channel_id.in_(
            select(Channel.id).where(Channel.realm_id == self.realm_id, ~Channel.invite_only)
        )
        if self.export_type == PUBLIC:
            return and_(own, open_to_all)
        shared = select(Channel.id).where(
            Channel.realm_id == self.realm_id,
            Channel.invite_only,
            Channel.history_public_to_subscribers,
            Channel.id.in_(self._subscribed()),
        )
        copied = exists(
            select(UserMessage.message_id)
            .join(
                Subscription,
                (Subscription.user_id == UserMessage.user_id)
                & (Subscription.channel_id == Message.channel_id),
            )
            .where(
                UserMessage.message_id == Message.id,
                Subscription.is_active,
                self.is_private_to(UserMessage.user_id),
            )
            .correlate(Message)
        )
        return and_(
            own,
            or_(
                open_to_all,
                Message.channel_id.in_(shared),
                self.in_conversation(Message.conversation_id),
                and_(Message.channel_id.is_not(None), copied),
            ),
        )

    def is_attachment(self) -> Condition:
        """Return the condition on `Attachment`: files in exported messages, and private files."""
        shown = exists(
            select(AttachmentMessage.message_id)
            .join(Message, Message.id == AttachmentMessage.message_id)
            .where(AttachmentMessage.attachment_id == Attachment.id, self.is_message())
            .correlate(Attachment)
        )
        own = self.is_private_to(Attachment.owner_id)
        is_stored = Attachment.deleted_at.is_(None)
        return and_(Attachment.realm_id == self.realm_id, is_stored, or_(shown, own))

    def is_subscription(self) -> Condition:
        """Return the condition on `Subscription`. Only ended subscriptions are private."""
        in_channel = self.in_channel(Subscription.channel_id)
        if self.has_everything:
            return in_channel
        return and_(
            in_channel, or_(Subscription.is_active, self.is_private_to(Subscription.user_id))
        )

    def is_group(self) -> Condition:
        """Return the condition on `UserGroup`. It excludes anonymous groups of channels that are
        not exported.
        """
        own = UserGroup.realm_id == self.realm_id
        if self.has_everything:
            return own
        left_out = and_(Channel.realm_id == self.realm_id, ~self.is_channel())
        conditions = [
            UserGroup.id.in_(select(getattr(Channel, name)).where(left_out))
            for name in CHANNEL_GROUPS
        ]
        return and_(own, or_(UserGroup.kind != "anonymous", ~or_(*conditions)))

    def in_group(self, group_id: IdColumn) -> Condition:
        return group_id.in_(select(UserGroup.id).where(self.is_group()))

    def _subscribed(self) -> Select[int]:
        """Return a select of the ids of channels with a subscriber who consented."""
        return select(Subscription.channel_id).where(
            Subscription.is_active, self.is_private_to(Subscription.user_id)
        )


def _consents(user: type[User] | AliasedClass[User]) -> Condition:
    consents: Condition = getattr(user, CONSENT)
    return consents
