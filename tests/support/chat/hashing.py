"""Password hashes at the lowest cost, for tests in which a hash is not the subject."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from models.chat.identity import passwords
from specd.auth import Passwords

SERVED = passwords.PASSWORDS
"""What the service uses, before the suite replaces it."""
CHEAP = Passwords(time_cost=1, memory_kib=8, lanes=1)


@contextmanager
def cheap_password_hashes() -> Iterator[None]:
    """Make passwords' hashes at the lowest cost that argon2 permits while this lasts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "PASSWORDS", CHEAP)
        yield
