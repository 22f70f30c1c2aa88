"""How an organization lets people sign in with tokens that somebody else signed."""

from sqlalchemy import BigInteger, ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from models.base import ChatBase


class JwtConfiguration(ChatBase):
    """The one key and the algorithms a realm's tokens are checked with. No row: no such sign-in.

    Apart from `Realm`, whose columns people see. The key is sealed (models/chat/common/vault.py).
    """

    __tablename__ = "jwt_configuration"

    realm_id: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("realm.id"), primary_key=True, autoincrement=False
    )
    sealed_key: Mapped[str] = mapped_column(Text)
    algorithms: Mapped[str] = mapped_column(String(64))  # comma-separated
    audience: Mapped[str | None] = mapped_column(String(255))
    # Null: the default of models/chat/identity/jwt_sign_in.py. 0: tokens need no end.
    max_age_s: Mapped[int | None] = mapped_column()
