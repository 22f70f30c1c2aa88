"""Sign-in: invitations, links, tokens, browser sessions, and counts of attempts."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from models.chat.base import ChatBase
from models.chat.tables.columns import key_of
from specd.db import RowNumber, UtcMs


class AttemptCount(ChatBase):
    """The used part of an allowance: the theoretical arrival time of the next attempt (generic cell
    rate algorithm). A row with a time in the past has no effect.
    """

    __tablename__ = "attempt_count"

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    arrival_at: Mapped[datetime] = mapped_column(UtcMs, index=True)


class KnownPlace(ChatBase):
    """A name, and a place from which a user has signed in with that name."""

    __tablename__ = "known_place"

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    last_at: Mapped[datetime] = mapped_column(UtcMs, index=True)


class Invitation(ChatBase):
    """An invitation of one address, or without `email` a link that everyone may use.

    `link_id` is the link at which this invitation was requested, or null.
    """

    __tablename__ = "invitation"
    __table_args__ = (
        Index(None, "realm_id", "email_key"),
        Index(None, "inviter_id", "id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    inviter_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("user.id"))
    link_id: Mapped[int | None] = mapped_column(
        BigInteger, ForeignKey("invitation.id", ondelete="CASCADE"), index=True
    )
    email: Mapped[str | None] = mapped_column(String(254))
    email_key: Mapped[str | None] = mapped_column(String(254))
    role: Mapped[int]
    channel_ids: Mapped[str] = mapped_column(Text)
    """Ids of the channels that the new user joins, as JSON. `group_ids` has the same form."""
    group_ids: Mapped[str] = mapped_column(Text)
    joins_default_channels: Mapped[bool]
    tells_inviter: Mapped[bool]
    token_sha256: Mapped[str] = mapped_column(String(64), unique=True)
    sealed_token: Mapped[str | None] = mapped_column(Text)
    """The token of a link, whose address is shown to the inviter again."""
    created_at: Mapped[datetime] = mapped_column(UtcMs)
    expires_at: Mapped[datetime | None] = mapped_column(UtcMs, index=True)


class JwtConfiguration(ChatBase):
    """The key and the algorithms for checking a realm's tokens. Without a row, this sign-in is
    disabled.

    It is separate from `Realm`, whose columns are visible to users. The key is sealed
    (models/chat/common/vault.py).
    """

    __tablename__ = "jwt_configuration"

    realm_id: Mapped[int] = key_of("realm.id")
    sealed_key: Mapped[str] = mapped_column(Text)
    algorithms: Mapped[str] = mapped_column(String(64))  # comma-separated
    audience: Mapped[str | None] = mapped_column(String(255))
    # Null selects the default of models/chat/identity/jwt_sign_in.py. With 0, tokens need no
    # expiry.
    max_age_s: Mapped[int | None] = mapped_column()


class SpentLink(ChatBase):
    """A link that was used. It becomes invalid at `ends_at`, and then the row may be deleted."""

    __tablename__ = "spent_link"

    key: Mapped[str] = mapped_column(String(32), primary_key=True)
    ends_at: Mapped[datetime] = mapped_column(UtcMs, index=True)


class BrowserSession(ChatBase):
    """A browser session. `user_agent` is the name that the browser sent."""

    __tablename__ = "browser_session"
    __table_args__ = (Index(None, "user_id", "id"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    user_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("user.id"))
    token_sha256: Mapped[str] = mapped_column(String(64), unique=True)
    user_agent: Mapped[str] = mapped_column(String(200))
    created_at: Mapped[datetime] = mapped_column(UtcMs)
    last_used_at: Mapped[datetime] = mapped_column(UtcMs)
    ends_at: Mapped[datetime] = mapped_column(UtcMs, index=True)
