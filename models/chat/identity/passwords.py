"""Passwords: strong enough, kept as argon2id, and the same time for a user who is not there."""

from functools import cache
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

LENGTH_MIN, LENGTH_MAX = 8, 100
LENGTH_ESTIMATED = 40
MOST_LETTER_SIGNS = 6
GUESSES_MIN = 10_000

HASHES_AT_ONCE = 2
"""In one process: each takes 64 MiB and a processor, and more at once would be no faster."""

_hasher = PasswordHasher()
_turns = BoundedSemaphore(HASHES_AT_ONCE)


def is_strong(password: str) -> bool:
    """Long enough, not too long, and not among the first guesses somebody would make.

    Takes some milliseconds: what follows the beginning only makes it stronger.
    """
    from zxcvbn import zxcvbn  # 10 MiB of frequent words, for the few who choose a password

    if not LENGTH_MIN <= len(password) <= LENGTH_MAX:
        return False
    return int(zxcvbn(_beginning(password))["guesses"]) >= GUESSES_MIN


def _beginning(password: str) -> str:
    """As much as can be estimated soon. The estimate tries every reading of the signs that stand
    for letters, whose number grows exponentially with the kinds of signs, and takes the square of
    the length for each.
    """
    signs: set[str] = set()
    for position, character in enumerate(password[:LENGTH_ESTIMATED]):
        if character in _letter_signs():
            signs.add(character)
        if len(signs) > MOST_LETTER_SIGNS:
            return password[:position]
    return password[:LENGTH_ESTIMATED]


@cache
def _letter_signs() -> frozenset[str]:
    from zxcvbn.matching import L33T_TABLE

    return frozenset(sign for signs in L33T_TABLE.values() for sign in signs)


@cache
def _nobody() -> str:
    """A hash to verify against when there is no user, so that the time tells nothing."""
    return hash_password("nobody has this password")


def hash_password(password: str) -> str:
    """An argon2id hash with its salt and parameters. Takes some 50 ms by design."""
    with _turns:
        return _hasher.hash(password)


def hash_if_strong(password: str) -> str | None:
    """The hash of a strong password; None for a weak one."""
    return hash_password(password) if is_strong(password) else None


def is_password(password: str, password_hash: str | None) -> bool:
    """Is it the password of that hash? Takes as long when there is none."""
    known = password_hash or _nobody()
    try:
        with _turns:
            return _hasher.verify(known, password) and password_hash is not None
    except (VerificationError, InvalidHashError):
        return False
