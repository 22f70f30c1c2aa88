"""Password strength."""

import pytest
from argon2 import extract_parameters
from argon2.profiles import RFC_9106_LOW_MEMORY

from models.chat.identity import passwords
from models.chat.identity.passwords import LENGTH_MAX, LENGTH_MIN, is_strong
from tests.support.chat.hashing import SERVED
from tests.support.cpu import cpu_at_most

STRONG = "vH3!kq9#"
LONG = "correct horse battery staple, the 4th of " + "7qZ!" * 20


@pytest.mark.parametrize("password", [STRONG, LONG[:LENGTH_MAX], "ein Ärgernis am Öresund"])
def test_password_that_is_hard_to_guess_is_strong(password: str) -> None:
    assert is_strong(password)


@pytest.mark.parametrize(
    "password",
    ["", STRONG[: LENGTH_MIN - 1], LONG[: LENGTH_MAX + 1], "password", "12345678", "a" * 100],
)
def test_short_long_or_common_password_is_weak(password: str) -> None:
    assert not is_strong(password)


def test_hash_has_the_full_cost_and_verifies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests hash at the lowest cost."""
    monkeypatch.setattr(passwords, "PASSWORDS", SERVED)
    made = passwords.hash_password(STRONG)
    assert extract_parameters(made) == RFC_9106_LOW_MEMORY
    assert passwords.is_password(STRONG, made)
    assert not passwords.is_password(STRONG + "?", made)
    assert not passwords.is_password(STRONG, None)


@pytest.mark.parametrize("unit", ["4@8({[<369!1|10$57+2%", "$@!5", "1", "qwerty", "aB3$", "ü"])
def test_strength_is_computed_quickly(unit: str) -> None:
    with cpu_at_most(0.25):
        is_strong((unit * LENGTH_MAX)[:LENGTH_MAX])


def test_substituted_letters_do_not_hide_a_common_password() -> None:
    assert not is_strong("p@$$w0rd")
    assert is_strong("4@8({[<369!1|")
