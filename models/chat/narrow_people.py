"""The users that an operand of a narrow names: by id, by ids, or by emails with commas between."""

from typing import Any

from sqlalchemy import select

from models.chat.actors import Actor, Reader
from models.chat.errors.narrows import BadNarrow
from models.chat.message_access import ID_MAX
from models.chat.tables import User
from models.chat.users import DUMMY_EMAIL, visible_email


def find_named_users(reader: Reader, actor: Actor, operand: Any) -> list[int]:
    """Ids of users of the actor's realm. Raises `BadNarrow` unless each of them is somebody."""
    if isinstance(operand, int):
        wanted: list[Any] = [operand]
    elif isinstance(operand, str):
        wanted = [part.strip() for part in operand.split(",")]
    else:
        wanted = operand
    found = [_find_user(reader, actor, one) for one in wanted]
    if not found or None in found:
        shown = operand if not isinstance(operand, list) else ",".join(map(str, operand))
        raise BadNarrow(desc=f"unknown user {shown}")
    return [user_id for user_id in found if user_id is not None]


def _find_user(reader: Reader, actor: Actor, who: int | str) -> int | None:
    wanted = select(
        User.id, User.bot_type, User.delivery_email, User.email_address_visibility
    ).where(User.realm_id == actor.realm_id)
    if isinstance(who, int):
        row = reader.execute(wanted.where(User.id == min(who, ID_MAX))).first()
        return None if row is None else int(row.id)
    email = who.casefold()
    dummy = DUMMY_EMAIL.fullmatch(email)
    if dummy is not None and dummy[2] == actor.realm.host:
        return _find_user(reader, actor, int(dummy[1]))
    row = reader.execute(wanted.where(User.email_key == email)).first()
    if row is None or visible_email(actor, row) is None:
        return None
    return int(row.id)
