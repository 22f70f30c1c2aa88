"""Which passwords are strong enough."""

import pytest

from models.chat.errors.people import PasswordTooWeak
from models.chat.passwords import LENGTH_MAX, LENGTH_MIN, check_strength

STRONG = "vH3!kq9#"
LONG = "correct horse battery staple, the 4th of " + "7qZ!" * 20


@pytest.mark.parametrize("password", [STRONG, LONG[:LENGTH_MAX], "ein Ärgernis am Öresund"])
def test_a_password_that_nobody_guesses_soon_is_strong(password: str) -> None:
    check_strength(password)


@pytest.mark.parametrize(
    "password",
    ["", STRONG[: LENGTH_MIN - 1], LONG[: LENGTH_MAX + 1], "password", "12345678", "a" * 100],
)
def test_one_too_short_too_long_or_too_common_is_weak(password: str) -> None:
    with pytest.raises(PasswordTooWeak, match=r"^The password is too weak\.$"):
        check_strength(password)
