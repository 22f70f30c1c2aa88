"""Merchants' projects. Made by the operator; HTTP callers only use them."""

import uuid
from datetime import datetime

from sqlalchemy.orm import Session

from models.payment.addresses import check_xpub
from models.payment.errors import InvalidName, ProjectDoesNotExist
from models.payment.tables import Project, Wallet

NAME_MAX = 200


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
