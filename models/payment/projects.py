"""Merchants' projects. Made by the operator; HTTP callers only use them."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from sqlalchemy import Connection, func, select
from sqlalchemy.orm import Session

from models.payment.addresses import check_xpub
from models.payment.errors import InvalidName, ProjectDoesNotExist
from models.payment.tables import PaymentMethod, Project, Wallet

NAME_MAX = 200
_PROJECTS = (
    select(
        Project.id,
        Project.name,
        Project.created_at,
        select(func.count())
        .where(PaymentMethod.project_id == Project.id, PaymentMethod.disabled_at.is_(None))
        .scalar_subquery()
        .label("methods"),
        Wallet.next_address_index,
    )
    .join(Wallet, Wallet.xpub == Project.xpub)
    .order_by(Project.created_at, Project.id)
)


class ProjectRow(Protocol):
    """A row of `_PROJECTS`; `methods` counts those that take invoices."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def created_at(self) -> datetime: ...
    @property
    def methods(self) -> int: ...
    @property
    def next_address_index(self) -> int: ...


def create_project(session: Session, *, name: str, xpub: str, now: datetime) -> Project:
    """Make a project whose invoices are paid to children of `xpub`.

    Projects may share an xpub; the counter of its addresses is then shared as well. Raises
    `InvalidName`, `InvalidXpub`, `PrivateKeyRefused`.
    """
    if not name.strip() or len(name) > NAME_MAX or not name.isprintable():
        raise InvalidName()
    check_xpub(xpub)
    if session.get(Wallet, xpub) is None:
        session.add(Wallet(xpub=xpub, next_address_index=0))
        session.flush()
    project = Project(id=str(uuid.uuid4()), name=name, xpub=xpub, created_at=now)
    session.add(project)
    session.flush()
    return project


def access_project(session: Session, project_id: str) -> Project:
    """The project, or `ProjectDoesNotExist`."""
    project = session.get(Project, project_id)
    if project is None:
        raise ProjectDoesNotExist()
    return project


def list_projects(connection: Connection) -> Sequence[ProjectRow]:
    """All projects, the oldest first."""
    return connection.execute(_PROJECTS).all()


def find_next_address(session: Session, *, project_id: str) -> tuple[str, int]:
    """The project's xpub, and the index of the next address that it gives out.

    Raises `ProjectDoesNotExist`.
    """
    xpub = access_project(session, project_id).xpub
    wallet = session.get(Wallet, xpub)
    assert wallet is not None  # a foreign key
    return xpub, wallet.next_address_index
