"""Password hashes at the lowest cost, for tests in which a hash is not the subject."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from argon2 import PasswordHasher

from models.chat.identity import passwords

SERVED = passwords._hasher
"""The hasher that the service uses, before the suite replaces it."""
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@contextmanager
def cheap_password_hashes() -> Iterator[None]:
    """Make passwords' hashes at the lowest cost that argon2 permits while this lasts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_hasher", CHEAP)
        passwords._nobody.cache_clear()
        yield
    passwords._nobody.cache_clear()
