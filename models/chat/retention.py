"""The retention policy of the chat service."""

from sqlalchemy import literal

from models.chat.common.outbox import DEAD
from models.chat.common.outbox import SENT as MAILED
from models.chat.deletion.by_age import try_expire_some
from models.chat.queues.retention import forget_ephemeral_events, forget_events
from models.chat.scheduling.records import SENT as DELIVERED
from models.chat.tables import (
    AttemptCount,
    AuditLog,
    BrowserSession,
    EmailChange,
    EventQueue,
    IdempotencyKey,
    Invitation,
    KnownPlace,
    MessageArchive,
    Outbox,
    ScheduledMessage,
    SpentLink,
)
from specd.db import Rule, older_than

RULES: tuple[Rule, ...] = (
    # By days that organizations and channels choose.
    Rule("message", None, try_expire_some),
    older_than(
        MessageArchive.archived_at,
        "chat_archive",
        days=30,
        help="Retention of deleted chat messages, which allows manual restoration.",
    ),
    older_than(EventQueue.expires_at, "expired", days=1),
    Rule("event", None, forget_ephemeral_events),
    Rule(
        "event",
        "chat_event",
        forget_events,
        days=1,
        help="Retention of chat events with their contents.",
    ),
    older_than(
        AuditLog.at, "chat_audit", days=730, help="Retention of the chat audit log.", by_key=True
    ),
    older_than(IdempotencyKey.created_at, "idempotency", days=7),
    older_than(
        Outbox.closed_at,
        "mail",
        days=30,
        help="Retention of mail that was sent or failed permanently.",
        only=Outbox.state.in_([MAILED, DEAD]),
    ),
    older_than(EmailChange.expires_at, "expired", days=1),
    older_than(Invitation.expires_at, "expired", days=1),
    # Literal, or neither database uses the partial index.
    older_than(
        ScheduledMessage.scheduled_at,
        "chat_scheduled",
        days=7,
        help="Retention of the records of scheduled chat messages that were sent.",
        only=ScheduledMessage.state == literal(DELIVERED, literal_execute=True),
    ),
    older_than(AttemptCount.arrival_at, "expired", days=1),
    older_than(SpentLink.ends_at, "expired", days=1),
    older_than(BrowserSession.ends_at, "expired", days=1),
    older_than(
        KnownPlace.last_at,
        "chat_known_place",
        days=90,
        help="Retention of the addresses that each user has signed in from.",
    ),
)
PERMANENT = {
    "realm": "an organization",
    "user": "an account; what others wrote to it names it",
    "user_group": "what an organization is made of",
    "channel": "what an organization is made of",
    "channel_folder": "what an organization is made of",
    "subscription": "a state that people change",
    "user_topic": "a state that people change",
    "presence": "one row for each person, written over",
    "user_status": "a state that people change",
    "worker_heartbeat": "one row for each worker, written over",
    "outgoing_delivery": "until the bot has answered, or is given up",
    "saved_snippet": "until its author deletes it",
    "attachment": "until its owner deletes it, or no message has shown it for "
    "SPECD_CHAT_DETACHED_UPLOAD_RETENTION_S (models/chat/uploads/removal.py)",
    "muted_user": "a state that people change",
    "draft": "until its author deletes it or turns their synchronization off",
    "message_edit": "as long as its message, and gone with it",
    "client_device": "until its user removes it",
    "vendor_token": "until its user or the vendor withdraws it",
    "chat_import": "where an organization came from; an unfinished one goes by `--discard`",
    "data_export": "what was exported and by whom; archives go after "
    "SPECD_CHAT_EXPORT_RETENTION_S (models/chat/exports/runs.py)",
}
"""The other tables that contain a time, each with the reason why its rows stay."""
