"""Stored form of email addresses, and disposable domains."""

import pytest

from models.chat.invitations.invitees import read_addresses
from models.chat.people.emails import as_stored, check_email, is_disposable
from models.chat.people.errors import InvalidEmail


@pytest.mark.parametrize(
    ("email", "stored"),
    [
        (" Hamlet@Acme.Example ", "Hamlet@Acme.Example"),
        ("a@localhost", "a@localhost"),
        ("x@mailinator\u3002com", "x@mailinator.com"),
        ("x@\uff4dailinator.com", "x@mailinator.com"),
        ("x@mailinator.\u212aom", "x@mailinator.kom"),
        ("x@Bücher.de", "x@xn--bcher-kva.de"),
        ("é@acme.test", "é@acme.test"),
        ("e\u0301@acme.test", "é@acme.test"),
    ],
)
def test_domain_is_stored_in_ascii(email: str, stored: str) -> None:
    assert check_email(email) == as_stored(email) == stored
    assert check_email(stored) == stored


def test_invalid_address_is_rejected_or_stored_unchanged() -> None:
    with pytest.raises(InvalidEmail):
        check_email("a@b@c")
    assert as_stored(" a@b@c ") == "a@b@c"


@pytest.mark.parametrize(
    "domain", ["mailinator\u3002com", "\uff4dailinator.com", "x.MAILINATOR.com"]
)
def test_disposable_domain_is_recognized_in_any_spelling(domain: str) -> None:
    assert is_disposable(check_email(f"x@{domain}").rpartition("@")[2].lower())


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Guil <guil@acme.example>", "guil@acme.example"),
        ("<<a@b.example>>", "<a@b.example>"),
        ("a> <b@c.example", "a> <b@c.example"),
        ("<a@b.example", "<a@b.example"),
        ("<<<", "<<<"),
    ],
)
def test_invitee_is_an_address_with_or_without_a_name(text: str, written: str) -> None:
    (address,) = read_addresses(text)
    assert address[0] == written
