"""Password hashes at minimum cost, for tests of other features."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from models.chat.identity import passwords
from specd.auth import Passwords

SERVED = passwords.PASSWORDS
"""The hasher of the service, before the suite replaces it."""
CHEAP = Passwords(time_cost=1, memory_kib=8, lanes=1)


@contextmanager
def cheap_password_hashes() -> Iterator[None]:
    """Hash passwords at the minimum cost that argon2 permits until the end of the block."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "PASSWORDS", CHEAP)
        yield
