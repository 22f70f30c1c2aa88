"""Operations of the tag realm."""

from typing import Any

from handlers.chat.wire import envelope
from handlers.chat.wire.context import Context
from models.chat.organization.settings import change_realm
from server.response import Response

ABSENT: Any = object()
"""Stands for a parameter that was not sent: null means something in several."""


def update_realm(
    ctx: Context,
    *,
    allow_message_editing: Any = ABSENT,
    can_access_all_users_group: Any = ABSENT,
    can_add_subscribers_group: Any = ABSENT,
    can_create_groups: Any = ABSENT,
    can_create_private_channel_group: Any = ABSENT,
    can_create_public_channel_group: Any = ABSENT,
    can_create_web_public_channel_group: Any = ABSENT,
    can_delete_any_message_group: Any = ABSENT,
    can_delete_own_message_group: Any = ABSENT,
    can_manage_all_groups: Any = ABSENT,
    can_mention_many_users_group: Any = ABSENT,
    can_move_messages_between_channels_group: Any = ABSENT,
    can_move_messages_between_topics_group: Any = ABSENT,
    can_resolve_topics_group: Any = ABSENT,
    can_set_delete_message_policy_group: Any = ABSENT,
    can_set_topics_policy_group: Any = ABSENT,
    default_language: Any = ABSENT,
    description: Any = ABSENT,
    direct_message_initiator_group: Any = ABSENT,
    direct_message_permission_group: Any = ABSENT,
    disallow_disposable_email_addresses: Any = ABSENT,
    email_address_visibility: Any = ABSENT,
    email_changes_disabled: Any = ABSENT,
    emails_restricted_to_domains: Any = ABSENT,
    empty_topic_display_name: Any = ABSENT,
    enable_spectator_access: Any = ABSENT,
    message_content_delete_limit_seconds: Any = ABSENT,
    message_content_edit_limit_seconds: Any = ABSENT,
    message_edit_history_visibility_policy: Any = ABSENT,
    message_retention_days: Any = ABSENT,
    moderation_request_channel_id: Any = ABSENT,
    move_messages_between_streams_limit_seconds: Any = ABSENT,
    move_messages_within_stream_limit_seconds: Any = ABSENT,
    name: Any = ABSENT,
    name_changes_disabled: Any = ABSENT,
    new_stream_announcements_stream_id: Any = ABSENT,
    require_unique_names: Any = ABSENT,
    topics_policy: Any = ABSENT,
) -> Response:
    """Change settings of the organization."""
    sent = {name: value for name, value in locals().items() if name != "ctx"}
    changes = {name: value for name, value in sent.items() if value is not ABSENT}
    change_realm(ctx.session, ctx.actor.realm_id, changes, actor=ctx.actor, now=ctx.now)
    return envelope.success(ctx)
