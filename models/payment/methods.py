"""Payment methods: the tokens on test chains that a project accepts. Mainnets are rejected."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, select
from sqlalchemy.orm import Session

from models.payment.addresses import parse_token_address
from models.payment.errors import (
    InvalidMethod,
    MainNetRefused,
    PaymentMethodDoesNotExist,
    PaymentMethodExists,
)
from models.payment.money import DECIMALS
from models.payment.projects import access_project
from models.payment.tables import PaymentMethod
from models.rows import columns_of, read_rows
from specd.db import Db

MAIN_NETS = frozenset({1, 10, 56, 137, 8453, 42161, 43114})
LARGEST_CHAIN_ID = 2**53 - 1  # exact in every JSON parser
MAX_CONFIRMATIONS = 1000

_METHOD_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
_SYMBOL = re.compile(r"[A-Za-z0-9._$-]{1,32}")


class EnabledMethod(NamedTuple):
    """A method that accepts invoices."""

    project_id: str
    id: str
    chain_id: int
    token_symbol: str
    token_address: str


class MethodRow(NamedTuple):
    """A method of one project."""

    id: str
    chain_id: int
    chain_name: str
    token_symbol: str
    token_address: str
    decimals: int
    confirmations_required: int
    disabled_at: datetime | None


_METHODS_OF_PROJECT = (
    select(*columns_of(MethodRow, PaymentMethod))
    .where(PaymentMethod.project_id == bindparam("project_id"))
    .order_by(PaymentMethod.created_at, PaymentMethod.id)
)
_ENABLED = (
    select(*columns_of(EnabledMethod, PaymentMethod))
    .where(PaymentMethod.disabled_at.is_(None))
    .order_by(PaymentMethod.chain_id, PaymentMethod.created_at, PaymentMethod.id)
)


def create_method(
    session: Session,
    *,
    project_id: str,
    method_id: str,
    chain_id: int,
    token_address: str,
    token_symbol: str,
    confirmations_required: int,
    now: datetime,
    chain_name: str | None = None,
) -> PaymentMethod:
    """Create a payment method for a 6-decimal token.

    Raise `MainNetRefused`, `InvalidMethod`, `PaymentMethodExists` or `ProjectDoesNotExist`.
    """
    access_project(session, project_id)
    chain_name = chain_name or f"Chain {chain_id}"
    check_chain_id(chain_id)
    if _METHOD_ID.fullmatch(method_id) is None:
        raise InvalidMethod(problem="A method id is 1 to 64 of the characters A-Z a-z 0-9 . _ : -")
    if not 1 <= len(chain_name) <= 100 or not chain_name.isprintable():
        raise InvalidMethod(problem="A chain name is 1 to 100 printable characters.")
    if not is_symbol(token_symbol):
        raise InvalidMethod(problem="A token symbol is 1 to 32 of A-Z a-z 0-9 . _ $ -")
    if not 1 <= confirmations_required <= MAX_CONFIRMATIONS:
        raise InvalidMethod(problem=f"Confirmations are a number from 1 to {MAX_CONFIRMATIONS}.")
    if session.get(PaymentMethod, (project_id, method_id)) is not None:
        raise PaymentMethodExists(id=method_id)
    method = PaymentMethod(
        project_id=project_id,
        id=method_id,
        chain_id=chain_id,
        chain_name=chain_name,
        token_symbol=token_symbol,
        token_address=parse_token_address(token_address),
        decimals=DECIMALS,
        confirmations_required=confirmations_required,
        created_at=now,
    )
    session.add(method)
    session.flush()
    return method


def check_chain_id(chain_id: int) -> None:
    """Raise `MainNetRefused` for a mainnet and `InvalidMethod` for an invalid chain id."""
    if chain_id in MAIN_NETS:
        raise MainNetRefused(chain_id=chain_id)
    if not 1 <= chain_id <= LARGEST_CHAIN_ID:
        raise InvalidMethod(problem=f"A chain id is a number from 1 to {LARGEST_CHAIN_ID}.")


def is_symbol(text: str) -> bool:
    """Return whether the text is a valid token symbol."""
    return _SYMBOL.fullmatch(text) is not None


def list_methods(db: Db, *, project_id: str) -> Sequence[MethodRow]:
    """Return a project's methods, oldest first."""
    return read_rows(MethodRow, db.execute(_METHODS_OF_PROJECT, {"project_id": project_id}))


def set_disabled(
    session: Session, *, project_id: str, method_id: str, disabled_at: datetime | None
) -> PaymentMethod:
    """Disable a method for new invoices, or enable it again if `disabled_at` is None.

    Raise `ProjectDoesNotExist` or `PaymentMethodDoesNotExist`.
    """
    access_project(session, project_id)
    method = session.get(PaymentMethod, (project_id, method_id))
    if method is None:
        raise PaymentMethodDoesNotExist(id=method_id)
    if disabled_at is None or method.disabled_at is None:  # keep the first time
        method.disabled_at = disabled_at
    session.flush()
    return method


def find_enabled(connection: Connection) -> Sequence[EnabledMethod]:
    """Return the methods of all projects that accept new invoices, ordered by chain."""
    return read_rows(EnabledMethod, connection.execute(_ENABLED))
