"""The people of chat tests: two organizations with fixed names."""

from dataclasses import dataclass, fields
from datetime import datetime
from hashlib import md5

from sqlalchemy.orm import Session

from models.chat.common.vault import Vault
from models.chat.identity.api_keys import KeyMaker
from models.chat.identity.passwords import hash_password
from models.chat.identity.roles import BotType, Role
from models.chat.organization.realms import access_realm_by_id, create_realm
from models.chat.people.users import create_user
from models.chat.tables import User
from specd._db.database import BEFORE_COMMIT

SECRET = b"the secret of the chat tests, 32 bytes and more"
KEYS = KeyMaker(SECRET)
VAULT = Vault(SECRET)
PASSWORD = "to be or not to be"
CAST_MADE_AT = datetime.fromisoformat("2026-11-20T09:30:00+00:00")


@dataclass(frozen=True, slots=True)
class Member:
    """A user that can call the service."""

    id: int
    email: str
    name: str
    role: int
    key: str
    host: str


@dataclass(frozen=True, slots=True)
class Cast:
    """Acme has an owner, an administrator, a moderator, two members, a guest, Hamlet's bot and a
    deactivated user. Hank owns Globex, whose data must be invisible to Acme.
    """

    realm_id: int
    notification_bot_id: int
    cordelia: Member
    iago: Member
    hamlet: Member
    othello: Member
    polonius: Member
    reminder: Member
    prospero: Member
    ophelia: Member
    globex_id: int
    hank: Member

    @property
    def acme(self) -> list[Member]:
        """Return all users of Acme except the notification bot, in order of their ids."""
        members = [getattr(self, f.name) for f in fields(self)]
        return [m for m in members if isinstance(m, Member) and m.host == "acme.example"]


def make_cast(session: Session, *, now: datetime) -> Cast:
    """Create both organizations in an empty database. The ids are the same in every test."""
    realm, owner, key = create_realm(
        session,
        KEYS,
        name="Acme",
        host="acme.example",
        owner_email="cordelia@acme.example",
        owner_name="Cordelia",
        now=now,
    )
    view = access_realm_by_id(session, realm.id)

    def member(user: User, api_key: str, host: str = "acme.example") -> Member:
        return Member(user.id, user.delivery_email, user.full_name, user.role, api_key, host)

    def join(name: str, role: Role, **more: object) -> Member:
        user, api_key = create_user(
            session,
            KEYS,
            realm=view,
            email=f"{name.lower()}@acme.example",
            full_name=name,
            role=role,
            now=now,
            **more,  # type: ignore[arg-type]
        )
        return member(user, api_key)

    iago = join("Iago", Role.ADMINISTRATOR)
    hamlet = join("Hamlet", Role.MEMBER, password_hash=hash_password(PASSWORD))
    othello = join("Othello", Role.MEMBER)
    polonius = join("Polonius", Role.GUEST)
    reminder = join("Reminder", Role.MEMBER, bot_type=BotType.GENERIC, bot_owner_id=hamlet.id)
    prospero = join("Prospero", Role.MODERATOR)
    ophelia = join("Ophelia", Role.MEMBER)
    leaver = session.get(User, ophelia.id)
    assert leaver is not None
    leaver.is_active = False
    globex, hank, hanks_key = create_realm(
        session,
        KEYS,
        name="Globex",
        host="globex.example",
        owner_email="hank@globex.example",
        owner_name="Hank",
        now=now,
    )
    session.info.pop(BEFORE_COMMIT)  # discards the events of the creation
    return Cast(
        realm_id=realm.id,
        notification_bot_id=owner.id + 1,
        cordelia=member(owner, key),
        iago=iago,
        hamlet=hamlet,
        othello=othello,
        polonius=polonius,
        reminder=reminder,
        prospero=prospero,
        ophelia=ophelia,
        globex_id=globex.id,
        hank=member(hank, hanks_key, "globex.example"),
    )


def gravatar(email: str) -> str:
    digest = md5(email.encode(), usedforsecurity=False).hexdigest()
    return f"https://secure.gravatar.com/avatar/{digest}?d=identicon&version=1"
