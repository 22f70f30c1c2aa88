"""Clients of the tests share the certificates that they verify by."""

import ssl

import certifi
import pytest

from tests.support.certificates import create_ssl_context


def test_usual_clients_share_a_context() -> None:
    context = create_ssl_context()
    assert context is create_ssl_context(verify=True)
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname
    assert context.get_ca_certs()


def test_other_clients_have_their_own_context(monkeypatch: pytest.MonkeyPatch) -> None:
    unverified = create_ssl_context(verify=False)
    assert unverified is not create_ssl_context(verify=False)
    assert unverified.verify_mode == ssl.CERT_NONE
    own = ssl.create_default_context()
    assert create_ssl_context(own) is own
    before = create_ssl_context()
    monkeypatch.setenv("SSL_CERT_FILE", certifi.where())
    assert create_ssl_context() is not before
