"""Operations of the tag incoming_webhooks."""

from handlers.chat.wire import envelope
from handlers.chat.wire.auth import authenticate_webhook
from handlers.chat.wire.context import Context
from models.chat.rendering.texts import PreparedText, prepare_text
from models.chat.sending.drafts import check_message
from models.chat.sending.messages import send_message
from models.chat.sending.webhooks import TOPIC, destination_of, write_json
from models.json import Json
from server.phases import prepared_by
from server.response import Response

CLIENT = "ZulipJSONWebhook"


def _prepare_json(ctx: Context, *, api_key: str, body: dict[str, Json]) -> PreparedText:
    actor = authenticate_webhook(ctx, api_key)
    return prepare_text(ctx.session, actor, write_json(body))


@prepared_by(_prepare_json)
def receive_json(
    ctx: Context,
    text: PreparedText,
    *,
    api_key: str,
    stream: str | None = None,
    topic: str | None = None,
) -> Response:
    """Send JSON to an incoming webhook."""
    actor = authenticate_webhook(ctx, api_key)
    draft = check_message(
        ctx.session,
        actor,
        destination_of(actor, stream),
        topic=TOPIC if topic is None else topic,
        text=text,
        client=CLIENT,
    )
    send_message(ctx.session, draft, now=ctx.now)
    return envelope.success(ctx)
