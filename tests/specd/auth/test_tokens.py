"""JSON Web Tokens: signed tokens verify, and attacks are rejected."""

import base64
import hmac
import json
import warnings
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from specd.auth import Tokens
from specd.errors import SettingsError, Unauthenticated

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SECRET = "a secret for every algorithm: it has at least the 64 bytes of HS512"
OLDER = "the secret before, from which tokens are still valid: at least 64 bytes"
RSA_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())


def private_pem(key: Any) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def public_pem(key: Any) -> str:
    spki = PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(Encoding.PEM, spki).decode()


def encode(part: Any) -> str:
    raw = part if isinstance(part, bytes) else json.dumps(part).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def seconds(offset: float) -> float:
    return (NOW + timedelta(seconds=offset)).timestamp()


INF, NAN = float("inf"), float("nan")
NESTED: list[Any] = []
for _ in range(20_000):  # too many for the C stack crash a process whose libraries allow more
    NESTED = [NESTED]
GOOD = {"sub": "ada", "exp": seconds(60)}


def forged(claims: Any = GOOD, *, header: Any = (), secret: str | bytes = SECRET) -> str:
    """Return an HS256 token assembled by hand, because libraries refuse to create some of them."""
    text = f"{encode({'alg': 'HS256', 'typ': 'JWT', **dict(header)})}.{encode(claims)}"
    key = secret.encode() if isinstance(secret, str) else secret
    return f"{text}.{encode(hmac.digest(key, text.encode(), 'sha256'))}"


HS = Tokens(SECRET)
RS = Tokens(public_pem(RSA_KEY), algorithms="RS256")
ES = Tokens(public_pem(EC_KEY), algorithms="ES256")


class TestSign:
    @pytest.mark.parametrize(
        ("key", "algorithm"),
        [
            *((SECRET, name) for name in ("HS256", "HS384", "HS512")),
            (SECRET.encode(), "HS256"),
            *((private_pem(RSA_KEY), name) for name in ("RS256", "RS512", "PS256", "PS384")),
            (private_pem(EC_KEY), "ES256"),
            (private_pem(ec.generate_private_key(ec.SECP384R1())), "ES384"),
            (private_pem(ec.generate_private_key(ec.SECP521R1())).encode(), "ES512"),
        ],
    )
    def test_token_verifies_until_it_expires(self, key: str | bytes, algorithm: str) -> None:
        tokens = Tokens(key, algorithms=algorithm)
        token = tokens.sign({"sub": "ada", "scope": "read"}, lifetime_s=60, now=NOW)
        assert jwt.get_unverified_header(token)["alg"] == algorithm
        for later in (0, 59.999):
            claims = tokens.verify(token, now=NOW + timedelta(seconds=later))
            assert claims == {
                "sub": "ada", "scope": "read", "iat": seconds(0), "exp": seconds(60)
            }  # fmt: skip
        assert tokens.read(token, now=NOW + timedelta(seconds=60)) is None

    def test_adds_the_audience_and_the_issuer(self) -> None:
        tokens = Tokens(SECRET, audience="shop", issuer="door")
        token = tokens.sign({"aud": "other", "exp": 1}, lifetime_s=60, now=NOW)
        assert tokens.verify(token, now=NOW)["aud"] == "shop"
        assert tokens.verify(token, now=NOW)["iss"] == "door"

    @pytest.mark.parametrize(
        ("claims", "lifetime_s", "problem"),
        [
            ({"sub": 7}, 60, "Subject must be a string"),
            ({"sub": None}, 60, 'missing the "sub" claim'),
            ({}, 60, 'missing the "sub" claim'),
            *(({"sub": "ada"}, value, "positive number") for value in (0, -1, 1e17, INF, NAN)),
            ({"sub": "ada"}, 2**53 - 1, "exp is out of range"),
            ({"sub": "x" * 8192}, 60, "longer than 8192 bytes"),
            *(({"sub": "ada", "aud": value}, 60, "audience") for value in ("shop", ["shop"], 7)),
            ({"sub": "ada", "iss": 7}, 60, "Issuer"),
            ({"sub": "ada", "jti": 7}, 60, "JWT ID must be a string"),
            *(({"sub": "ada", "nbf": value}, 60, "nbf is not a number") for value in ("0", None)),
            *(({"sub": "ada", "nbf": value}, 60, "nbf is out of range") for value in (2**53, NAN)),
            ({"sub": "ada", "nbf": seconds(60)}, 60, "it has expired"),
            ({"sub": "ada", "roles": {"admin"}}, 60, "not JSON serializable"),
            ({"sub": "ada", "roles": b"admin"}, 60, "not JSON serializable"),
            ({"sub": "ada", b"roles": 1}, 60, "keys must be str"),
            ({"sub": "ada", "roles": NESTED}, 60, "no token can have these claims"),
        ],
    )
    def test_rejects_a_payload_that_would_not_verify(
        self, claims: dict[Any, Any], lifetime_s: float, problem: str
    ) -> None:
        tokens = Tokens(SECRET, required=("exp", "sub"))
        assert tokens.sign({"sub": "ada"}, lifetime_s=60, now=NOW)
        with pytest.raises(ValueError, match=problem):
            tokens.sign(claims, lifetime_s=lifetime_s, now=NOW)

    @pytest.mark.parametrize("claim", ["audience", "issuer"])
    def test_refuses_an_empty_name_of_the_service(self, claim: str) -> None:
        tokens: Tokens = Tokens(SECRET, **{claim: ""})  # type: ignore[arg-type]
        if claim == "issuer":
            assert tokens.read(tokens.sign({}, lifetime_s=60, now=NOW), now=NOW)
            return
        with pytest.raises(ValueError, match='missing the "aud" claim'):
            tokens.sign({}, lifetime_s=60, now=NOW)

    def test_token_is_valid_from_its_nbf_on(self) -> None:
        token = HS.sign({"nbf": seconds(30)}, lifetime_s=60, now=NOW)
        valid = [after for after in (0, 29, 30, 59, 60)
                 if HS.read(token, now=NOW + timedelta(seconds=after))]  # fmt: skip
        assert valid == [30, 59]

    def test_requires_a_private_key(self) -> None:
        with pytest.raises(SettingsError, match="private key"):
            RS.sign({}, lifetime_s=60, now=NOW)


class TestRotation:
    def test_each_key_verifies_and_the_first_signs(self) -> None:
        both = Tokens([SECRET, OLDER])
        older = Tokens(OLDER).sign({}, lifetime_s=60, now=NOW)
        newer = both.sign({}, lifetime_s=60, now=NOW)
        assert both.read(older, now=NOW)
        assert both.read(newer, now=NOW)
        assert HS.read(newer, now=NOW)
        assert HS.read(older, now=NOW) is None

    def test_public_key_of_an_older_pair_verifies(self) -> None:
        new = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        both = Tokens([private_pem(new), public_pem(RSA_KEY)], algorithms="RS256")
        older = Tokens(private_pem(RSA_KEY), algorithms="RS256")
        assert both.read(older.sign({}, lifetime_s=60, now=NOW), now=NOW)
        assert older.read(both.sign({}, lifetime_s=60, now=NOW), now=NOW) is None


class TestVerify:
    def test_raises_unauthenticated_with_a_challenge(self) -> None:
        assert HS.verify(forged(), now=NOW) == GOOD
        with pytest.raises(Unauthenticated) as raised:
            HS.verify(forged(secret=OLDER), now=NOW)
        assert raised.value.challenges == ('Bearer error="invalid_token"',)

    def test_uses_only_the_given_time(self) -> None:
        past = datetime(1999, 1, 1, tzinfo=UTC)
        token = HS.sign({}, lifetime_s=60, now=past)
        assert HS.read(token, now=past)
        assert HS.read(token, now=NOW) is None

    @pytest.mark.parametrize(
        ("claims", "expected"),
        [
            ({"exp": seconds(-9.9)}, True),
            ({"exp": seconds(-10)}, False),
            ({"exp": seconds(60), "nbf": seconds(10)}, True),
            ({"exp": seconds(60), "nbf": seconds(10.1)}, False),
            ({"exp": seconds(60), "iat": seconds(900)}, True),
        ],
    )
    def test_leeway_is_applied(self, claims: dict[str, float], expected: bool) -> None:
        tokens = Tokens(SECRET, leeway_s=10)
        assert (tokens.read(forged(claims), now=NOW) is not None) is expected

    @pytest.mark.parametrize(
        "claims",
        [
            {"sub": "ada"},
            {"exp": None},
            *({"exp": seconds(offset)} for offset in (0, -1)),
            {"exp": str(seconds(60))},
            {"exp": True},
            {"exp": [seconds(60)]},
            {"exp": 10**400},
            {"exp": float("inf")},
            {"exp": float("nan")},
            *({**GOOD, "nbf": value} for value in (seconds(1), "0", [0], float("nan"), None)),
            *({**GOOD, "iat": value} for value in ("0", True, float("nan"), 10**400)),
            *({**GOOD, "aud": value} for value in ("shop", ["shop"], 7)),
            {**GOOD, "sub": 7},
        ],
        ids=str,
    )
    def test_invalid_claims_are_rejected(self, claims: dict[str, Any]) -> None:
        assert HS.read(forged(claims), now=NOW) is None

    def test_token_without_end_is_valid_if_none_is_required(self) -> None:
        tokens = Tokens(SECRET, required=())
        assert tokens.read(forged({"sub": "ada"}), now=NOW) == {"sub": "ada"}
        assert tokens.read(forged({"exp": seconds(0)}), now=NOW) is None

    @pytest.mark.parametrize(
        ("claims", "expected"),
        [
            ({"aud": "shop", "iss": "door"}, True),
            ({"aud": ["mail", "shop"], "iss": "door"}, True),
            ({"aud": "shop"}, False),
            ({"iss": "door"}, False),
            ({"aud": "mail", "iss": "door"}, False),
            ({"aud": [], "iss": "door"}, False),
            ({"aud": "shop", "iss": "window"}, False),
            ({"aud": "shop", "iss": ["door"]}, False),
            ({"aud": "shop", "iss": "doo"}, False),
        ],
        ids=str,
    )
    def test_checks_audience_and_issuer(self, claims: dict[str, Any], expected: bool) -> None:
        tokens = Tokens(SECRET, audience="shop", issuer="door")
        assert (tokens.read(forged({**GOOD, **claims}), now=NOW) is not None) is expected

    def test_required_claims_must_be_present(self) -> None:
        tokens = Tokens(SECRET, required=("exp", "jti"))
        assert tokens.read(forged({**GOOD, "jti": "1"}), now=NOW)
        assert tokens.read(forged(), now=NOW) is None
        assert tokens.read(forged({**GOOD, "jti": None}), now=NOW) is None


class TestAttack:
    def test_algorithm_of_the_token_is_not_used(self) -> None:
        confused = [forged(secret=public_pem(key)) for key in (RSA_KEY, EC_KEY)]
        unsigned = [f"{encode({'alg': name})}.{encode(GOOD)}." for name in ("none", "None", "NONE")]
        signature = forged().rpartition(".")[2]
        unsigned += [f"{encode({'alg': 'none'})}.{encode(GOOD)}.{signature}"]
        stronger = jwt.encode(GOOD, SECRET, algorithm="HS512")
        assert Tokens(SECRET, algorithms="HS512").read(stronger, now=NOW)
        odd = [forged(header={"alg": value}) for value in (None, "", 7, ["HS256"], "hs256", {})]
        for token in (*confused, *unsigned, stronger, *odd):
            for tokens in (HS, RS, ES, Tokens([SECRET, OLDER])):
                assert tokens.read(token, now=NOW) is None

    @pytest.mark.parametrize(
        "header",
        [
            {"kid": "../../../../dev/null"},
            {"kid": "' UNION SELECT 'secret' --"},
            {"kid": "http://127.0.0.1:1/key"},
            {"jku": "http://127.0.0.1:1/jwks.json"},
            {"x5u": "http://127.0.0.1:1/cert.pem"},
            {"jwk": {"kty": "oct", "k": encode(b"mine")}},
        ],
        ids=str,
    )
    def test_token_cannot_choose_its_key(self, header: dict[str, Any]) -> None:
        assert HS.read(forged(header=header), now=NOW) == GOOD
        for key in (b"", b"\0", b"mine", b"secret"):
            assert HS.read(forged(header=header, secret=key), now=NOW) is None

    def test_signature_is_of_head_and_claims(self) -> None:
        head, body, signature = forged().split(".")
        other = encode({**GOOD, "sub": "eve"})
        mine = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        for token in (
            f"{head}.{other}.{signature}",
            f"{encode({'alg': 'HS256'})}.{body}.{signature}",
            f"{head}.{body}.",
            f"{head}.{body}",
            f"{head}.{body}.{signature[:-2]}",
            forged(secret=OLDER),
            jwt.encode(GOOD, private_pem(mine), algorithm="RS256"),
        ):
            for tokens in (HS, RS):
                assert tokens.read(token, now=NOW) is None

    def test_shape_is_compact_serialization(self) -> None:
        good = forged()
        head, body, signature = good.split(".")
        for token in (
            f"{good}.{signature}", f"{good}.{good}", f".{good}", f"{good}.", "", "...", "..", ".",
            "a", "a.b.c", "Bearer " + good, json.dumps({"payload": body, "protected": head}),
            "ü.ü.ü", "\ud800", "\0", good.replace(".", ".\n"),
            forged(header={"crit": ["mine"]}), forged(header={"b64": False}),
            forged(header={"crit": ["b64"], "b64": False}),
        ):  # fmt: skip
            assert HS.read(token, now=NOW) is None, token

    @pytest.mark.parametrize("payload", [
        b"", b"null", b"[]", b'"ada"', b"7", b"{", b"\xff", b"[" * 4000, b'{"a":' * 1000,
        b'{"exp":' + b"9" * 5000 + b"}", forged().encode(),
    ])  # fmt: skip
    def test_signed_payload_that_is_not_an_object_is_rejected(self, payload: bytes) -> None:
        assert HS.read(forged(payload), now=NOW) is None

    def test_huge_token_is_rejected_before_it_is_decoded(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        base = len(forged({**GOOD, "pad": ""}))
        pad = (8192 - base) * 3 // 4
        fitting, huge = (forged({**GOOD, "pad": "x" * size}) for size in (pad - 4, pad + 8))
        assert len(fitting) <= 8192 < len(huge)
        assert HS.read(fitting, now=NOW)
        assert HS.read(huge, now=NOW) is None
        assert Tokens(SECRET, max_bytes=10_000).read(huge, now=NOW)
        monkeypatch.setattr(HS, "_decode", None)
        assert HS.read("x" * 10_000_000, now=NOW) is None


class TestKeys:
    @pytest.mark.parametrize(("keys", "algorithms", "problem"), [
        ("", "HS256", "a secret of at least 32 bytes, and it has 0"),
        (b"", "HS256", "a secret of at least 32 bytes, and it has 0"),
        ("x" * 31, "HS256", "a secret of at least 32 bytes, and it has 31"),
        ("x" * 47, "HS384", "a secret of at least 48 bytes, and it has 47"),
        ("x" * 63, "HS512", "a secret of at least 64 bytes, and it has 63"),
        ("x" * 63, ("HS256", "HS512"), "a secret of at least 64 bytes"),
        ((SECRET, ""), "HS256", "a secret of at least 32 bytes, and it has 0"),
        (public_pem(RSA_KEY), "HS256", "HS256 requires a shared secret"),
        (private_pem(EC_KEY), "HS256", "HS256 requires a shared secret"),
        ("ssh-ed25519 " + "A" * 60, "HS256", "HS256 requires a shared secret"),
        ('{"kty": "oct", "k": "' + "A" * 60 + '"}', "HS256", "HS256 requires a shared secret"),
        (public_pem(RSA_KEY), ("RS256", "HS256"), "HS256 requires a shared secret"),
        (SECRET, ("HS256", "RS256"), "RS256 requires a key in PEM"),
        ((private_pem(RSA_KEY), SECRET), "RS256", "RS256 requires a key in PEM"),
        ("-----BEGIN PRIVATE KEY-----\nAAAA", "RS256", "RS256 requires a key in PEM"),
        (public_pem(EC_KEY), "RS256", "RS256 requires an RSA key of at least 2048 bits"),
        (public_pem(RSA_KEY), "ES256", "ES256 requires a key of the curve secp256r1"),
        (public_pem(EC_KEY), "ES384", "ES384 requires a key of the curve secp384r1"),
        (public_pem(ed25519.Ed25519PrivateKey.generate()), "ES256", "secp256r1"),
        (
            public_pem(rsa.generate_private_key(public_exponent=65537, key_size=1024)),
            "RS256", "RS256 requires an RSA key of at least 2048 bits",
        ),
        (SECRET, "none", "Tokens are signed by one of HS256"),
        (SECRET, "", "Tokens are signed by one of HS256"),
        (SECRET, (), "require a key and an algorithm"),
        ((), "HS256", "require a key and an algorithm"),
    ])  # fmt: skip
    def test_unsuitable_key_is_rejected_without_quoting_it(
        self, keys: str | bytes | Sequence[str], algorithms: str | Sequence[str], problem: str
    ) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # cryptography about the short RSA key
            with pytest.raises(SettingsError, match=problem) as raised:
                Tokens(keys, algorithms=algorithms)
        for key in [keys] if isinstance(keys, str) else keys:
            assert not key or str(key) not in str(raised.value)

    def test_no_representation_shows_a_key(self) -> None:
        assert SECRET not in repr(HS)
