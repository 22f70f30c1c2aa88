"""User groups, to which permissions are granted."""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from models.chat.base import ChatBase
from models.chat.tables.columns import GROUP, key_of
from specd.db import RowNumber, UtcMs


class UserGroup(ChatBase):
    """A set of users and of other groups.

    `system` groups, such as `role:members`, follow the roles. Users create `named` groups.
    `anonymous` groups have no name; each is the value of one group setting.
    """

    __tablename__ = "user_group"
    __table_args__ = (
        # Deactivated groups keep their names, so that other groups cannot use them.
        Index("uq_user_group_realm_id_name_key", "realm_id", "name_key", unique=True),
        CheckConstraint("kind IN ('system', 'named', 'anonymous')", name="kind"),
        CheckConstraint("(kind = 'anonymous') = (name IS NULL)", name="name"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(RowNumber, primary_key=True, autoincrement=True)
    realm_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("realm.id"))
    kind: Mapped[str] = mapped_column(String(10))
    name: Mapped[str | None] = mapped_column(String(100))
    name_key: Mapped[str | None] = mapped_column(String(200))
    description: Mapped[str] = mapped_column(String(1024), default="")
    creator_id: Mapped[int | None] = mapped_column(BigInteger, ForeignKey("user.id"))
    date_created: Mapped[datetime] = mapped_column(UtcMs)
    is_deactivated: Mapped[bool] = mapped_column(default=False)
    can_add_members_group: Mapped[int] = mapped_column(GROUP, default=0)
    can_join_group: Mapped[int] = mapped_column(GROUP, default=0)
    can_leave_group: Mapped[int] = mapped_column(GROUP, default=0)
    can_manage_group: Mapped[int] = mapped_column(GROUP, default=0)
    can_mention_group: Mapped[int] = mapped_column(GROUP, default=0)
    can_remove_members_group: Mapped[int] = mapped_column(GROUP, default=0)


class UserGroupMember(ChatBase):
    """A user who is a direct member of a group."""

    __tablename__ = "user_group_member"
    __table_args__ = (Index(None, "user_id", "group_id"),)

    group_id: Mapped[int] = key_of("user_group.id")
    user_id: Mapped[int] = key_of("user.id")


class Subgroup(ChatBase):
    """A group whose members are also members of another group."""

    __tablename__ = "subgroup"
    __table_args__ = (
        Index(None, "subgroup_id", "group_id"),
        CheckConstraint("group_id <> subgroup_id", name="not_itself"),
    )

    group_id: Mapped[int] = key_of("user_group.id")
    subgroup_id: Mapped[int] = key_of("user_group.id")
