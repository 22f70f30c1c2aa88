"""Passwords: their strength, their argon2id hashes, and verification in constant time."""

from collections.abc import Sequence
from functools import cache
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from models.chat.identity import django_hashes

LENGTH_MIN, LENGTH_MAX = 8, 100
LENGTH_ESTIMATED = 40
MAX_LETTER_SIGNS = 6
GUESSES_MIN = 10_000

HASHES_AT_ONCE = 2
"""In one process, because each takes 64 MiB and a processor; more at once are no faster."""

_hasher = PasswordHasher()
_slots = BoundedSemaphore(HASHES_AT_ONCE)


def is_strong(password: str) -> bool:
    """Return whether a password has a permitted length and is not among the first guesses.

    Takes some milliseconds, because only the beginning is estimated; the rest adds strength.
    """
    from zxcvbn import zxcvbn  # 10 MiB of frequent words, for the few who choose a password

    if not LENGTH_MIN <= len(password) <= LENGTH_MAX:
        return False
    return int(zxcvbn(_beginning(password))["guesses"]) >= GUESSES_MIN


def _beginning(password: str) -> str:
    """Return the part that can be estimated fast. The estimate tries every reading of the signs
    that stand for letters: their number grows exponentially with the kinds of signs, and each takes
    the square of the length.
    """
    signs: set[str] = set()
    for position, character in enumerate(password[:LENGTH_ESTIMATED]):
        if character in _letter_signs():
            signs.add(character)
        if len(signs) > MAX_LETTER_SIGNS:
            return password[:position]
    return password[:LENGTH_ESTIMATED]


@cache
def _letter_signs() -> frozenset[str]:
    from zxcvbn.matching import L33T_TABLE

    return frozenset(sign for signs in L33T_TABLE.values() for sign in signs)


@cache
def _nobody() -> str:
    """Return a hash to verify against without a user, so that the time reveals nothing."""
    return hash_password("nobody has this password")


def hash_password(password: str) -> str:
    """Return an argon2id hash with its salt and parameters. Takes some 50 ms by design."""
    with _slots:
        return _hasher.hash(password)


def hash_if_strong(password: str) -> str | None:
    """Return the hash of a strong password; None for a weak one."""
    return hash_password(password) if is_strong(password) else None


def is_imported(password_hash: str | None) -> bool:
    """Return whether a hash is Django's, which a sign-in replaces by ours."""
    return password_hash is not None and django_hashes.is_django_hash(password_hash)


def is_password(password: str, password_hash: str | None, imported: Sequence[str] = ()) -> bool:
    """Return whether the hash is of the password.

    `imported`: one hash of each usual cost in the organization (`django_hashes.usual`). One hash of
    each cost and one of ours are verified, whether the user has one of them, another one or none,
    so that the time reveals neither who has an account nor who has not signed in since the import.
    """
    verified = (_nobody(), *imported)
    if password_hash is not None:
        cost = _cost(password_hash)
        others = [each for each in verified if _cost(each) != cost]
        verified = (password_hash, *others)
    with _slots:
        matches = [_matches(password, each) for each in verified]
    return matches[0] and password_hash is not None


def _cost(password_hash: str) -> str:
    return django_hashes.cost_of(password_hash) if is_imported(password_hash) else ""


def _matches(password: str, password_hash: str) -> bool:
    if is_imported(password_hash):
        return django_hashes.is_password(password, password_hash)
    try:
        return _hasher.verify(password_hash, password)
    except (VerificationError, InvalidHashError):
        return False
