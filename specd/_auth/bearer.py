"""A security function for JSON Web Tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import isawaitable, iscoroutinefunction
from typing import Any

from specd._auth.tokens import Tokens

Load = Callable[[Any, Mapping[str, Any]], Any]
"""Returns the actor for the context of a request and the claims of its token."""


class Bearer:
    """The security function of a scheme with JSON Web Tokens, for a service's `auth.py`:
    `check_token = Bearer(lambda settings: Tokens(settings.token_secret))`.

    `open_tokens(settings)` returns the `Tokens`. It is called once at the start, so a service whose
    secret is missing or too short does not start. `ctx.actor` is the claims, or the result of
    `load(ctx, claims)`, such as the row of the user. If `load` returns None, the token is refused.
    The log has the claim `sub` as the caller.
    """

    def __init__(self, open_tokens: Callable[[Any], Tokens], load: Load | None = None) -> None:
        """Raise `TypeError` if `load` is an `async def` function."""
        if iscoroutinefunction(load):
            raise TypeError("load must be a plain function, because nothing awaits its result")
        self._open_tokens = open_tokens
        self._load = load
        self._opened: tuple[object, Tokens] | None = None

    def tokens(self, settings: Any) -> Tokens:
        """Return the `Tokens` of the service with these settings. A handler signs with them:
        `check_token.tokens(ctx.settings).sign(...)`. Raise `SettingsError`.
        """
        opened = self._opened
        if opened is None or opened[0] is not settings:
            self._opened = opened = (settings, self._open_tokens(settings))
        return opened[1]

    def __specd_start__(self, settings: Any) -> None:
        self.tokens(settings)

    def __call__(self, token: str, *, request: Any) -> Any:
        claims = self.tokens(request.settings).read(token, now=request.now)
        if claims is None:
            return None
        request.actor_id = claims.get("sub")
        if self._load is None:
            return claims
        actor = self._load(request, claims)
        if isawaitable(actor):
            raise TypeError("load returned an awaitable, which nothing awaits")
        return actor
