"""Hashes of passwords that Django made, which come with an imported organization.

Django documents both forms: `pbkdf2_sha256$<iterations>$<salt>$<hash>` and `argon2$`, after which
the hash is argon2's own.
"""

import base64
import hashlib
import hmac
import re
from collections import Counter
from collections.abc import Iterable

from argon2 import PasswordHasher, extract_parameters
from argon2.exceptions import InvalidHashError, VerificationError

MAX_ITERATIONS = 2_000_000
MAX_MEMORY_KIB = 128 * 1024
MAX_KIB_PASSES = 2 * 2 * 100 * 1024
MAX_LANES = 16
"""What a hash may cost to verify, because it comes from a file: twice what Django 5.2 asks for,
which is 1,000,000 iterations, or 2 passes over 100 MiB in 8 lanes.
"""
MAX_COSTS = 2

_PBKDF2 = re.compile(r"pbkdf2_sha256\$([1-9][0-9]{0,6})\$([^$]{1,64})\$([A-Za-z0-9+/]{43}=)")
_ARGON2 = "argon2$"
_hasher = PasswordHasher()


def is_django_hash(password_hash: str) -> bool:
    """Return whether a hash is Django's, and verifying it is bounded."""
    if found := _PBKDF2.fullmatch(password_hash):
        return int(found[1]) <= MAX_ITERATIONS
    if not password_hash.startswith(_ARGON2):
        return False
    try:
        cost = extract_parameters(_argon2_part(password_hash))
    except InvalidHashError:
        return False
    return (
        cost.memory_cost <= MAX_MEMORY_KIB
        and cost.memory_cost * cost.time_cost <= MAX_KIB_PASSES
        and cost.parallelism <= MAX_LANES
    )


def cost_of(password_hash: str) -> str:
    """Return the part of one of Django's hashes that decides what it costs to verify."""
    return password_hash.rsplit("$", 2)[0]


def usual(password_hashes: Iterable[str]) -> tuple[str, ...]:
    """Return one of Django's hashes for each of the costs that are the most frequent among these,
    at most `MAX_COSTS`.
    """
    by_cost: dict[str, str] = {}
    counted: Counter[str] = Counter()
    for each in filter(is_django_hash, password_hashes):
        counted[cost_of(each)] += 1
        by_cost.setdefault(cost_of(each), each)
    return tuple(by_cost[cost] for cost, _ in counted.most_common(MAX_COSTS))


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
