"""Whom a request counts for that has no credentials in its header: the owner of the key, token,
link or cookie that it brings.

A right one must not share the allowance of an address with wrong ones, because many users, or a
product that is hosted elsewhere, have one address. Each is a random text or signed, so finding out
takes one look into an index. A password is not: it counts for its address until it is verified.
Where the name's owner has signed in before, it counts for that name and address.
"""

import hmac
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Protocol, cast

from handlers.chat.wire.auth import host_of
from handlers.chat.wire.context import Context
from handlers.chat.wire.cookies import SESSION, find_cookie
from models.chat import calls
from models.chat.errors import ChatError
from models.chat.identity import actors, attempts, browser_sessions, jwt_sign_in, sign_in
from models.chat.identity.actors import Actor, access_realm
from models.chat.identity.attempts import SignInAttempt
from models.chat.identity.links import find_link
from models.chat.invitations import joining
from models.chat.people.emails import as_stored
from models.chat.settings import email_changes
from specd import network_of_client, parse_pairs
from specd.errors import InvalidRequest

Bearer = Actor | tuple[str, object]
"""A user, or the limit and the client to count."""


class _Body(Protocol):
    def decode(
        self, raw: bytes, headers: Mapping[bytes, bytes], query: Mapping[str, list[str]]
    ) -> tuple[Mapping[str, str], object]: ...


class _WithBody(Protocol):
    """An operation of the document with a body."""

    @property
    def body(self) -> _Body: ...


def attempt_of(ctx: Context, realm_id: int, name: str) -> SignInAttempt:
    """Return the attempt to sign in that the client makes under a name."""
    return SignInAttempt(
        realm_id, name, network_of_client(ctx.client), network_of_client(ctx.client, 24, 48)
    )


def find_bearer(ctx: Context) -> Bearer | None:
    """Return whom a request counts for that brings a right key, token, link or cookie, or None."""
    find = _FINDERS.get(ctx.operation.operation_id)
    if find is not None:
        with suppress(ChatError, InvalidRequest):
            return find(ctx)
    return None


def _sender(ctx: Context) -> Bearer | None:
    return actors.authenticate_webhook(
        ctx.connection, host=host_of(ctx), api_key=_queried(ctx, "api_key")
    )


def _owner_of_email(ctx: Context) -> Bearer | None:
    realm = access_realm(ctx.connection, host_of(ctx))
    change = email_changes.access_change(ctx.connection, realm, _token(ctx), now=ctx.now)
    return "user", change.user_id


def _invitation(ctx: Context) -> Bearer | None:
    """Not the inviter, whose allowance a published link would use up."""
    realm = access_realm(ctx.connection, host_of(ctx))
    return "invitation", joining.access_offer(ctx.connection, realm, _token(ctx), now=ctx.now).id


def _owner_of_link(ctx: Context) -> Bearer | None:
    realm = access_realm(ctx.connection, host_of(ctx))
    found = find_link(
        ctx.connection, ctx.adapters.vault, _queried(ctx, "link"),
        purpose=calls.LINK, realm_id=realm.id, now=ctx.now,
    )  # fmt: skip
    return None if found is None else found[1]


def _owner_of_state(ctx: Context) -> Bearer | None:
    user_id = calls.user_of_state(ctx.adapters.vault, _queried(ctx, "state"))
    return None if user_id is None else ("user", user_id)


def _vendor(ctx: Context) -> Bearer | None:
    shared = ctx.settings.video_vendor_notice_token
    sent = (ctx.header("authorization") or "").encode("latin-1")
    is_right = shared and hmac.compare_digest(sent, shared.encode("utf-8"))
    return ("notices", "vendor") if is_right else None


def _owner_of_cookie(ctx: Context) -> Bearer | None:
    token = find_cookie(ctx, SESSION)
    if token is None:
        return None
    realm = access_realm(ctx.connection, host_of(ctx))
    user_id = browser_sessions.find_user_id(ctx.connection, token, realm_id=realm.id, now=ctx.now)
    return None if user_id is None else ("user", user_id)


def _known_place(ctx: Context) -> Bearer | None:
    """Not the owner, whose allowance wrong passwords would use up."""
    realm = access_realm(ctx.connection, host_of(ctx))
    attempt = attempt_of(ctx, realm.id, as_stored(_form(ctx)["username"]))
    key = attempts.find_known_place(ctx.connection, ctx.adapters.keys.seal, attempt)
    return None if key is None else ("known place", key)


def _owner_of_jwt(ctx: Context) -> Bearer | None:
    values = _form(ctx)
    realm = access_realm(ctx.connection, host_of(ctx))
    rules = jwt_sign_in.access_rules(ctx.connection, ctx.adapters.vault, realm.id)
    email = as_stored(jwt_sign_in.read_email(values["token"], rules, now=ctx.now))
    account = sign_in.find_account(ctx.connection, realm, email)
    return None if account is None else ("user", account.id)


_FINDERS: Mapping[str, Callable[[Context], Bearer | None]] = {
    "receive_json": _sender,
    "receive_webhook": _sender,
    "get_email_confirmation": _owner_of_email,
    "confirm_new_email": _owner_of_email,
    "get_invitation": _invitation,
    "accept_invitation": _invitation,
    "begin_vendor_authorization": _owner_of_link,
    "complete_vendor_authorization": _owner_of_state,
    "receive_vendor_notice": _vendor,
    "session_fetch_api_key": _owner_of_cookie,
    "jwt_fetch_api_key": _owner_of_jwt,
    "fetch_api_key": _known_place,
}


def _form(ctx: Context) -> Mapping[str, str]:
    values, _ = cast("_WithBody", ctx.operation).body.decode(ctx.content, ctx.headers, {})
    return values


def _queried(ctx: Context, name: str) -> str:
    return parse_pairs(ctx.query, "query").get(name, [""])[-1]


def _token(ctx: Context) -> str:
    return ctx.texts["token"][-1]
