"""Passwords: argon2id, and the same time for a user who is not there."""

from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

_hasher = PasswordHasher()


@cache
def _nobody() -> str:
    """A hash to verify against when there is no user, so that the time tells nothing."""
    return _hasher.hash("nobody has this password")


def hash_password(password: str) -> str:
    """An argon2id hash with its salt and parameters. Takes some 50 ms by design."""
    return _hasher.hash(password)


def is_password(password: str, password_hash: str | None) -> bool:
    """Is it the password of that hash? Takes as long when there is none."""
    try:
        return _hasher.verify(password_hash or _nobody(), password) and password_hash is not None
    except (VerificationError, InvalidHashError):
        return False
