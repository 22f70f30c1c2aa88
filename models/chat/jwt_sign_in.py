"""Tokens people sign in with: what an organization accepts, and what a token says.

Key and algorithms come from the organization's configuration alone. Nothing in a token chooses
either: `alg` must be one of those configured, and `kid`, `jku`, `x5u`, `jwk` are not looked at.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from models.chat import audit
from models.chat.actors import Reader
from models.chat.errors.tokens import (
    BadJwt,
    InvalidJwtConfiguration,
    JwtMissing,
    JwtNotEnabled,
    JwtWithoutEmail,
)
from models.chat.tables import JwtConfiguration
from models.chat.vault import Vault

SETTINGS = frozenset(("jwt_key", "jwt_algorithms", "jwt_audience"))
"""What `specd chat set-realm` takes; PATCH /realm does not know them."""

SECRET_BYTES = {"HS256": 32, "HS384": 48, "HS512": 64}  # RFC 7518, section 3.2
CURVES = {"ES256": "secp256r1", "ES384": "secp384r1", "ES512": "secp521r1"}
RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
ALGORITHMS = (*SECRET_BYTES, *CURVES, *RSA)
RSA_BITS = 2048
AUDIENCE_MAX = 255
KEY_MAX = 20_000

_FIND: Any = select(
    JwtConfiguration.sealed_key, JwtConfiguration.algorithms, JwtConfiguration.audience
).where(JwtConfiguration.realm_id == bindparam("realm_id"))
_CHECKS = {"verify_exp": False, "verify_nbf": False, "verify_iat": False}


@dataclass(frozen=True, slots=True, repr=False)
class TokenRules:
    """What an organization's tokens are checked with. Its repr says nothing: it holds the key."""

    key: str
    algorithms: tuple[str, ...]
    audience: str | None


def access_rules(reader: Reader, vault: Vault, realm_id: int) -> TokenRules:
    """The organization's rules. Raises `JwtNotEnabled`."""
    row = reader.execute(_FIND, {"realm_id": realm_id}).first()
    key = None if row is None else vault.open(row.sealed_key, purpose=_purpose(realm_id))
    if row is None or key is None:
        raise JwtNotEnabled()
    return TokenRules(key, tuple(row.algorithms.split(",")), row.audience)


def read_email(token: str, rules: TokenRules, *, now: datetime) -> str:
    """The `email` claim of a good token, as it is.

    Raises `JwtMissing`, `BadJwt`, `JwtWithoutEmail`.
    """
    if not token:
        raise JwtMissing()
    try:
        claims = jwt.decode(
            token,
            rules.key,
            algorithms=list(rules.algorithms),
            audience=rules.audience,
            # PyJWT compares times with the machine's clock; below they meet the request's.
            options=_CHECKS,  # type: ignore[arg-type]
        )
    # A token is text of a stranger's: whatever a decoder stumbles over, it is a bad token.
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
        raise BadJwt() from None
    _check_times(claims, now.timestamp())
    email = claims.get("email")
    if not isinstance(email, str):
        raise JwtWithoutEmail()
    return email


def _check_times(claims: Mapping[str, Any], now: float) -> None:
    """`exp` must be to come, `nbf` must have come; both are enforced whenever they are there."""
    expires, begins = claims.get("exp", math.inf), claims.get("nbf", 0)
    for name, value in (("exp", expires), ("nbf", begins)):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise BadJwt()
        if name in claims and not -(2**53) < value < 2**53:  # also NaN and infinity
            raise BadJwt()
    if expires <= now or begins > now:
        raise BadJwt()


# --- the operator's side ----------------------------------------------------------------------


def change_configuration(
    session: Session, vault: Vault, realm_id: int, changes: Mapping[str, Any], *, now: datetime
) -> None:
    """Set some of `SETTINGS`, all or none. An empty or null `jwt_key` ends such sign-in.

    Raises `InvalidJwtConfiguration`.
    """
    row = session.get(JwtConfiguration, realm_id, with_for_update=True)
    if "jwt_key" in changes and not changes["jwt_key"]:
        if row is not None:
            session.delete(row)
            audit.record(session, realm_id, "jwt_sign_in_ended", now=now)
        return
    known = None if row is None else vault.open(row.sealed_key, purpose=_purpose(realm_id))
    key = changes.get("jwt_key", known)
    algorithms = _algorithms(changes.get("jwt_algorithms", row.algorithms if row else None))
    audience = changes.get("jwt_audience", row.audience if row else None) or None
    if not isinstance(key, str) or not key:
        raise InvalidJwtConfiguration(problem="jwt_key is missing")
    check_key(key, algorithms)
    if audience is not None and (not isinstance(audience, str) or len(audience) > AUDIENCE_MAX):
        raise InvalidJwtConfiguration(problem="jwt_audience is not a text of 255 characters")
    if row is None:
        row = JwtConfiguration(realm_id=realm_id)
        session.add(row)
    row.sealed_key = vault.seal(key, purpose=_purpose(realm_id))
    row.algorithms = ",".join(algorithms)
    row.audience = audience
    row.changed_at = now
    facts = {"algorithms": list(algorithms), "audience": audience, "new_key": "jwt_key" in changes}
    audit.record(session, realm_id, "jwt_sign_in_changed", facts=facts, now=now)


def check_key(key: str, algorithms: tuple[str, ...]) -> None:
    """Raise `InvalidJwtConfiguration` unless every algorithm may be used with the key.

    A public key is no secret: under an HS algorithm anybody could sign with it.
    """
    if len(key) > KEY_MAX:
        raise InvalidJwtConfiguration(problem="jwt_key is too long")
    is_pem = "-----BEGIN" in key
    for algorithm in algorithms:
        if algorithm in SECRET_BYTES:
            if is_pem or key.startswith("ssh-"):
                raise InvalidJwtConfiguration(
                    problem=f"{algorithm} takes a shared secret, and jwt_key is a public key"
                )
            if len(key.encode("utf-8")) < SECRET_BYTES[algorithm]:
                raise InvalidJwtConfiguration(
                    problem=f"{algorithm} needs a jwt_key of {SECRET_BYTES[algorithm]} bytes"
                )
        else:
            _check_public_key(key, algorithm)


def _check_public_key(key: str, algorithm: str) -> None:
    try:
        public = load_pem_public_key(key.encode("utf-8"))
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise InvalidJwtConfiguration(
            problem=f"{algorithm} takes a public key in PEM, which jwt_key is not"
        ) from None
    fits = (
        isinstance(public, EllipticCurvePublicKey) and public.curve.name == CURVES[algorithm]
        if algorithm in CURVES
        else isinstance(public, RSAPublicKey) and public.key_size >= RSA_BITS
    )
    if not fits:
        wanted = CURVES.get(algorithm, f"an RSA key of {RSA_BITS} bits")
        raise InvalidJwtConfiguration(problem=f"{algorithm} needs {wanted}, which jwt_key is not")


def _algorithms(value: Any) -> tuple[str, ...]:
    """A list, or comma-separated text, of algorithms we know; none twice."""
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list) or not names:
        raise InvalidJwtConfiguration(problem="jwt_algorithms is missing")
    for name in names:
        if name not in ALGORITHMS:
            known = ", ".join(ALGORITHMS)
            raise InvalidJwtConfiguration(problem=f"jwt_algorithms are some of {known}")
    return tuple(dict.fromkeys(names))


def _purpose(realm_id: int) -> str:
    return f"jwt_key:{realm_id}"
