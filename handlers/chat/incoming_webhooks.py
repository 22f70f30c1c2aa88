"""Operations of the tag incoming_webhooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from handlers.chat.wire import envelope, limits
from handlers.chat.wire.auth import authenticate_webhook
from handlers.chat.wire.context import Context
from models.chat.identity.actors import Actor
from models.chat.integrations.catalogue import INTEGRATIONS, find_posts, require_signature
from models.chat.integrations.payloads import NAMES, Asked
from models.chat.rendering.texts import PreparedText, prepare_text
from models.chat.sending.drafts import check_message
from models.chat.sending.messages import send_message
from models.chat.sending.webhooks import TOPIC, destination_of, write_json
from models.json import Json
from specd import before_transaction, idempotent

if TYPE_CHECKING:
    from handlers.chat import types

CLIENT = "ZulipJSONWebhook"
FORM = "application/x-www-form-urlencoded"


def _payload_of(ctx: Context, body: dict[str, Json]) -> dict[str, Json]:
    """Return the object that was sent: as JSON, as `payload` of a form, or as JSON with the content
    type of a form, which is curl's own. Raise `InvalidRequest`.
    """
    is_form = (ctx.header("content-type") or "").lower().startswith(FORM)
    if not is_form:
        return body
    payload = body.get("payload")
    if isinstance(payload, str):
        return ctx.json_object(payload, "/body/payload")
    return ctx.json_object()


def _prepare_json(ctx: Context, *, api_key: str, body: dict[str, Json]) -> PreparedText:
    actor = authenticate_webhook(ctx, api_key)
    return prepare_text(ctx.connection, actor, write_json(_payload_of(ctx, body)))


@before_transaction(_prepare_json)
def receive_json(
    ctx: Context,
    text: PreparedText,
    *,
    api_key: str,
    stream: str | None = None,
    topic: str | None = None,
) -> envelope.Answer[types.Success]:
    """Send JSON to an incoming webhook."""
    actor = authenticate_webhook(ctx, api_key)
    _send(ctx, actor, stream, TOPIC if topic is None else topic, text, client=CLIENT)
    return envelope.success(ctx)


def _send(
    ctx: Context, actor: Actor, stream: str | None, topic: str, text: PreparedText, *, client: str
) -> None:
    """Send a message to the channel of the address, or to the owner of the webhook."""
    destination = destination_of(actor, stream)
    draft = check_message(ctx.session, actor, destination, topic=topic, text=text, client=client)
    send_message(ctx.session, draft, now=ctx.now)


def _prepare_posts(
    ctx: Context,
    *,
    integration: str,
    api_key: str,
    body: dict[str, Json],
    topic: str | None = None,
    only_events: Sequence[str] | None = None,
    exclude_events: Sequence[str] | None = None,
    webhook_secret: str | None = None,
    branches: str | None = None,
    ignore_private_repositories: bool = False,
    name: str = "instance",
    desc: str = "alertname",
    x_git_hub_event: str | None = None,
    x_hub_signature_256: str | None = None,
) -> list[tuple[str, PreparedText]]:
    """Return the topics and texts of what the product has sent."""
    actor = authenticate_webhook(ctx, api_key)
    product = INTEGRATIONS[integration]
    require_signature(product, ctx.content, x_hub_signature_256, webhook_secret)
    asked = Asked(
        event=x_git_hub_event,
        has_topic=topic is not None,
        branches=branches,
        ignores_private=ignore_private_repositories,
        name_field=name,
        desc_field=desc,
    )
    posts = find_posts(
        product, _payload_of(ctx, body), asked, only=only_events, exclude=exclude_events
    )
    limits.count_messages(ctx, actor, len(posts))
    return [
        (post.topic, prepare_text(ctx.connection, actor, post.content, NAMES)) for post in posts
    ]


@before_transaction(_prepare_posts)
def receive_webhook(
    ctx: Context,
    posts: list[tuple[str, PreparedText]],
    *,
    integration: str,
    api_key: str,
    body: dict[str, Json],
    stream: str | None = None,
    topic: str | None = None,
    x_git_hub_delivery: str | None = None,
    **options: Any,
) -> envelope.Answer[types.Success]:
    """Send a product's payload to an incoming webhook."""
    ctx.actor = authenticate_webhook(ctx, api_key)
    return _send_posts(
        ctx,
        posts,
        INTEGRATIONS[integration].client,
        payload=body,
        stream=stream,
        topic=topic,
        delivery=x_git_hub_delivery,
    )


@idempotent(key="delivery")
def _send_posts(
    ctx: Context,
    posts: list[tuple[str, PreparedText]],
    client: str,
    *,
    payload: dict[str, Json],
    stream: str | None,
    topic: str | None,
    delivery: str | None,
) -> envelope.Answer[types.Success]:
    for own_topic, text in posts:
        chosen = own_topic if topic is None else topic
        _send(ctx, ctx.actor, stream, chosen, text, client=client)
    return envelope.success(ctx)
