"""People and bots: made, named, found, and seen by others as far as they may be."""

import re
from collections.abc import Container, Iterable
from datetime import datetime
from hashlib import md5
from typing import Any

from sqlalchemy import Select, bindparam, exists, func, or_, select
from sqlalchemy.orm import Session, aliased

from models.chat import audit, events
from models.chat.actors import Actor, Reader, RealmView
from models.chat.api_keys import KeyMaker
from models.chat.emails import check_email, require_email_is_free
from models.chat.errors.people import NoSuchUser
from models.chat.full_names import check_full_name
from models.chat.membership import belongs, find_member_ids, follow_role
from models.chat.roles import EmailVisibility, Role
from models.chat.tables import ConversationMember, Subscription, User, UserMessage

DUMMY_EMAIL = re.compile(r"user([0-9]{1,10})@(.+)", re.DOTALL)


def create_user(
    session: Session,
    keys: KeyMaker,
    *,
    realm: RealmView,
    email: str,
    full_name: str,
    role: int,
    now: datetime,
    password_hash: str | None = None,
    bot_type: int | None = None,
    bot_owner_id: int | None = None,
    can_create_users: bool = False,
    can_change_user_emails: bool = False,
    is_system_bot: bool = False,
    actor_id: int | None = None,
) -> tuple[User, str]:
    """A new active user of the realm and their API key.

    Raises `InvalidEmail`, `EmailInUse`, the classes of `check_full_name`, and `NoSuchUser` for an
    owner that is no person of the realm.
    """
    email, full_name = check_email(email), check_full_name(full_name, is_system_bot=is_system_bot)
    require_email_is_free(session, realm.id, email)
    if bot_owner_id is not None:
        owner = session.get(User, bot_owner_id)
        if owner is None or owner.realm_id != realm.id or owner.bot_type is not None:
            raise NoSuchUser()
    user = User(
        realm_id=realm.id,
        delivery_email=email,
        email_key=email.casefold(),
        full_name=full_name,
        role=Role(role),
        bot_type=bot_type,
        bot_owner_id=bot_owner_id,
        is_system_bot=is_system_bot,
        date_joined=now,
        default_language=realm.default_language,
        email_address_visibility=realm.email_address_visibility,
        can_create_users=can_create_users,
        can_change_user_emails=can_change_user_emails,
        password_hash=password_hash,
    )
    api_key = keys.renew(user)
    session.add(user)
    session.flush()
    follow_role(session, user)
    audit.record(
        session, realm.id, "user_created", actor_id=actor_id, user_id=user.id, now=now,
        facts={"role": int(role), "bot_type": bot_type},
    )  # fmt: skip
    payload = {"op": "add", "person": _person(user, realm)}
    know = find_those_who_know(session, realm, user.id)
    events.append(session, realm.id, "realm_user", payload, user_ids=know, now=now)
    return user, api_key


def _person(user: User, realm: RealmView) -> dict[str, Any]:
    """A new user as everybody in the realm may see them."""
    is_open = user.bot_type is not None or may_see_email(Role.GUEST, user.email_address_visibility)
    email = user.delivery_email if is_open else dummy_email(user.id, realm.host)
    person = {
        "user_id": user.id,
        "delivery_email": email if is_open else None,
        "email": email,
        "full_name": user.full_name,
        "date_joined": user.date_joined.replace(microsecond=0).isoformat(),
        "is_active": True,
        "is_owner": user.role == Role.OWNER,
        "is_admin": user.role <= Role.ADMINISTRATOR,
        "is_guest": user.role == Role.GUEST,
        "is_bot": user.bot_type is not None,
        "bot_type": user.bot_type,
        "bot_owner_id": user.bot_owner_id,
        "role": int(user.role),
        "timezone": "",
        "avatar_url": avatar_url(email, 1),
        "avatar_version": 1,
        "is_imported_stub": False,
    }
    return person if user.bot_type is not None else {**person, "profile_data": {}}


# --- what others see --------------------------------------------------------------------------


def may_see_email(viewer_role: int, visibility: int) -> bool:
    """May users of that role see real emails of that visibility? (One's own and bots': always.)"""
    match visibility:
        case EmailVisibility.EVERYONE:
            return True
        case EmailVisibility.MEMBERS:
            return viewer_role <= Role.MEMBER
        case EmailVisibility.MODERATORS:
            return viewer_role <= Role.MODERATOR
        case EmailVisibility.ADMINISTRATORS:
            return viewer_role <= Role.ADMINISTRATOR
    return False


def visible_email(viewer: Actor, user: Any) -> str | None:
    """The user's real email, or None when the viewer may not see it.

    `user`: a row with id, bot_type, delivery_email and email_address_visibility.
    """
    if (
        user.id == viewer.id
        or user.bot_type is not None
        or may_see_email(viewer.role, user.email_address_visibility)
    ):
        return str(user.delivery_email)
    return None


def api_email(viewer: Actor, user: Any) -> str:
    """The address the viewer may use for the user in the API: the real one if they may see it."""
    return visible_email(viewer, user) or dummy_email(user.id, viewer.realm.host)


def dummy_email(user_id: int, host: str) -> str:
    """The address that works in the API of the realm at `host` whoever may see the real one."""
    return f"user{user_id}@{host}"


def picture_of(viewer: Actor, user: Any, *, client_makes_it: bool) -> str | None:
    """The address of the user's picture; None when the client makes it itself, which takes the real
    email. A deleted user has the picture of somebody nobody knows.

    `user`: a row with what `visible_email` needs, avatar_version and is_deleted.
    """
    if user.is_deleted:
        return avatar_url(dummy_email(user.id, viewer.realm.host), user.avatar_version)
    if client_makes_it and visible_email(viewer, user) is not None:
        return None
    return avatar_url(api_email(viewer, user), user.avatar_version)


def avatar_url(email: str, version: int) -> str:
    """The user's picture at the external provider, by the address that the viewer may see."""
    digest = md5(email.strip().lower().encode("utf-8"), usedforsecurity=False).hexdigest()
    return f"https://secure.gravatar.com/avatar/{digest}?d=identicon&version={version}"


USER_COLUMNS = (
    User.id,
    User.delivery_email,
    User.full_name,
    User.role,
    User.bot_type,
    User.bot_owner_id,
    User.is_active,
    User.is_imported_stub,
    User.is_deleted,
    User.date_joined,
    User.timezone,
    User.avatar_version,
    User.email_address_visibility,
)
_IN_REALM: Any = select(*USER_COLUMNS).where(
    User.realm_id == bindparam("realm_id"), ~User.is_system_bot
)
_ALL = _IN_REALM.order_by(User.id)


def find_users(reader: Reader, actor: Actor, user_ids: Iterable[int] | None = None) -> list[Any]:
    """Rows of the realm's users that the actor may know, active or not, in order of their ids;
    all, or those asked for.
    """
    wanted = _ALL if user_ids is None else _ALL.where(User.id.in_(list(user_ids)))
    if not sees_everybody(reader, actor):
        wanted = wanted.where(User.id.in_(known_to(actor.id)))
    return list(reader.execute(wanted, {"realm_id": actor.realm.id}))


def sees_everybody(reader: Reader, actor: Actor) -> bool:
    """Only guests can be kept from knowing users they share nothing with."""
    return not actor.is_guest or belongs(reader, actor, actor.realm.can_access_all_users_group)


def find_known_ids(reader: Reader, actor: Actor) -> frozenset[int] | None:
    """Ids of the users the actor may know; None: everybody, as for all but restricted guests."""
    if sees_everybody(reader, actor):
        return None
    return frozenset(reader.execute(known_to(actor.id), {"realm_id": actor.realm.id}).scalars())


def shown_id(user_id: int | None, known_ids: Container[int] | None) -> int | None:
    """A user's id as it is shown to who may know only those; None in place of all others."""
    return user_id if known_ids is None or user_id in known_ids else None


def known_to(user_id: int) -> Select[Any]:
    """Ids of the users a restricted guest may know, in realm :realm_id: bots, fellow subscribers,
    those they wrote with directly, and themselves.
    """
    mine, theirs = aliased(Subscription), aliased(Subscription)
    shares_channel = exists().where(
        mine.user_id == user_id,
        mine.is_active,
        theirs.channel_id == mine.channel_id,
        theirs.user_id == User.id,
        theirs.is_active,
    )
    with_me, with_them = aliased(ConversationMember), aliased(ConversationMember)
    wrote = exists().where(
        with_me.user_id == user_id,
        with_them.conversation_id == with_me.conversation_id,
        with_them.user_id == User.id,
    )
    return select(User.id).where(
        User.realm_id == bindparam("realm_id"),
        or_(User.id == user_id, User.bot_type.is_not(None), shares_channel, wrote),
    )


def find_those_who_know(reader: Reader, realm: RealmView, user_id: int) -> list[int] | None:
    """Ids of the active users who may know of the user; None: everybody, as where guests are not
    restricted.
    """
    group_id = realm.can_access_all_users_group
    if group_id in realm.system_groups_of(Role.GUEST):
        return None
    knows = or_(
        User.role != Role.GUEST,
        User.id.in_(known_to(user_id)),
        User.id.in_(find_member_ids(reader, group_id)),
    )
    found = reader.execute(
        _ALL.with_only_columns(User.id).where(User.is_active, knows), {"realm_id": realm.id}
    )
    return list(found.scalars())


_MAX_MESSAGE: Any = select(func.max(UserMessage.message_id)).where(
    UserMessage.user_id == bindparam("user_id")
)


def find_max_message_id(reader: Reader, user_id: int) -> int:
    """Id of the newest message the user has a copy of; -1 without any."""
    newest = reader.execute(_MAX_MESSAGE, {"user_id": user_id}).scalar()
    return -1 if newest is None else int(newest)
