"""Operations of the tag invitations: members send and revoke them, their recipients accept."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from html import escape
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy.orm import Session

from handlers.chat.wire import envelope
from handlers.chat.wire.addresses import realm_url
from handlers.chat.wire.auth import host_of
from handlers.chat.wire.context import Context
from handlers.chat.wire.limits import write_attempt
from handlers.chat.wire.pools import run_hashing
from models.chat.access.membership import require_role
from models.chat.common.errors import MissingParameter
from models.chat.common.quotas import INVITATIONS, require_within
from models.chat.errors import ChatError
from models.chat.identity import passwords
from models.chat.identity.actors import RealmView, access_realm
from models.chat.identity.roles import Role
from models.chat.invitations import joining, permissions, records, sending
from models.chat.invitations.errors import InvitationNotFound, SomeNotInvited
from models.chat.invitations.invitees import Problem, check_invitees, failure_of, read_addresses
from models.chat.invitations.joining import Offer
from models.chat.invitations.records import NewTerms, Terms
from models.chat.invitations.sending import Post
from specd import Response

if TYPE_CHECKING:
    from handlers.chat import types

PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Invitation</title>'
    "<h1>Join {realm}</h1>{content}</html>\n"
)
ACCOUNT = (
    "<p>{name} has invited {email}.</p>{problem}<form method=post>"
    "<p><label>Your name <input name=full_name autocomplete=name required></label>"
    "<p><label>New password <input name=password type=password autocomplete=new-password required>"
    "</label><p><button>Create your account</button></form>"
)
ADDRESS = (
    "<p>{name} invites you.</p>{problem}<form method=post>"
    "<p><label>Your email address <input name=email type=email autocomplete=email required></label>"
    "<p><button>Send me an invitation</button></form>"
)
JOINED = "<p>Your account is ready. Sign in as {email}.</p>"
ASKED = "<p>An invitation is on its way to {email}. You can close this window.</p>"


def _post(ctx: Context) -> Post:
    seal = ctx.adapters.keys.seal if ctx.settings.rate_limits else None
    return Post(vault=ctx.adapters.vault, base_url=f"{realm_url(ctx)}/api/v1", seal=seal)


def list_invitations(ctx: Context) -> envelope.Answer[types.InvitationList]:
    """List the invitations that you can revoke."""
    require_role(ctx.actor, "human")
    post = _post(ctx)
    invitations = records.find_invitations(
        ctx.connection, post.vault, ctx.actor, base_url=post.base_url, now=ctx.now
    )
    return envelope.success(
        ctx, {**envelope.OK, "invites": cast("list[types.Invitation]", invitations)}
    )


def _terms(
    ctx: Context,
    session: Session,
    *,
    by_link: bool,
    tells_inviter: bool,
    invite_as: int = Role.MEMBER,
    stream_ids: Sequence[int] = (),
    group_ids: Sequence[int] = (),
    invite_expires_in_minutes: int | None,
    include_realm_default_subscriptions: bool,
) -> Terms:
    permissions.require_may_invite(session, ctx.actor, invite_as, by_link=by_link)
    minutes = invite_expires_in_minutes
    return Terms(
        role=invite_as,
        channel_ids=permissions.check_channels(session, ctx.actor, stream_ids),
        group_ids=permissions.check_groups(session, ctx.actor, group_ids),
        joins_default_channels=include_realm_default_subscriptions,
        tells_inviter=tells_inviter,
        lifetime=None if minutes is None else timedelta(minutes=minutes),
    )


async def send_invitations(
    ctx: Context,
    *,
    invitee_emails: str,
    notify_referrer_on_join: bool,
    **offered: Any,
) -> envelope.Answer[types.Success]:
    """Invite people by email.

    `offered`: the parameters of `_terms` that were sent.
    """
    addresses = await ctx.read(lambda _db: read_addresses(invitee_emails))  # for up to 55 ms

    def send(session: Session) -> list[Problem]:
        terms = _terms(
            ctx, session, by_link=False, tells_inviter=notify_referrer_on_join, **offered
        )
        invitees = check_invitees(session, ctx.actor, addresses)
        sending.send_invitations(session, ctx.actor, _post(ctx), invitees, terms, now=ctx.now)
        require_within(session, ctx.settings, INVITATIONS, ctx.actor.id)
        return invitees.skipped

    skipped = await ctx.write(send)
    if skipped:  # the others are invited, and stay so
        raise SomeNotInvited(**failure_of(skipped, sent=True))
    return envelope.success(ctx)


def create_invitation_link(ctx: Context, **offered: Any) -> envelope.Answer[types.InvitationLink]:
    """Create a reusable invitation link.

    `offered`: the parameters of `_terms` that were sent.
    """
    terms = _terms(ctx, ctx.session, by_link=True, tells_inviter=False, **offered)
    link = sending.make_link(ctx.session, ctx.actor, _post(ctx), terms, now=ctx.now)
    require_within(ctx.session, ctx.settings, INVITATIONS, ctx.actor.id)
    return envelope.success(ctx, {**envelope.OK, "invite_link": link})


def edit_invitation_link(
    ctx: Context,
    *,
    invite_id: int,
    invite_as: int | None = None,
    stream_ids: Sequence[int] | None = None,
    group_ids: Sequence[int] | None = None,
    include_realm_default_subscriptions: bool | None = None,
) -> envelope.Answer[types.Success]:
    """Change the role and channels of an invitation link."""
    session, actor = ctx.session, ctx.actor
    role = Role.MEMBER if invite_as is None else invite_as
    permissions.require_may_invite(session, actor, role, by_link=True)
    check_channels, check_groups = permissions.check_channels, permissions.check_groups
    terms = NewTerms(
        role=invite_as,
        channel_ids=None if stream_ids is None else check_channels(session, actor, stream_ids),
        group_ids=None if group_ids is None else check_groups(session, actor, group_ids),
        joins_default_channels=include_realm_default_subscriptions,
    )
    sending.edit_link(session, actor, invite_id, terms, now=ctx.now)
    return envelope.success(ctx)


def revoke_invitation(ctx: Context, *, invite_id: int) -> envelope.Answer[types.Success]:
    """Revoke an invitation sent by email."""
    require_role(ctx.actor, "human")
    sending.revoke(ctx.session, ctx.actor, invite_id, is_link=False, now=ctx.now)
    return envelope.success(ctx)


def revoke_invitation_link(ctx: Context, *, invite_id: int) -> envelope.Answer[types.Success]:
    """Revoke a reusable invitation link."""
    require_role(ctx.actor, "human")
    sending.revoke(ctx.session, ctx.actor, invite_id, is_link=True, now=ctx.now)
    return envelope.success(ctx)


def resend_invitation(ctx: Context, *, invite_id: int) -> envelope.Answer[types.Success]:
    """Send the email of an invitation again."""
    require_role(ctx.actor, "human")
    sending.resend(ctx.session, ctx.actor, _post(ctx), invite_id, now=ctx.now)
    return envelope.success(ctx)


def get_invitation(
    ctx: Context, *, token: str
) -> envelope.Answer[types.InvitationShown] | Response:
    """Show an invitation."""
    realm = access_realm(ctx.connection, host_of(ctx))
    offer = joining.access_offer(ctx.connection, realm, token, now=ctx.now)
    if envelope.wants_page(ctx):
        return _form(realm, offer)
    answer: types.InvitationShown = {
        **envelope.OK,
        "realm_name": realm.name,
        "email": offer.email,
    }
    return envelope.success(ctx, answer)


async def accept_invitation(
    ctx: Context,
    *,
    token: str,
    email: str | None = None,
    full_name: str | None = None,
    password: str | None = None,
) -> envelope.Answer[types.InvitationAccepted] | Response:
    """Accept an invitation."""
    host = host_of(ctx)
    realm = await ctx.read(lambda db: access_realm(db, host))
    offer = await ctx.read(lambda db: joining.access_offer(db, realm, token, now=ctx.now))
    try:
        if offer.email is None:
            address = await _ask(ctx, realm, token, _require("email", email))
        else:
            full_name, password = _require("full_name", full_name), _require("password", password)
            address = await _accept(ctx, realm, token, full_name, password)
    except InvitationNotFound:
        raise
    except ChatError as refusal:
        if not envelope.wants_page(ctx):
            raise
        return _form(realm, offer, str(refusal))
    if envelope.wants_page(ctx):
        text = ASKED if offer.email is None else JOINED
        return _page(realm, text.format(email=escape(address)))
    answer: types.InvitationAccepted = {
        **envelope.OK,
        "email": address,
        "is_joined": offer.email is not None,
    }
    return envelope.success(ctx, answer)


async def _ask(ctx: Context, realm: RealmView, token: str, email: str) -> str:
    post = _post(ctx)
    return await write_attempt(
        ctx,
        lambda s: joining.request_invitation(s, realm, token, post, email=email, now=ctx.now),
        limit=joining.PER_ADDRESS,
    )


async def _accept(ctx: Context, realm: RealmView, token: str, full_name: str, password: str) -> str:
    keys = ctx.adapters.keys
    password_hash = await run_hashing(passwords.hash_if_strong, password)
    return await ctx.write(
        lambda s: joining.accept(
            s,
            keys,
            realm,
            token,
            full_name=full_name,
            password_hash=password_hash,
            now=ctx.now,
        )
    )


def _require(name: str, value: str | None) -> str:
    """Return a parameter that this kind of invitation needs. Raise `MissingParameter`."""
    if value is None:
        raise MissingParameter(var_name=name)
    return value


def _form(realm: RealmView, offer: Offer, problem: str = "") -> Response:
    form = ADDRESS if offer.email is None else ACCOUNT
    content = form.format(
        name=escape(offer.inviter.full_name),
        email=escape(offer.email or ""),
        problem=f"<p><strong>{escape(problem)}</strong></p>" if problem else "",
    )
    return _page(realm, content, 400 if problem else 200)


def _page(realm: RealmView, content: str, status: int = 200) -> Response:
    return envelope.page(PAGE.format(realm=escape(realm.name), content=content), status)
