"""The contents of an export: the columns and rows of each file of the archive.

Every column of every table is either exported here or listed as withheld in
`tests/models/chat/test_export_contents.py`. The test fails for a column that is in neither list.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, SQLColumnExpression, case, false, func, null, select, true

from models.chat.access.group_settings import REALM_GROUPS
from models.chat.base import ChatBase
from models.chat.exports.scope import Condition, Scope
from models.chat.messages.stars import all_flags
from models.chat.tables import (
    AlertWord,
    Attachment,
    AttachmentMessage,
    AuditLog,
    BotStorage,
    Channel,
    ChannelFolder,
    Conversation,
    ConversationMember,
    DefaultChannel,
    Invitation,
    Linkifier,
    Message,
    MessageEdit,
    MutedUser,
    NavigationView,
    OutgoingWebhook,
    Playground,
    ProfileField,
    ProfileValue,
    Reaction,
    Realm,
    RealmDomain,
    RealmEmoji,
    SavedSnippet,
    ScheduledMessage,
    StoredDraft,
    Subgroup,
    Submessage,
    Subscription,
    User,
    UserGroup,
    UserGroupMember,
    UserMessage,
    UserStatus,
    UserTopic,
)
from models.chat.tables.setting_table import SETTINGS

Where = Callable[[Scope], Condition]


@dataclass(frozen=True, slots=True)
class Part:
    """One file of the archive. It has the name of its table unless two files share the table."""

    name: str
    table: type[ChatBase]
    columns: tuple[str, ...]
    where: Where
    order: tuple[str, ...] = ("id",)
    through: type[ChatBase] | None = None  # another table for `where`, joined by `on`
    on: Condition | None = None

    def rows(self, scope: Scope) -> Select[Any]:
        """Return a select of the rows, with the columns in their order."""
        rows = self._select(*(self._value(name, scope) for name in self.columns), scope=scope)
        return rows.order_by(*(getattr(self.table, name) for name in self.order))

    def count(self, scope: Scope) -> Select[Any]:
        """Return a select of the number of rows."""
        return self._select(func.count(), scope=scope)

    def _select(self, *columns: SQLColumnExpression[Any], scope: Scope) -> Select[Any]:
        rows: Select[Any] = select(*columns).select_from(self.table)
        if self.through is not None:
            rows = rows.join(self.through, self.on)
        return rows.where(self.where(scope))

    def _value(self, name: str, scope: Scope) -> SQLColumnExpression[Any]:
        column: SQLColumnExpression[Any] = getattr(self.table, name)
        if self.table is User and name == "delivery_email":
            return case((scope.delivery_email(), column), else_=null()).label(name)
        if self.table is UserMessage and name == "flags":
            return all_flags(UserMessage)
        return column


def _own(table: type[ChatBase]) -> Where:
    return lambda scope: table.__table__.c.realm_id == scope.realm_id


PARTS = (
    Part(
        "realm",
        Realm,
        (
            "id", "host", "name", "description", "date_created", "is_deactivated",
            "default_language", "email_address_visibility", "emails_restricted_to_domains",
            "disallow_disposable_email_addresses", "require_unique_names", "name_changes_disabled",
            "email_changes_disabled", "avatar_changes_disabled", "owner_full_content_access",
            "enable_spectator_access", "enable_read_receipts", "topics_policy",
            "empty_topic_display_name", "welcome_message_custom_text", "user_defaults",
            "message_retention_days", "allow_message_editing",
            "message_edit_history_visibility_policy",
            "message_content_edit_limit_seconds", "message_content_delete_limit_seconds",
            "move_messages_within_stream_limit_seconds",
            "move_messages_between_streams_limit_seconds", "moderation_request_channel_id",
            "new_stream_announcements_stream_id", "internet_group_id", "everyone_group_id",
            "members_group_id", "fullmembers_group_id", "moderators_group_id",
            "administrators_group_id", "owners_group_id", "nobody_group_id",
            *sorted(REALM_GROUPS),
        ),
        lambda scope: Realm.id == scope.realm_id,
    ),
    Part("realm_domain", RealmDomain, ("id", "realm_id", "domain", "allow_subdomains"),
         _own(RealmDomain)),
    Part("realm_emoji", RealmEmoji,
         ("id", "realm_id", "name", "source_url", "still_url", "handle", "author_id",
          "is_deactivated"),
         _own(RealmEmoji)),
    Part("linkifier", Linkifier,
         ("id", "realm_id", "pattern", "url_template", "example_input", "reverse_template",
          "alternative_url_templates", "position"),
         _own(Linkifier)),
    Part("playground", Playground, ("id", "realm_id", "syntax_language", "name", "url_template"),
         _own(Playground)),
    Part("user", User,
         ("id", "realm_id", "delivery_email", "full_name", "role", "bot_type", "bot_owner_id",
          "is_active", "is_imported_stub", "is_deleted", "is_system_bot", "date_joined",
          "avatar_version", "avatar_handle", "can_create_users", "can_change_user_emails",
          "awaits_first_sign_in"),
         _own(User)),
    Part("user_settings", User, ("id", *sorted(SETTINGS)),
         lambda scope: scope.is_private_to(User.id)),
    Part("user_status", UserStatus,
         ("user_id", "status_text", "emoji_name", "emoji_code", "reaction_type", "updated_at"),
         lambda scope: scope.is_user(UserStatus.user_id), ("user_id",)),
    Part("profile_field", ProfileField,
         ("id", "realm_id", "name", "type", "hint", "field_data", "position", "is_required",
          "editable_by_user", "display_in_profile_summary", "use_for_user_matching"),
         _own(ProfileField)),
    Part("profile_value", ProfileValue, ("user_id", "field_id", "value", "rendered_value"),
         lambda scope: scope.is_user(ProfileValue.user_id), ("user_id", "field_id")),
    Part("user_group", UserGroup,
         ("id", "realm_id", "kind", "name", "description", "creator_id", "date_created",
          "is_deactivated", "can_add_members_group", "can_join_group", "can_leave_group",
          "can_manage_group", "can_mention_group", "can_remove_members_group"),
         Scope.is_group),
    Part("user_group_member", UserGroupMember, ("group_id", "user_id"),
         lambda scope: scope.in_group(UserGroupMember.group_id), ("group_id", "user_id")),
    Part("subgroup", Subgroup, ("group_id", "subgroup_id"),
         lambda scope: scope.in_group(Subgroup.group_id), ("group_id", "subgroup_id")),
    Part("channel_folder", ChannelFolder,
         ("id", "realm_id", "name", "description", "rendered_description", "creator_id",
          "date_created", "is_archived", "position"),
         _own(ChannelFolder)),
    Part("channel", Channel,
         ("id", "realm_id", "name", "description", "rendered_description", "invite_only",
          "is_web_public", "history_public_to_subscribers", "is_archived", "creator_id",
          "date_created", "folder_id", "message_retention_days", "topics_policy",
          "first_message_id", "can_add_subscribers_group", "can_administer_channel_group",
          "can_create_topic_group", "can_delete_any_message_group", "can_delete_own_message_group",
          "can_move_messages_out_of_channel_group", "can_move_messages_within_channel_group",
          "can_remove_subscribers_group", "can_resolve_topics_group", "can_send_message_group",
          "can_subscribe_group"),
         Scope.is_channel),
    Part("default_channel", DefaultChannel, ("channel_id", "realm_id"),
         lambda scope: scope.in_channel(DefaultChannel.channel_id), ("channel_id",)),
    Part("subscription", Subscription, ("channel_id", "user_id", "is_active"),
         lambda scope: scope.is_subscription(), ("channel_id", "user_id")),
    Part("subscription_settings", Subscription,
         ("channel_id", "user_id", "color", "is_muted", "pin_to_top", "desktop_notifications",
          "audible_notifications", "push_notifications", "email_notifications",
          "wildcard_mentions_notify", "subscribed_at", "joined_after_id"),
         lambda scope: scope.is_subscription() & scope.is_private_to(Subscription.user_id),
         ("channel_id", "user_id")),
    Part("user_topic", UserTopic,
         ("user_id", "channel_id", "topic", "visibility_policy", "last_updated"),
         lambda scope: scope.is_private_to(UserTopic.user_id)
         & scope.in_channel(UserTopic.channel_id),
         ("user_id", "channel_id", "topic_key")),
    Part("conversation", Conversation, ("id", "realm_id"),
         lambda scope: (Conversation.realm_id == scope.realm_id)
         & scope.in_conversation(Conversation.id)),
    Part("conversation_member", ConversationMember, ("conversation_id", "user_id"),
         lambda scope: scope.in_conversation(ConversationMember.conversation_id),
         ("conversation_id", "user_id")),
    Part("message", Message,
         ("id", "realm_id", "sender_id", "channel_id", "conversation_id", "topic", "content",
          "rendered_content", "sent_at", "last_edit_at", "last_moved_at", "has_link", "has_image",
          "has_attachment", "client", "scheduled_message_id"),
         Scope.is_message),
    Part("message_edit", MessageEdit,
         ("id", "message_id", "editor_id", "edited_at", "prev_topic", "prev_channel_id",
          "prev_content", "prev_rendered_content"),
         Scope.is_message,
         through=Message, on=Message.id == MessageEdit.message_id),
    Part("reaction", Reaction,
         ("id", "message_id", "user_id", "reaction_type", "emoji_code", "emoji_name"),
         Scope.is_message,
         through=Message, on=Message.id == Reaction.message_id),
    Part("submessage", Submessage, ("id", "message_id", "sender_id", "content"),
         Scope.is_message,
         through=Message, on=Message.id == Submessage.message_id),
    Part("user_message", UserMessage, ("user_id", "message_id", "flags"),
         lambda scope: scope.is_private_to(UserMessage.user_id) & scope.is_message(),
         ("user_id", "message_id"),
         through=Message, on=Message.id == UserMessage.message_id),
    Part("scheduled_message", ScheduledMessage,
         ("id", "realm_id", "sender_id", "channel_id", "recipient_ids", "topic", "content",
          "rendered_content", "client", "read_by_sender", "scheduled_at", "state", "failure",
          "message_id", "target_message_id", "note", "created_at"),
         lambda scope: scope.is_private_to(ScheduledMessage.sender_id)),
    Part("saved_snippet", SavedSnippet,
         ("id", "realm_id", "user_id", "title", "content", "created_at"),
         lambda scope: scope.is_private_to(SavedSnippet.user_id)),
    Part("attachment", Attachment,
         ("id", "realm_id", "owner_id", "handle", "name", "path_name", "size", "media_type",
          "width", "height", "is_animated", "created_at", "detached_at"),
         Scope.is_attachment),
    Part("attachment_message", AttachmentMessage, ("attachment_id", "message_id"),
         Scope.is_message, ("attachment_id", "message_id"),
         through=Message, on=Message.id == AttachmentMessage.message_id),
    Part("outgoing_webhook", OutgoingWebhook, ("user_id", "payload_url", "interface"),
         lambda scope: scope.is_private_to(OutgoingWebhook.user_id), ("user_id",)),
    Part("bot_storage", BotStorage, ("user_id", "key", "value"),
         lambda scope: scope.is_private_to(BotStorage.user_id), ("user_id", "key")),
    Part("navigation_view", NavigationView,
         ("id", "realm_id", "user_id", "fragment", "is_pinned", "name"),
         lambda scope: scope.is_private_to(NavigationView.user_id)),
    Part("invitation", Invitation,
         ("id", "realm_id", "inviter_id", "link_id", "email", "role", "channel_ids", "group_ids",
          "joins_default_channels", "tells_inviter", "created_at", "expires_at"),
         lambda scope: scope.is_private_to(Invitation.inviter_id)),
    Part("alert_word", AlertWord, ("id", "realm_id", "user_id", "word"),
         lambda scope: scope.is_private_to(AlertWord.user_id)),
    Part("muted_user", MutedUser, ("user_id", "muted_user_id", "muted_at"),
         lambda scope: scope.is_private_to(MutedUser.user_id), ("user_id", "muted_user_id")),
    Part("draft", StoredDraft,
         ("id", "realm_id", "user_id", "channel_id", "recipient_ids", "topic", "content",
          "edited_at"),
         lambda scope: scope.is_private_to(StoredDraft.user_id)),
    Part("audit_log", AuditLog,
         ("id", "realm_id", "kind", "actor_id", "user_id", "channel_id", "group_id", "facts", "at"),
         lambda scope: (AuditLog.realm_id == scope.realm_id)
         & (true() if scope.has_everything else false())),
)  # fmt: skip
