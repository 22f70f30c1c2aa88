"""Which of Django's hashes are taken over."""

import pytest

from models.chat.identity import passwords
from models.chat.identity.django_hashes import is_django_hash
from tests.support.chat.django_hashes import DJANGO_HASHES, DJANGO_PASSWORD

ARGON2 = DJANGO_HASHES["argon2"]
PBKDF2 = DJANGO_HASHES["pbkdf2"]


@pytest.mark.parametrize("name", sorted(DJANGO_HASHES))
def test_a_hash_of_django_s_is_of_its_password_only(name: str) -> None:
    assert is_django_hash(DJANGO_HASHES[name])
    assert passwords.is_password(DJANGO_PASSWORD, DJANGO_HASHES[name])
    assert not passwords.is_password(DJANGO_PASSWORD + "?", DJANGO_HASHES[name])


@pytest.mark.parametrize(
    "password_hash",
    [
        "",
        "!" + "x" * 40,  # what Django writes for a user without a password
        "argon2$",
        "argon2$$$$",
        ARGON2.replace("m=102400", "m=4194304"),
        ARGON2.replace("t=2", "t=1000"),
        ARGON2.replace("p=8", "p=64"),
        PBKDF2.replace("1000000", "2000001"),
        PBKDF2.replace("1000000", "99999999999999"),
        PBKDF2.replace("1000000", "0"),
        PBKDF2.replace("1000000", "-1"),
        PBKDF2[:-1],
        PBKDF2 + "$",
        PBKDF2.replace("sha256", "sha1"),
        "md5$salt$5f4dcc3b5aa765d61d8327deb882cf99",
    ],
)
def test_another_or_a_costly_one_is_nobody_s(password_hash: str) -> None:
    assert not is_django_hash(password_hash)
    assert not passwords.is_password(DJANGO_PASSWORD, password_hash)


def test_ours_are_not_replaced() -> None:
    assert passwords.is_imported(PBKDF2)
    assert not passwords.is_imported(passwords.hash_password(DJANGO_PASSWORD))
    assert not passwords.is_imported(None)
