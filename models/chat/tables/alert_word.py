"""Words that users want to be alerted to."""

from sqlalchemy import BigInteger, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from models.base import ChatBase
from models.types import RowNumber

KEY = String(300)  # casefolding can lengthen a text threefold


class AlertWord(ChatBase):
    """`word` as the user wrote it, `word_key` as it is compared. `first_part`: its first run of
    letters and digits, by which the words that a message can have are found.
    """

    __tablename__ = "alert_word"
    __table_args__ = (
        UniqueConstraint("user_id", "word_key"),
        Index(None, "realm_id", "first_part", "user_id"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    user_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("user.id"))
    word: Mapped[str] = mapped_column(String(100))
    word_key: Mapped[str] = mapped_column(KEY)
    first_part: Mapped[str] = mapped_column(KEY)
