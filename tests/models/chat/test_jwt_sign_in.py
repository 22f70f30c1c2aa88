"""Sign-in with JSON Web Tokens: forged tokens and invalid configuration are rejected."""

import base64
import hmac
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from models.chat.identity.errors import BadJwt, InvalidJwtConfiguration, JwtMissing, JwtWithoutEmail
from models.chat.identity.jwt_sign_in import TokenRules, check_key, read_email

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SECRET = "a shared secret of the organization's, long enough for HS512: 64 bytes"
HS = TokenRules(SECRET, ("HS256",), None)
RSA_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())


def public_pem(key: Any) -> str:
    spki = PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(Encoding.PEM, spki).decode()


def private_pem(key: Any) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


RS = TokenRules(public_pem(RSA_KEY), ("RS256",), None)
ES = TokenRules(public_pem(EC_KEY), ("ES256",), None)


def encode(part: Any) -> str:
    raw = part if isinstance(part, bytes) else json.dumps(part).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def signed(claims: Any, *, header: dict[str, Any] | None = None, secret: str = SECRET) -> str:
    """Return an HS256 token built by hand, because a library would refuse to write it."""
    text = f"{encode({'alg': 'HS256', 'typ': 'JWT', **(header or {})})}.{encode(claims)}"
    return f"{text}.{encode(hmac.digest(secret.encode(), text.encode(), 'sha256'))}"


def seconds(offset: float) -> float:
    return (NOW + timedelta(seconds=offset)).timestamp()


HAMLET = {"email": "hamlet@acme.example", "exp": seconds(3600)}
ENDLESS = {"email": "hamlet@acme.example"}
DAY = 86_400


class TestGoodTokens:
    @pytest.mark.parametrize("more", [
        {},
        {"exp": seconds(1), "nbf": seconds(0), "iat": seconds(-5)},
        {"exp": seconds(0.5)},
        {"iss": "anybody", "jti": "1", "sub": "hamlet"},
    ])  # fmt: skip
    def test_email_is_returned(self, more: dict[str, Any]) -> None:
        assert read_email(signed(HAMLET | more), HS, now=NOW) == "hamlet@acme.example"

    @pytest.mark.parametrize("claims", [
        {"exp": seconds(DAY)},
        {"iat": seconds(1 - DAY)},
        {"iat": seconds(60)},
        {"iat": seconds(0), "exp": seconds(400 * DAY)},
    ])  # fmt: skip
    def test_token_that_ends_within_a_day_is_accepted(self, claims: dict[str, Any]) -> None:
        assert read_email(signed(ENDLESS | claims), HS, now=NOW) == "hamlet@acme.example"

    @pytest.mark.parametrize("claims", [
        {}, {"iat": 1}, {"iat": seconds(9 * DAY)}, {"exp": seconds(400 * DAY)}, {"exp": 2**52},
    ])  # fmt: skip
    def test_token_without_end_is_accepted_if_configured(self, claims: dict[str, Any]) -> None:
        rules = TokenRules(SECRET, ("HS256",), None, max_age_s=0)
        assert read_email(signed(ENDLESS | claims), rules, now=NOW) == "hamlet@acme.example"

    @pytest.mark.parametrize(("rules", "key"), [(RS, RSA_KEY), (ES, EC_KEY)])
    def test_token_signed_with_a_private_key_is_accepted(self, rules: TokenRules, key: Any) -> None:
        token = jwt.encode(HAMLET, private_pem(key), algorithm=rules.algorithms[0])
        assert read_email(token, rules, now=NOW) == "hamlet@acme.example"

    def test_token_for_the_configured_audience_is_accepted(self) -> None:
        rules = TokenRules(SECRET, ("HS256",), "chat")
        for audience in ("chat", ["mail", "chat"]):
            assert read_email(signed(HAMLET | {"aud": audience}), rules, now=NOW)

    @pytest.mark.parametrize("header", [
        {"kid": "../../../../dev/null"},
        {"kid": "' UNION SELECT 'secret' --"},
        {"kid": "http://127.0.0.1:1/key"},
        {"jku": "http://127.0.0.1:1/jwks.json"},
        {"x5u": "http://127.0.0.1:1/cert.pem"},
        {"jwk": {"kty": "oct", "k": encode(b"mine")}},
    ])  # fmt: skip
    def test_header_cannot_select_the_key(self, header: dict[str, Any]) -> None:
        assert read_email(signed(HAMLET, header=header), HS, now=NOW) == "hamlet@acme.example"
        for key in ("", "mine", "secret"):
            with pytest.raises(BadJwt):
                read_email(signed(HAMLET, header=header, secret=key), HS, now=NOW)


class TestBadTokens:
    @pytest.mark.parametrize("claims", [
        {},
        {"iat": 1},
        {"iat": seconds(-DAY)},
        {"iat": seconds(61)},
        {"iat": seconds(-DAY), "exp": seconds(60)},
        {"iat": True},
        {"iat": float("nan")},
        {"iat": 10**400},
        {"exp": seconds(DAY + 1)},
        {"exp": 2**52},
        {"nbf": seconds(-1)},
        {"exp": seconds(0), "iat": seconds(-1)},
    ], ids=str)  # fmt: skip
    def test_token_that_does_not_end_within_a_day_is_rejected(self, claims: dict[str, Any]) -> None:
        with pytest.raises(BadJwt):
            read_email(signed(ENDLESS | claims), HS, now=NOW)

    @pytest.mark.parametrize("claims", [
        {"exp": seconds(0)},
        {"exp": seconds(-1)},
        {"nbf": seconds(1)},
        {"exp": str(seconds(60))},
        {"exp": True},
        {"exp": None},
        {"exp": 10**400},
        {"exp": float("inf")},
        {"exp": float("nan")},
        {"nbf": "0"},
        {"nbf": [0]},
        {"nbf": float("nan")},
        {"aud": "chat"},
        {"aud": 7},
        {"sub": 7},
    ], ids=str)  # fmt: skip
    def test_invalid_claims_are_rejected(self, claims: dict[str, Any]) -> None:
        with pytest.raises(BadJwt):
            read_email(signed(HAMLET | claims), HS, now=NOW)

    @pytest.mark.parametrize("claims", [{}, {"aud": "mail"}, {"aud": ["mail"]}, {"aud": 7}])
    def test_other_audience_is_rejected(self, claims: dict[str, Any]) -> None:
        with pytest.raises(BadJwt):
            read_email(signed(HAMLET | claims), TokenRules(SECRET, ("HS256",), "chat"), now=NOW)

    @pytest.mark.parametrize("payload", [
        b"", b"null", b"[]", b'"hamlet@acme.example"', b"{", b"\xff", b"[" * 4000,
        signed(HAMLET).encode(), b'{"email": NaN',
    ])  # fmt: skip
    def test_invalid_payload_is_rejected(self, payload: bytes) -> None:
        with pytest.raises(BadJwt):
            read_email(signed(payload), HS, now=NOW)

    def test_other_algorithm_is_rejected(self) -> None:
        none = f"{encode({'alg': 'none'})}.{encode(HAMLET)}."
        shouted = f"{encode({'alg': 'NONE'})}.{encode(HAMLET)}."
        confused = signed(HAMLET, secret=RS.key)  # the public key used as a shared secret
        stronger = jwt.encode(HAMLET, SECRET, algorithm="HS512")  # valid, but not configured
        for token in (none, shouted, confused, stronger, signed(HAMLET, header={"alg": None})):
            for rules in (HS, RS, ES):
                with pytest.raises(BadJwt):
                    read_email(token, rules, now=NOW)

    def test_invalid_signature_is_rejected(self) -> None:
        good = signed(HAMLET)
        head, body, signature = good.split(".")
        other = encode({"email": "cordelia@acme.example"})
        other_key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        for token in (
            f"{head}.{other}.{signature}",
            f"{head}.{body}.",
            f"{head}.{body}",
            f"{head}.{body}.{signature[:-2]}",
            signed(HAMLET, secret="another secret of 32 bytes and more, quite"),
            jwt.encode(HAMLET, private_pem(other_key), algorithm="RS256"),
        ):
            for rules in (HS, RS):
                with pytest.raises(BadJwt):
                    read_email(token, rules, now=NOW)

    def test_malformed_token_is_rejected(self) -> None:
        good = signed(HAMLET)
        head, body, signature = good.split(".")
        for token in (
            f"{good}.{signature}", f"{head}.{good}", f"{good}.{good}", f".{good}", f"{good}.",
            f"{head}.{body}.{signature}.{body}.{signature}", "...", "..", ".", "a", "a.b.c",
            "Bearer " + good, json.dumps({"payload": body, "protected": head}), "ü.ü.ü",
            signed(HAMLET, header={"crit": ["mine"]}), signed(HAMLET, header={"b64": False}),
        ):  # fmt: skip
            with pytest.raises(BadJwt):
                read_email(token, HS, now=NOW)

    def test_missing_token_or_email_is_rejected(self) -> None:
        with pytest.raises(JwtMissing):
            read_email("", HS, now=NOW)
        for claims in ({}, {"email": None}, {"email": 7}, {"email": ["hamlet@acme.example"]}):
            with pytest.raises(JwtWithoutEmail):
                read_email(signed({"exp": seconds(60), **claims}), HS, now=NOW)


class TestCheckKey:
    @pytest.mark.parametrize(("key", "algorithms"), [
        (SECRET, ("HS256", "HS384", "HS512")),
        (RS.key, ("RS256", "RS512", "PS384")),
        (ES.key, ("ES256",)),
    ])  # fmt: skip
    def test_valid_key_is_accepted(self, key: str, algorithms: tuple[str, ...]) -> None:
        check_key(key, algorithms)

    @pytest.mark.parametrize(("key", "algorithms", "problem"), [
        (RS.key, ("HS256",), "HS256 requires a shared secret, and the key is of another kind"),
        (RS.key, ("RS256", "HS256"), "HS256 requires a shared secret"),
        (SECRET, ("HS256", "RS256"), "RS256 requires a key in PEM"),
        ("x" * 31, ("HS256",), "HS256 requires a secret of at least 32 bytes, and it has 31"),
        ("x" * 47, ("HS256", "HS384"), "HS384 requires a secret of at least 48 bytes"),
        (ES.key, ("ES384",), "ES384 requires a key of the curve secp384r1"),
        (ES.key, ("RS256",), "RS256 requires an RSA key of at least 2048 bits"),
        (RS.key, ("ES256",), "ES256 requires a key of the curve secp256r1"),
        (private_pem(RSA_KEY), ("RS256",), "jwt_key is a private key"),
        ("x" * 20_001, ("HS256",), "jwt_key is too long"),
    ])  # fmt: skip
    def test_invalid_key_is_rejected_without_quoting_it(
        self, key: str, algorithms: tuple[str, ...], problem: str
    ) -> None:
        with pytest.raises(InvalidJwtConfiguration) as refused:
            check_key(key, algorithms)
        assert problem in str(refused.value)
        assert key not in str(refused.value)
