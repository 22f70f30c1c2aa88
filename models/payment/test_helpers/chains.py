"""The chains that a project may act on: those of its payment methods."""

from collections.abc import Sequence

from models.payment.errors import PaymentMethodNotAllowed
from models.payment.methods import MethodRow, list_methods
from models.payment.test_helpers.errors import ChainDoesNotExist
from specd.db import Db


def require_chain(db: Db, *, project_id: str, chain_id: int) -> None:
    """Raise `ChainDoesNotExist` unless a payment method of the project is on the chain."""
    if all(method.chain_id != chain_id for method in _methods(db, project_id)):
        raise ChainDoesNotExist()


def choose_method(db: Db, *, project_id: str, method_id: str | None) -> MethodRow:
    """Return the enabled payment method with that id, or the first one if `method_id` is None.
    Raise `PaymentMethodNotAllowed`.
    """
    for method in _methods(db, project_id):
        if method.disabled_at is None and method_id in (None, method.id):
            return method
    raise PaymentMethodNotAllowed()


def _methods(db: Db, project_id: str) -> Sequence[MethodRow]:
    return list_methods(db, project_id=project_id)
