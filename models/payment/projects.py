"""Merchants' projects. The operator creates them; HTTP callers only use them."""

import re
import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, func, select
from sqlalchemy.orm import Session

from models.payment.addresses import check_xpub
from models.payment.errors import InvalidName, InvalidTolerance, ProjectDoesNotExist
from models.payment.money import format_units
from models.payment.tables import PaymentMethod, Project, Wallet
from models.rows import columns_of, read_rows
from specd.db import Db

NAME_MAX = 200
MAX_TOLERANCE_PPM = 100_000
_TOLERANCE = re.compile(r"([0-9]{1,2})(?:\.([0-9]{1,4}))?\s?%")


class ProjectRow(NamedTuple):
    """A project. `methods` counts its enabled methods. `tolerance_ppm` is in millionths."""

    id: str
    name: str
    created_at: datetime
    tolerance_ppm: int
    methods: int
    next_address_index: int


_PROJECTS = (
    select(
        *columns_of(ProjectRow, Project),
        select(func.count())
        .where(PaymentMethod.project_id == Project.id, PaymentMethod.disabled_at.is_(None))
        .scalar_subquery()
        .label("methods"),
        Wallet.next_address_index,
    )
    .join(Wallet, Wallet.xpub == Project.xpub)
    .order_by(Project.created_at, Project.id)
)


def read_project_name(db: Db, project_id: str) -> str:
    """Return the name of a project that exists."""
    return db.execute(select(Project.name).where(Project.id == project_id)).scalar_one()


def create_project(session: Session, *, name: str, xpub: str, now: datetime) -> Project:
    """Return a new project whose invoices are paid to addresses derived from `xpub`.

    Projects may share an xpub, and then share its address counter. Raise `InvalidName`,
    `InvalidXpub` or `PrivateKeyRefused`.
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


def check_tolerance(text: str) -> int:
    """Return a percentage such as `0.1%` in millionths, or 0 for `none`. Raise
    `InvalidTolerance`.
    """
    if text == "none":
        return 0
    match = _TOLERANCE.fullmatch(text)
    if match is None:
        raise InvalidTolerance()
    ppm = int(match[1]) * 10_000 + int((match[2] or "").ljust(4, "0"))
    if ppm > MAX_TOLERANCE_PPM:
        raise InvalidTolerance()
    return ppm


def write_tolerance(ppm: int) -> str:
    """Return millionths as a percentage such as `0.1%`, or `none`."""
    return f"{format_units(ppm, 4)}%" if ppm else "none"


def set_tolerance(session: Session, *, project_id: str, ppm: int) -> None:
    """Set the part of an amount that may be missing from a paid invoice. It applies to invoices
    created from now on. Raise `ProjectDoesNotExist`.
    """
    access_project(session, project_id).tolerance_ppm = ppm
    session.flush()


def access_project(session: Session, project_id: str) -> Project:
    """Return the project. Raise `ProjectDoesNotExist`."""
    project = session.get(Project, project_id)
    if project is None:
        raise ProjectDoesNotExist()
    return project


def list_projects(connection: Connection) -> Sequence[ProjectRow]:
    """Return all projects, the oldest first."""
    return read_rows(ProjectRow, connection.execute(_PROJECTS))


def find_next_address(session: Session, *, project_id: str) -> tuple[str, int]:
    """Return the project's xpub, and the index of its next address. Raise `ProjectDoesNotExist`."""
    xpub = access_project(session, project_id).xpub
    wallet = session.get(Wallet, xpub)
    assert wallet is not None  # a foreign key
    return xpub, wallet.next_address_index
