"""JSON Web Tokens (RFC 7519). Only the service decides on keys and algorithms.

A token cannot choose a key or an algorithm: `alg` must be one of the service's, each key fits each
of these algorithms, and `kid`, `jku`, `x5u` and `jwk` are ignored (RFC 8725).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from specd._settings import MissingExtra, SettingsError

SECRET_BYTES = {"HS256": 32, "HS384": 48, "HS512": 64}
"""The minimum length of a secret in bytes (RFC 7518, section 3.2)."""
CURVES = {"ES256": "secp256r1", "ES384": "secp384r1", "ES512": "secp521r1"}
RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
RSA_BITS = 2048
ALGORITHMS = (*SECRET_BYTES, *CURVES, *RSA)
_TIMES = ("exp", "nbf", "iat")
_UNCHECKED = dict.fromkeys(("verify_exp", "verify_nbf", "verify_iat"), False)
"""PyJWT compares times with the clock of the machine. `_check_times` uses the request's time."""
_MAX_TIME = 2**53
_UNREADABLE = (ValueError, TypeError, RecursionError)
"""The errors of decoders for texts that are not tokens, in addition to those of PyJWT."""


class InvalidToken(ValueError):
    """A claim of a token is not valid."""


class Tokens:
    """Signs and verifies JSON Web Tokens.

    `keys` is one key or several. The first signs and all verify, so a key can be replaced while
    tokens of the previous key are still valid. `algorithms` are one or more of HS256 to HS512,
    whose keys are secrets, and RS256 to RS512, PS256 to PS512 and ES256 to ES512, whose keys are
    PEM: a private key, or a public key, which only verifies. The first algorithm signs. Each key
    must fit each algorithm.

    A token must have the `audience` and the `issuer`, if they are given, and the claims in
    `required`. A token without `exp` never expires. The clocks of issuer and service may differ by
    `leeway_s` seconds. A token longer than `max_bytes` is not valid.
    """

    def __init__(
        self,
        keys: str | bytes | Sequence[str | bytes],
        *,
        algorithms: str | Sequence[str] = "HS256",
        audience: str | None = None,
        issuer: str | None = None,
        required: Collection[str] = ("exp",),
        leeway_s: float = 0,
        max_bytes: int = 8192,
    ) -> None:
        """Raise `SettingsError` for a key that does not fit, such as a secret that is too short,
        and `MissingExtra` without the extra `auth`.
        """
        try:
            import jwt
        except ImportError as error:
            raise MissingExtra("Signing tokens", "auth") from error
        self._jwt = jwt
        self._algorithms = [algorithms] if isinstance(algorithms, str) else [*algorithms]
        keys = [keys] if isinstance(keys, str | bytes) else [*keys]
        if not self._algorithms or not keys:
            raise SettingsError("Tokens require a key and an algorithm.")
        for algorithm in self._algorithms:
            pairs = [_check_key(key, algorithm) for key in keys]
        self._signing_key = pairs[0][0]
        self._keys = [public for _, public in pairs]
        self._audience, self._issuer, self._required = audience, issuer, [*required]
        self._leeway_s, self._max_bytes = leeway_s, max_bytes

    def sign(self, claims: Mapping[str, Any], *, lifetime_s: float, now: datetime) -> str:
        """Return a token with the claims, which expires `lifetime_s` seconds after `now`. `iat`,
        `exp`, and the audience and issuer of the service are added. `sub` must be text.

        Raise `SettingsError` without a private key, and `ValueError` for claims that `verify` would
        not accept. A token with `nbf` is accepted from that time on.
        """
        if self._signing_key is None:
            raise SettingsError("Signing tokens requires a private key.")
        if not 0 < lifetime_s < _MAX_TIME:
            raise ValueError("the lifetime of a token must be a positive number of seconds")
        at = int(now.timestamp())
        its = {"iss": self._issuer, "aud": self._audience}
        own = {name: value for name, value in its.items() if value is not None}
        whole = {**claims, **own, "iat": at, "exp": math.ceil(at + lifetime_s)}
        try:
            token = self._jwt.encode(whole, self._signing_key, algorithm=self._algorithms[0])
            if len(token) > self._max_bytes:
                raise InvalidToken(f"the token is longer than {self._max_bytes} bytes")
            read = self._decode(token)
            self._check_times(read, max(now.timestamp(), _check_time("nbf", read.get("nbf", at))))
        except (self._jwt.PyJWTError, *_UNREADABLE) as error:
            raise ValueError(f"no token can have these claims: {error}") from error
        return token

    def verify(self, token: str, *, now: datetime) -> dict[str, Any]:
        """Return the claims of a token. Raise `Unauthenticated` if it is not valid at `now`, which
        is `ctx.now` in a handler.
        """
        claims = self.read(token, now=now)
        if claims is None:
            from specd._engine.errors import Unauthenticated

            raise Unauthenticated(('Bearer error="invalid_token"',))
        return claims

    def read(self, token: str, *, now: datetime) -> dict[str, Any] | None:
        """Return the claims of a token, or None if it is not valid at `now`."""
        if len(token) > self._max_bytes:
            return None
        try:
            claims = self._decode(token)
            self._check_times(claims, now.timestamp())
        # Tokens are untrusted text: if the decoder raises any of these, the token is not valid.
        except (self._jwt.PyJWTError, *_UNREADABLE):
            return None
        return claims

    def _decode(self, token: str) -> dict[str, Any]:
        """Return the claims. Raise `InvalidToken` if none of the keys signed them."""
        options: Any = {**_UNCHECKED, "require": self._required}
        for key in self._keys:
            try:
                return self._jwt.decode(
                    token,
                    key,
                    algorithms=self._algorithms,
                    audience=self._audience,
                    issuer=self._issuer,
                    options=options,
                )
            except self._jwt.InvalidSignatureError:
                continue
        raise InvalidToken("no key of the service has signed it")

    def _check_times(self, claims: Mapping[str, Any], now: float) -> None:
        """Require that `exp` is in the future and `nbf` in the past (RFC 7519, section 4.1)."""
        times = {name: _check_time(name, claims[name]) for name in _TIMES if name in claims}
        if times.get("exp", math.inf) <= now - self._leeway_s:
            raise InvalidToken("it has expired")
        if times.get("nbf", -math.inf) > now + self._leeway_s:
            raise InvalidToken("it is not valid yet")


def _check_time(name: str, value: object) -> float:
    """Return the NumericDate of a claim. Raise `InvalidToken` for any other value, including NaN
    and infinity.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidToken(f"{name} is not a number")
    if not -_MAX_TIME < value < _MAX_TIME:
        raise InvalidToken(f"{name} is out of range")
    return value


def _check_key(key: str | bytes, algorithm: str) -> tuple[Any, Any]:
    """Return the key that signs, or None, and the key that verifies. Raise `SettingsError` for a
    key that does not fit. Its message never quotes the key.
    """
    content = key.encode() if isinstance(key, str) else key
    if algorithm in SECRET_BYTES:
        return (_check_secret(content, algorithm),) * 2
    if algorithm not in ALGORITHMS:
        raise SettingsError(f"Tokens are signed by one of {', '.join(ALGORITHMS)}.")
    return _check_pem(content, algorithm)


def _check_secret(secret: bytes, algorithm: str) -> bytes:
    """Return the secret. Reject a public key, because anyone could sign with it."""
    from jwt import InvalidKeyError
    from jwt.algorithms import HMACAlgorithm

    least = SECRET_BYTES[algorithm]
    try:
        if b"-----BEGIN" in secret:
            raise InvalidKeyError
        if secret:
            HMACAlgorithm(HMACAlgorithm.SHA256).prepare_key(secret)
    except InvalidKeyError:
        problem = f"{algorithm} requires a shared secret, and the key is of another kind."
        raise SettingsError(problem) from None
    if len(secret) < least:
        raise SettingsError(
            f"{algorithm} requires a secret of at least {least} bytes, and it has {len(secret)}."
        )
    return secret


def _check_pem(key: bytes, algorithm: str) -> tuple[Any, Any]:
    """Return the private key, or None, and the public key."""
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
        from cryptography.hazmat.primitives.serialization import (
            load_pem_private_key,
            load_pem_public_key,
        )
    except ImportError as error:
        raise MissingExtra(algorithm, "auth") from error
    private: Any = None
    public: Any
    try:
        if b"PRIVATE KEY-----" in key:
            private = load_pem_private_key(key, password=None)
            public = private.public_key()
        else:
            public = load_pem_public_key(key)
    except (ValueError, TypeError, AttributeError, UnsupportedAlgorithm):
        problem = f"{algorithm} requires a key in PEM, and the key is of another kind."
        raise SettingsError(problem) from None
    fits = (
        isinstance(public, EllipticCurvePublicKey) and public.curve.name == CURVES[algorithm]
        if algorithm in CURVES
        else isinstance(public, RSAPublicKey) and public.key_size >= RSA_BITS
    )
    if not fits:
        wanted = (
            f"a key of the curve {CURVES[algorithm]}"
            if algorithm in CURVES
            else f"an RSA key of at least {RSA_BITS} bits"
        )
        raise SettingsError(f"{algorithm} requires {wanted}, and the key is of another kind.")
    return private, public
