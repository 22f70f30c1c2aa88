"""Messages of the notification bot: one message in a channel or conversation, or the same direct
message to each of many users in a fixed number of statements.
"""

from collections.abc import Sequence
from datetime import datetime

import structlog
from sqlalchemy import BigInteger, bindparam, insert, literal, select
from sqlalchemy.orm import Session

from models.chat.errors import ChatError
from models.chat.events import log
from models.chat.events.log import AddressedEvent
from models.chat.events.messages import MessageEvent
from models.chat.identity.actors import find_actor
from models.chat.messages import flags, search
from models.chat.messages.conversations import find_people, key_of
from models.chat.messages.view import recipient_id
from models.chat.organization.realms import find_notification_bot_id
from models.chat.rendering import plain_text
from models.chat.rendering.quotes import Quotes
from models.chat.rendering.texts import PreparedText, prepare_text
from models.chat.sending.drafts import Draft, check_message, check_stored
from models.chat.sending.messages import columns_of, message_as_sent, send_message
from models.chat.sending.recipients import Destination
from models.chat.tables import Conversation, ConversationMember, Message, UserMessage
from models.dialects import each_of_parameter, in_parameter
from specd.db import Change, Database, Query, table_of

CLIENT = "Internal"
_MESSAGE = table_of(Message)
_COPY = table_of(UserMessage)
_INSERT_CONVERSATION = insert(table_of(Conversation)).returning(Conversation.key, Conversation.id)
_INSERT_MEMBER = insert(table_of(ConversationMember))


def try_send_notice(
    session: Session,
    realm_id: int,
    destination: Destination,
    *,
    content: str,
    now: datetime,
    topic: str | None = None,
    quotes: Quotes | None = None,
    **about: int,
) -> None:
    """Send a message of the notification bot. A failure, for example in an archived channel, is
    only logged, with `about`.

    Texts of users in `content` are escaped by models/chat/rendering/quotes.py. `quotes` has created
    the mentions and links in `content`.
    """
    logger = structlog.get_logger("notices")
    try:
        with Database.savepoint(session):
            bot = find_actor(session, find_notification_bot_id(session, realm_id))
            assert bot is not None
            text = prepare_text(session, bot, content, (quotes or Quotes()).names)
            draft = check_message(session, bot, destination, topic=topic, text=text, client=CLIENT)
            send_message(session, draft, now=now)
    except ChatError as refusal:
        logger.info("notice_not_taken", reason=type(refusal).__name__, **about)
    except Exception:
        logger.warning("notice_not_sent", exc_info=True, **about)


def send_direct_notices(
    session: Session,
    realm_id: int,
    user_ids: Sequence[int],
    *,
    content: str | PreparedText,
    now: datetime,
    quotes: Quotes | None = None,
) -> list[int]:
    """Send each of the active users a direct message. Return the ids of the messages, ordered by
    user id. `content` and `quotes` are as in `try_send_notice`. Prepare long texts before the
    transaction.
    """
    if not user_ids:
        return []
    bot = find_actor(session, find_notification_bot_id(session, realm_id))
    assert bot is not None
    text = content
    if isinstance(text, str):
        text = prepare_text(session, bot, text, (quotes or Quotes()).names)
    content, rendered = check_stored(text.stored), text.rendered
    draft = Draft(bot, None, (), "", content, rendered, CLIENT, False)
    conversations = _require_conversations(session, realm_id, bot.id, user_ids)
    values = {"conversation_ids": list(conversations.values()), **columns_of(draft, now)}
    message_ids = dict(_INSERT_MESSAGES.all(session, values))
    _INSERT_COPIES.run(session, {"message_ids": list(message_ids.values())})
    words = plain_text(rendered.html)
    search.index_messages(session, [(message_id, "", words) for message_id in message_ids.values()])
    people = find_people(session, bot, [*user_ids, bot.id])
    events: list[AddressedEvent] = []
    same = message_as_sent(draft, 0, None, [], now=now)
    for user_id, conversation_id in conversations.items():
        message = {
            **same,
            "id": message_ids[conversation_id],
            "display_recipient": [people[id_] for id_ in sorted((user_id, bot.id))],
            "recipient_id": recipient_id(None, conversation_id),
        }
        event = MessageEvent(message=message, flags=[], markdown=content)
        events.append((event, [user_id, bot.id]))
    log.append_all(session, realm_id, events, now=now)
    return [message_ids[conversation_id] for conversation_id in conversations.values()]


_ALIKE = (
    *("realm_id", "sender_id", "topic", "topic_key", "content", "rendered_content", "sent_at"),
    *("has_link", "has_image", "has_attachment", "client"),
)
"""The part of `columns_of` that is the same for all messages."""
_INSERT_MESSAGES: Query[int, int] = Query(
    insert(_MESSAGE)
    .from_select(
        ["conversation_id", *_ALIKE],
        select(
            each_of_parameter("conversation_ids").c.value,
            *(bindparam(name, type_=_MESSAGE.c[name].type) for name in _ALIKE),
        ),
    )
    .returning(_MESSAGE.c.conversation_id, _MESSAGE.c.id)
)
_INSERT_COPIES = Change(
    insert(_COPY).from_select(
        ["user_id", "message_id", "flags"],
        select(ConversationMember.user_id, Message.id, literal(flags.IS_PRIVATE, BigInteger))
        .join(Message, Message.conversation_id == ConversationMember.conversation_id)
        .where(in_parameter(Message.id, "message_ids")),
    )
)
_CONVERSATIONS: Query[str, int] = Query(
    select(Conversation.key, Conversation.id).where(
        Conversation.realm_id == bindparam("realm_id"),
        in_parameter(Conversation.key, "keys"),
    )
)


def _require_conversations(
    session: Session, realm_id: int, bot_id: int, user_ids: Sequence[int]
) -> dict[int, int]:
    """Return user id -> conversation of the user with the bot. Missing conversations are
    created.
    """
    keys = {key_of((user_id, bot_id)): user_id for user_id in user_ids}
    conversations = dict(_CONVERSATIONS.all(session, {"realm_id": realm_id, "keys": list(keys)}))
    missing = [key for key in keys if key not in conversations]
    if missing:
        connection = session.connection()
        made = connection.execute(
            _INSERT_CONVERSATION, [{"realm_id": realm_id, "key": key} for key in missing]
        )
        new = {key: conversation_id for key, conversation_id in made}
        connection.execute(
            _INSERT_MEMBER,
            [
                {"conversation_id": conversation_id, "user_id": member_id}
                for key, conversation_id in new.items()
                for member_id in (keys[key], bot_id)
            ],
        )
        conversations |= new
    return {keys[key]: conversations[key] for key in sorted(conversations, key=keys.__getitem__)}
