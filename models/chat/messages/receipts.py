"""Read receipts: the users who have read a message, unless they hide this."""

from sqlalchemy import bindparam, literal, select

from models.chat.access.people import find_visible_user_ids, only_visible
from models.chat.identity.actors import Actor
from models.chat.messages.access import access_message
from models.chat.messages.errors import ReadReceiptsDisabled
from models.chat.messages.flags import READ
from models.chat.tables import MutedUser, User, UserMessage
from specd.db import Db, table_of

_USER = table_of(User)
_MUTED = select(MutedUser.user_id)
_READERS = (
    select(UserMessage.user_id)
    .join(_USER, _USER.c.id == UserMessage.user_id)
    .where(
        UserMessage.message_id == bindparam("message_id"),
        UserMessage.user_id != bindparam("sender_id"),
        UserMessage.flags.op("&")(literal(READ, literal_execute=True)) != 0,
        _USER.c.is_active,
        _USER.c.send_read_receipts,
        ~_MUTED.where(
            MutedUser.user_id == bindparam("actor_id"), MutedUser.muted_user_id == _USER.c.id
        ).exists(),
        ~_MUTED.where(
            MutedUser.user_id == _USER.c.id, MutedUser.muted_user_id == bindparam("actor_id")
        ).exists(),
    )
    .order_by(UserMessage.user_id)
)


def find_reader_ids(db: Db, actor: Actor, message_id: int) -> list[int]:
    """Return the ids of the active users who received the message and have read it, in ascending
    order.

    Left out are the sender, users who do not share read receipts, users whom the actor has muted or
    who have muted the actor, and users that the actor may not see.

    Raise `InvalidMessage`, `ReadReceiptsDisabled`.
    """
    message = access_message(db, actor, message_id)
    if not actor.realm.enable_read_receipts:
        raise ReadReceiptsDisabled()
    values = {"message_id": message.id, "sender_id": message.sender_id, "actor_id": actor.id}
    reader_ids = db.execute(_READERS, values).scalars()
    return only_visible(reader_ids, find_visible_user_ids(db, actor))
