"""What operations that create channels are told of them."""

from models.chat.access.group_settings import GroupValue
from models.chat.channels.creation import NewChannel


def new_channel(
    *,
    invite_only: bool,
    is_web_public: bool,
    is_default_stream: bool,
    history_public_to_subscribers: bool | None = None,
    message_retention_days: int | str | None = None,
    topics_policy: str | None = None,
    folder_id: int | None = None,
    **groups: GroupValue | None,
) -> NewChannel:
    """Return what a request says of the channels that it creates, not checked yet."""
    return NewChannel(
        invite_only=invite_only,
        is_web_public=is_web_public,
        is_default=is_default_stream,
        history_public_to_subscribers=history_public_to_subscribers,
        message_retention_days=message_retention_days,
        topics_policy=topics_policy,
        folder_id=folder_id,
        groups={name: value for name, value in groups.items() if value is not None},
    )
