"""Passwords: their strength, their argon2id hashes, and verification in constant time."""

from collections.abc import Sequence
from functools import cache

from models.chat.identity import django_hashes
from specd.auth import Passwords

LENGTH_MIN, LENGTH_MAX = 8, 100
LENGTH_ESTIMATED = 40
MAX_LETTER_SIGNS = 6
GUESSES_MIN = 10_000

PASSWORDS = Passwords()


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


def hash_password(password: str) -> str:
    """Return an argon2id hash with its salt and parameters. Takes some 50 ms by design."""
    return PASSWORDS.hash(password)


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
    theirs = {django_hashes.cost_of(each): each for each in imported}
    own = None
    if password_hash is not None and is_imported(password_hash):
        own, password_hash = password_hash, None
        theirs[django_hashes.cost_of(own)] = own
    is_ours = PASSWORDS.verify(password, password_hash)
    matching = [each for each in theirs.values() if django_hashes.is_password(password, each)]
    return is_ours or own in matching
