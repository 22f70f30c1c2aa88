"""Password hashes by Django in imported organizations.

Django documents both forms: `pbkdf2_sha256$<iterations>$<salt>$<hash>`, and `argon2$` followed by
an argon2 hash.
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
"""Maximum costs of verifying a hash, because hashes come from a file. They are twice the costs of
Django 5.2: 1,000,000 iterations, or 2 passes over 100 MiB in 8 lanes.
"""
MAX_COSTS = 2

_PBKDF2 = re.compile(r"pbkdf2_sha256\$([1-9][0-9]{0,6})\$([^$]{1,64})\$([A-Za-z0-9+/]{43}=)")
_ARGON2 = "argon2$"
_hasher = PasswordHasher()


def is_django_hash(password_hash: str) -> bool:
    """Return whether a hash is Django's and within the maximum costs."""
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
    """Return the part of a Django hash that determines the cost of verifying it."""
    return password_hash.rsplit("$", 2)[0]


def usual(password_hashes: Iterable[str]) -> tuple[str, ...]:
    """Return one Django hash for each of the most frequent costs among these hashes, at most
    `MAX_COSTS`.
    """
    by_cost: dict[str, str] = {}
    counted: Counter[str] = Counter()
    for each in filter(is_django_hash, password_hashes):
        counted[cost_of(each)] += 1
        by_cost.setdefault(cost_of(each), each)
    return tuple(by_cost[cost] for cost, _ in counted.most_common(MAX_COSTS))


def is_password(password: str, password_hash: str) -> bool:
    """Return whether the password matches a Django hash."""
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
