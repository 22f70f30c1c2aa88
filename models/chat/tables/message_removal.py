"""Messages that a request began to delete, and that are still to be deleted."""

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from models.base import ChatBase
from models.chat.tables.channel import TOPIC
from models.types import RowNumber


class MessageRemoval(ChatBase):
    """Messages after `after_id`, up to `until_id`, are to be deleted: what a user has sent in the
    places that are true, or a topic of a channel as far as the actor can read it. `removed` counts
    those that this row had deleted.
    """

    __tablename__ = "message_removal"
    __table_args__ = (
        CheckConstraint("(sender_id IS NULL) <> (topic IS NULL)", name="sender_or_topic"),
        CheckConstraint("(channel_id IS NULL) = (topic IS NULL)", name="topic_of_channel"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    sender_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("user.id"))
    channel_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("channel.id"))
    topic: Mapped[str | None] = mapped_column(TOPIC)
    actor_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("user.id"))
    public_channels: Mapped[bool] = mapped_column(default=False)
    private_channels: Mapped[bool] = mapped_column(default=False)
    direct: Mapped[bool] = mapped_column(default=False)
    after_id: Mapped[int] = mapped_column(BigInteger)
    until_id: Mapped[int] = mapped_column(BigInteger)
    removed: Mapped[int] = mapped_column(default=0)
