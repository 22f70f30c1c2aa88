"""Sign-in with JSON Web Tokens: an organization's configuration, and the check of a token.

The key and the algorithms come only from the organization's configuration; a token cannot choose
them. A token expires at its `exp`, and at the maximum age after its `iat` unless the organization
sets that age to 0.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from models.chat.common import audit
from models.chat.common.vault import Vault
from models.chat.identity.errors import (
    BadJwt,
    InvalidJwtConfiguration,
    JwtMissing,
    JwtNotEnabled,
    JwtWithoutEmail,
)
from models.chat.tables import JwtConfiguration
from models.json import Json
from specd.auth import Tokens
from specd.db import Db
from specd.errors import SettingsError

SETTINGS = frozenset(("jwt_key", "jwt_algorithms", "jwt_audience", "jwt_max_age"))
"""Settings of `specd chat set-realm` that are no parameters of PATCH /realm."""

ALGORITHMS = (
    *("HS256", "HS384", "HS512", "ES256", "ES384", "ES512"),
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
)
AUDIENCE_MAX = 255
KEY_MAX = 20_000
MAX_AGE_S = 86_400
"""The age at which a token expires unless the organization sets another."""
MAX_AGE_LONGEST_S = 366 * 86_400
CLOCKS_DIFFER_S = 60
"""An issuer's clock may be this much ahead of the server's."""

_FIND = select(
    JwtConfiguration.sealed_key,
    JwtConfiguration.algorithms,
    JwtConfiguration.audience,
    JwtConfiguration.max_age_s,
).where(JwtConfiguration.realm_id == bindparam("realm_id"))


@dataclass(frozen=True, slots=True, repr=False)
class TokenRules:
    """The rules for an organization's tokens. No repr shows them, because one is the key."""

    key: str
    algorithms: tuple[str, ...]
    audience: str | None
    max_age_s: int = MAX_AGE_S


def access_rules(db: Db, vault: Vault, realm_id: int) -> TokenRules:
    """Return the organization's rules. Raise `JwtNotEnabled`."""
    row = db.execute(_FIND, {"realm_id": realm_id}).first()
    key = None if row is None else vault.open(row.sealed_key, purpose=purpose_of(realm_id))
    if row is None or key is None:
        raise JwtNotEnabled()
    max_age_s = MAX_AGE_S if row.max_age_s is None else row.max_age_s
    return TokenRules(key, tuple(row.algorithms.split(",")), row.audience, max_age_s)


def read_email(token: str, rules: TokenRules, *, now: datetime) -> str:
    """Return the `email` claim of a valid token, unchanged.

    Raise `JwtMissing`, `BadJwt`, `JwtWithoutEmail`.
    """
    if not token:
        raise JwtMissing()
    tokens = _open_tokens(rules.key, rules.algorithms, rules.audience)
    claims = tokens.read(token, now=now)
    if claims is None:
        raise BadJwt()
    _check_age(claims, now.timestamp(), rules.max_age_s)
    email = claims.get("email")
    if not isinstance(email, str):
        raise JwtWithoutEmail()
    return email


def _open_tokens(key: str, algorithms: tuple[str, ...], audience: str | None = None) -> Tokens:
    return Tokens(key, algorithms=algorithms, audience=audience, required=())


def _check_age(claims: Mapping[str, Any], now: float, max_age_s: int) -> None:
    """Unless `max_age_s` is 0, require that `iat` is no older than that, or without `iat` that
    `exp` is no farther ahead. Raise `BadJwt`.
    """
    if max_age_s == 0:
        return
    if "iat" in claims:
        has_ended = not now - max_age_s < claims["iat"] <= now + CLOCKS_DIFFER_S
    else:
        has_ended = claims.get("exp", math.inf) > now + max_age_s
    if has_ended:
        raise BadJwt()


# --- the operator's side ----------------------------------------------------------------------


def change_configuration(
    session: Session, vault: Vault, realm_id: int, changes: Mapping[str, Any], *, now: datetime
) -> None:
    """Set some of `SETTINGS`, all or none. An empty or null `jwt_key` disables this sign-in.

    Raise `InvalidJwtConfiguration`.
    """
    row = session.get(JwtConfiguration, realm_id, with_for_update=True)
    if "jwt_key" in changes and not changes["jwt_key"]:
        if row is not None:
            session.delete(row)
            audit.record(session, realm_id, "jwt_sign_in_ended", now=now)
        return
    stored = None if row is None else vault.open(row.sealed_key, purpose=purpose_of(realm_id))
    key = changes.get("jwt_key", stored)
    algorithms = _algorithms(changes.get("jwt_algorithms", row.algorithms if row else None))
    audience = changes.get("jwt_audience", row.audience if row else None) or None
    if not isinstance(key, str) or not key:
        raise InvalidJwtConfiguration(problem="jwt_key is missing")
    check_key(key, algorithms)
    if audience is not None and (not isinstance(audience, str) or len(audience) > AUDIENCE_MAX):
        raise InvalidJwtConfiguration(problem="jwt_audience is not a text of 255 characters")
    if row is None and "jwt_audience" not in changes:
        problem = "jwt_audience is missing; it may be empty, for tokens that name no audience"
        raise InvalidJwtConfiguration(problem=problem)
    if row is None:
        row = JwtConfiguration(realm_id=realm_id)
        session.add(row)
    row.sealed_key = vault.seal(key, purpose=purpose_of(realm_id))
    row.algorithms = ",".join(algorithms)
    row.audience = audience
    if "jwt_max_age" in changes:
        row.max_age_s = _max_age(changes["jwt_max_age"])
    facts = {
        "algorithms": list(algorithms),
        "audience": audience,
        "new_key": "jwt_key" in changes,
        "max_age_s": row.max_age_s,
    }
    audit.record(session, realm_id, "jwt_sign_in_changed", facts=facts, now=now)


def _max_age(value: object) -> int | None:
    """Return a number of seconds; None, the default, for an empty text."""
    if value in ("", None):
        return None
    text = str(value)
    if not (text.isascii() and text.isdigit() and int(text[:12]) <= MAX_AGE_LONGEST_S):
        problem = f"jwt_max_age is no number of seconds up to {MAX_AGE_LONGEST_S}"
        raise InvalidJwtConfiguration(problem=problem)
    return int(text)


def check_key(key: str, algorithms: tuple[str, ...]) -> None:
    """Raise `InvalidJwtConfiguration` unless every algorithm may be used with the key."""
    if len(key) > KEY_MAX:
        raise InvalidJwtConfiguration(problem="jwt_key is too long")
    if "PRIVATE KEY-----" in key:
        raise InvalidJwtConfiguration(problem="jwt_key is a private key; send the public key")
    try:
        _open_tokens(key, algorithms)
    except SettingsError as error:
        problem = f"jwt_key does not fit: {str(error).rstrip('.')}"
        raise InvalidJwtConfiguration(problem=problem) from None


def _algorithms(value: Json) -> tuple[str, ...]:
    """Return the known algorithms of a list or comma-separated text, without duplicates."""
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list) or not names:
        raise InvalidJwtConfiguration(problem="jwt_algorithms is missing")
    if any(name not in ALGORITHMS for name in names):
        problem = f"jwt_algorithms are some of {', '.join(ALGORITHMS)}"
        raise InvalidJwtConfiguration(problem=problem)
    return tuple(dict.fromkeys(names))


def purpose_of(realm_id: int) -> str:
    return f"jwt_key:{realm_id}"
