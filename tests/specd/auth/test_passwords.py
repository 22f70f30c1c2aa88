"""Hashes of passwords: cost, limits, and equal work for all mismatches."""

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from argon2 import PasswordHasher, extract_parameters
from argon2.profiles import RFC_9106_LOW_MEMORY

from specd.auth import Passwords
from specd.errors import InvalidRequest

CHEAP = Passwords(time_cost=1, memory_kib=8, lanes=1, max_bytes=20)
LONGER = Passwords(time_cost=1, memory_kib=8, lanes=1)
OTHER = PasswordHasher(time_cost=2, memory_cost=8, parallelism=1)


def test_hash_has_the_recommended_cost_by_default() -> None:
    passwords = Passwords()
    made = passwords.hash("to be")
    assert extract_parameters(made) == RFC_9106_LOW_MEMORY
    assert passwords.verify("to be", made)
    assert not passwords.verify("not to be", made)
    assert passwords.hash("to be") != made


@pytest.mark.parametrize("password", ["", "to be", "ü" * 9, "a\0b", "\ud800"])
def test_hash_verifies_only_its_password(password: str) -> None:
    made = CHEAP.hash(password)
    assert CHEAP.verify(password, made)
    assert not CHEAP.verify(password + ".", made)
    assert not CHEAP.verify(password, CHEAP.hash(password + "."))


class TestTooLongPassword:
    @pytest.mark.parametrize("password", ["x" * 21, "ü" * 11, "x" * 10_000_000])
    def test_is_an_invalid_request(self, password: str) -> None:
        with pytest.raises(InvalidRequest) as raised:
            CHEAP.hash(password, pointer="/body/secret")
        (violation,) = raised.value.violations
        assert (violation.path, violation.message) == ("/body/secret", "is longer than 20 bytes")
        assert password not in str(raised.value)

    def test_does_not_verify(self) -> None:
        password = "x" * 21
        assert not CHEAP.verify(password, LONGER.hash(password))
        assert CHEAP.verify("x" * 20, CHEAP.hash("x" * 20))


class TestNeedsRehash:
    def test_follows_the_parameters(self) -> None:
        assert not CHEAP.needs_rehash(CHEAP.hash("to be"))
        made = OTHER.hash("to be")
        assert CHEAP.needs_rehash(made)
        assert CHEAP.verify("to be", made)

    @pytest.mark.parametrize("password_hash", ["", "!", "$2b$12$" + "x" * 53])
    def test_is_true_for_unknown_hashes(self, password_hash: str) -> None:
        assert CHEAP.needs_rehash(password_hash)


@pytest.mark.parametrize(
    ("password", "password_hash"),
    [
        ("to be", CHEAP.hash("not to be")),
        ("to be", None),
        ("to be", ""),
        ("to be", "!"),
        ("to be", "$2b$12$" + "x" * 53),
        ("x" * 21, None),
        ("x" * 21, CHEAP.hash("to be")),
    ],
    ids=["wrong", "no user", "empty", "mark", "bcrypt", "long, no user", "long"],
)
def test_each_rejection_hashes_once(
    monkeypatch: pytest.MonkeyPatch, password: str, password_hash: str | None
) -> None:
    """argon2 raises `InvalidHashError` before it hashes anything."""
    hashed = []
    verify = CHEAP._hasher.verify

    def noted(stored: str, content: bytes) -> bool:
        if stored.startswith("$argon2id$"):
            hashed.append(extract_parameters(stored))
        return verify(stored, content)

    monkeypatch.setattr(CHEAP, "_hasher", SimpleNamespace(verify=noted))
    assert not CHEAP.verify(password, password_hash)
    assert hashed == [extract_parameters(LONGER.hash(""))]


@pytest.mark.parametrize(
    "password_hash",
    [CHEAP.hash("to be")[:-5], "$argon2id$garbage", "$argon2id$\u00fc"],
    ids=["cut", "garbage", "not ASCII"],
)
def test_damaged_hash_costs_as_much_as_a_wrong_password(
    monkeypatch: pytest.MonkeyPatch, password_hash: str
) -> None:
    verified = []
    verify = CHEAP._hasher.verify

    def noted(stored: str, content: bytes) -> bool:
        verified.append(stored)
        return verify(stored, content)

    monkeypatch.setattr(CHEAP, "_hasher", SimpleNamespace(verify=noted))
    assert not CHEAP.verify("to be", password_hash)
    assert verified == [password_hash, CHEAP._decoy]


def test_few_passwords_are_hashed_together(monkeypatch: pytest.MonkeyPatch) -> None:
    running, most = 0, 0
    counting, everybody = threading.Lock(), threading.Event()

    def hash_slowly(content: bytes) -> str:
        nonlocal running, most
        with counting:
            running += 1
            most = max(most, running)
        everybody.wait(0.2)
        with counting:
            running -= 1
        return content.decode()

    passwords = Passwords(concurrency=3)
    monkeypatch.setattr(passwords, "_hasher", SimpleNamespace(hash=hash_slowly))
    with ThreadPoolExecutor(12) as threads:
        assert list(threads.map(passwords.hash, "abcdefghijkl")) == [*"abcdefghijkl"]
    assert most == 3


class TestRun:
    def test_uses_separate_threads(self) -> None:
        passwords = Passwords(concurrency=3)
        together = threading.Barrier(3, timeout=60)

        def work(number: int) -> tuple[int, str]:
            together.wait()
            return number, threading.current_thread().name

        async def run() -> list[tuple[int, str]]:
            return await asyncio.gather(*(passwords.run(work, number) for number in range(6)))

        done = asyncio.run(run())
        assert [number for number, _ in done] == list(range(6))
        assert {name for _, name in done} == {f"hashes_{n}" for n in range(3)}

    def test_lowers_the_priority_of_its_threads(self) -> None:
        def niceness() -> int:
            return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

        async def run() -> tuple[int, int]:
            return niceness(), await CHEAP.run(niceness)

        of_loop, of_hashes = asyncio.run(run())
        assert of_hashes == max(of_loop, 10)
