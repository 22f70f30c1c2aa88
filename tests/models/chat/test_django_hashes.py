"""Imported password hashes of Django: accepted kinds and costs."""

import hashlib
from types import SimpleNamespace
from typing import Any

import pytest

from models.chat.identity import passwords
from models.chat.identity.django_hashes import is_django_hash, usual
from tests.support.chat.django_hashes import DJANGO_HASHES, DJANGO_PASSWORD
from tests.support.chat.hashing import CHEAP as CHEAP_HASHER

ARGON2 = DJANGO_HASHES["argon2"]
PBKDF2 = DJANGO_HASHES["pbkdf2"]
OURS = CHEAP_HASHER.hash("to be")
CHEAP = [
    PBKDF2.replace("1000000", "1"), PBKDF2.replace("1000000", "2"),
]  # fmt: skip


def salted(password_hash: str) -> str:
    """Return the hash of another password at the same cost."""
    return password_hash.replace("PGD", "DGP")


@pytest.mark.parametrize("name", sorted(DJANGO_HASHES))
def test_django_hash_verifies_its_password_only(name: str) -> None:
    assert is_django_hash(DJANGO_HASHES[name])
    assert passwords.is_password(DJANGO_PASSWORD, DJANGO_HASHES[name])
    assert not passwords.is_password(DJANGO_PASSWORD + "?", DJANGO_HASHES[name])


@pytest.mark.parametrize(
    "password_hash",
    [
        "",
        "!" + "x" * 40,  # stored by Django for a user without a password
        "argon2$",
        "argon2$$$$",
        ARGON2.replace("m=102400", "m=4194304"),
        ARGON2.replace("t=2", "t=1000"),
        ARGON2.replace("t=2", "t=5"),
        ARGON2.replace("m=102400,t=2", "m=131072,t=4"),
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
def test_other_or_costly_hash_is_rejected(password_hash: str) -> None:
    assert not is_django_hash(password_hash)
    assert not passwords.is_password(DJANGO_PASSWORD, password_hash)


@pytest.mark.parametrize(
    "password_hash",
    [
        ARGON2.replace("t=2", "t=4"),
        ARGON2.replace("m=102400,t=2", "m=131072,t=3"),
        PBKDF2.replace("1000000", "2000000"),
    ],
)
def test_hash_of_twice_the_usual_cost_is_accepted(password_hash: str) -> None:
    assert is_django_hash(password_hash)


def test_two_most_frequent_costs_are_usual() -> None:
    costs = [PBKDF2.replace("1000000", str(number)) for number in (1000, 2000, 3000)]
    others = ["!", "", OURS]
    assert usual(others) == ()
    assert usual([*others, *costs, costs[2], costs[1], costs[2], ARGON2]) == (costs[2], costs[1])


@pytest.mark.parametrize("imported", [(), (CHEAP[0],), (CHEAP[0], CHEAP[1])])
def test_attempt_cost_is_equal_for_all_names(
    monkeypatch: pytest.MonkeyPatch, imported: tuple[str, ...]
) -> None:
    """An unknown name, our hash and an imported hash compute the same hashes."""
    costs: list[str] = []

    def recording(original: Any, kind: str) -> Any:
        def recorded(*arguments: Any) -> Any:
            costs.append(f"{kind} {arguments[3:]}")
            return original(*arguments)

        return recorded

    monkeypatch.setattr(hashlib, "pbkdf2_hmac", recording(hashlib.pbkdf2_hmac, "pbkdf2"))
    hasher = SimpleNamespace(verify=recording(CHEAP_HASHER.verify, "ours"))
    monkeypatch.setattr(passwords, "PASSWORDS", hasher)
    found = set()
    for password_hash in (None, OURS, *imported, *(salted(each) for each in imported)):
        costs.clear()
        for password in ("to be", "?"):
            passwords.is_password(password, password_hash, imported)
        found.add(tuple(sorted(costs)))
    assert len(found) == 1
    assert len(costs) == 2 * (1 + len(imported))


@pytest.mark.parametrize("imported", [(), tuple(DJANGO_HASHES.values())])
def test_password_of_another_hash_is_rejected(imported: tuple[str, ...]) -> None:
    """The other hashes are verified only to equalize the time."""
    assert not passwords.is_password(DJANGO_PASSWORD, None, imported)
    assert not passwords.is_password(DJANGO_PASSWORD, OURS, imported)
    assert passwords.is_password("to be", OURS, imported)


def test_own_hash_is_not_replaced() -> None:
    assert passwords.is_imported(PBKDF2)
    assert not passwords.is_imported(passwords.hash_password(DJANGO_PASSWORD))
    assert not passwords.is_imported(None)
