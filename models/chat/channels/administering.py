"""Who may change a channel itself; it is held until the change is kept."""

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from models.chat.access.channels import ChannelView, access_channel, has_content_access
from models.chat.channels.channels import can_administer_channel
from models.chat.channels.errors import ContentAccessRequired, MayNotAdministerChannel
from models.chat.identity.actors import Actor
from models.chat.tables import Channel

_HELD = (
    select(Channel.id)
    .where(Channel.id == bindparam("channel_id"), Channel.realm_id == bindparam("realm_id"))
    .with_for_update(key_share=True)
)


def lock_channel(session: Session, actor: Actor, channel_id: int) -> ChannelView:
    """The channel, if the actor may know it; those who change it at once do so one after another.

    Raises `InvalidChannelId`.
    """
    session.execute(_HELD, {"channel_id": channel_id, "realm_id": actor.realm_id})
    return access_channel(session, actor, channel_id, content=False)


def access_channel_to_administer(session: Session, actor: Actor, channel_id: int) -> ChannelView:
    """`lock_channel`, for those who may change it. Raises `MayNotAdministerChannel` too."""
    channel = lock_channel(session, actor, channel_id)
    if not can_administer_channel(session, actor, channel):
        raise MayNotAdministerChannel()
    return channel


def require_content_access(session: Session, actor: Actor, channel: ChannelView) -> None:
    """Raises `ContentAccessRequired`: who only knows of a channel cannot let others read it."""
    if not has_content_access(session, actor, channel):
        raise ContentAccessRequired()
