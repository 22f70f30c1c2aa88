"""Hashes of passwords that Django made, which come with an imported organization.

Django documents both forms: `pbkdf2_sha256$<iterations>$<salt>$<hash>` and `argon2$`, after which
the hash is argon2's own.
"""

import base64
import hashlib
import hmac
import re

from argon2 import PasswordHasher, extract_parameters
from argon2.exceptions import InvalidHashError, VerificationError

MOST_ITERATIONS = 2_000_000
MOST_MEMORY_KIB = 128 * 1024
MOST_PASSES = 10
MOST_LANES = 16
"""What a hash may cost to verify, because it comes from a file. Django 5.2 asks for 1,000,000
iterations, or for 100 MiB, 2 passes and 8 lanes."""

_PBKDF2 = re.compile(r"pbkdf2_sha256\$([1-9][0-9]{0,6})\$([^$]{1,64})\$([A-Za-z0-9+/]{43}=)")
_ARGON2 = "argon2$"
_hasher = PasswordHasher()


def is_django_hash(password_hash: str) -> bool:
    """Return whether a hash is Django's, and verifying it is bounded."""
    if found := _PBKDF2.fullmatch(password_hash):
        return int(found[1]) <= MOST_ITERATIONS
    if not password_hash.startswith(_ARGON2):
        return False
    try:
        cost = extract_parameters(_argon2_part(password_hash))
    except InvalidHashError:
        return False
    return (
        cost.memory_cost <= MOST_MEMORY_KIB
        and cost.time_cost <= MOST_PASSES
        and cost.parallelism <= MOST_LANES
    )


def is_password(password: str, password_hash: str) -> bool:
    """Return whether one of Django's hashes is of the password."""
    if found := _PBKDF2.fullmatch(password_hash):
        iterations, salt, wanted = int(found[1]), found[2], found[3]
        made = hashlib.pbkdf2_hmac("sha256", password.encode(), salt.encode(), iterations)
        return hmac.compare_digest(base64.b64encode(made).decode(), wanted)
    try:
        return _hasher.verify(_argon2_part(password_hash), password)
    except (VerificationError, InvalidHashError):
        return False


def _argon2_part(password_hash: str) -> str:
    return "$" + password_hash.removeprefix(_ARGON2)
