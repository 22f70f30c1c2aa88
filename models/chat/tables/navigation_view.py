"""Views that users keep at hand in the sidebar of their clients."""

from sqlalchemy import BigInteger, ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from models.base import ChatBase
from models.types import RowNumber


class NavigationView(ChatBase):
    """A view, named by the fragment of its URL; one that every client has is not named."""

    __tablename__ = "navigation_view"
    __table_args__ = (UniqueConstraint("user_id", "fragment"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    user_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("user.id"))
    fragment: Mapped[str] = mapped_column(String(500))
    is_pinned: Mapped[bool]
    name: Mapped[str | None] = mapped_column(String(100))
