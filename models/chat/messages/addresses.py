"""URLs at which clients show a message."""

from models.chat.messages.access import MessageView
from models.chat.messages.conversations import find_members
from models.chat.rendering.quotes import topic_address
from models.reader import Db


def address_of(db: Db, message: MessageView) -> str:
    """Return the URL of the message among its neighbours, without the organization's host."""
    if message.channel is not None:
        return f"{topic_address(message.channel, message.topic)}/near/{message.id}"
    assert message.conversation_id is not None
    members = find_members(db, [message.conversation_id])[message.conversation_id]
    return f"/#narrow/dm/{','.join(map(str, members))}/near/{message.id}"
