"""Every table of the chat service. Importing this package makes `ChatBase.metadata` whole.

Times are aware UTC datetimes (stored as Unix milliseconds). Ids grow and are never used again.
Columns that end in `_group` hold the id of the user group that has a permission; they carry no
foreign key because realms and groups would wait for each other. Groups with names are never
deleted; an anonymous one may be once it holds no setting.
"""

from models.chat.tables.alert_word import AlertWord
from models.chat.tables.attachment import Attachment, AttachmentMessage
from models.chat.tables.attempt import AttemptCount, KnownPlace
from models.chat.tables.bot_storage import BotStorage
from models.chat.tables.channel import (
    Channel,
    ChannelFolder,
    DefaultChannel,
    Subscription,
    Topic,
    UserTopic,
)
from models.chat.tables.client_device import ClientDevice
from models.chat.tables.data_export import DataExport
from models.chat.tables.event_queue import EventQueue
from models.chat.tables.group import Subgroup, UserGroup, UserGroupMember
from models.chat.tables.invitation import Invitation
from models.chat.tables.jwt_configuration import JwtConfiguration
from models.chat.tables.log import AuditLog, Event, IdempotencyKey
from models.chat.tables.message import (
    Conversation,
    ConversationMember,
    Message,
    MessageArchive,
    MessageEdit,
    Reaction,
    ReactionArchive,
    StarredMessage,
    Submessage,
    UserMessage,
)
from models.chat.tables.message_removal import MessageRemoval
from models.chat.tables.muted_user import MutedUser
from models.chat.tables.navigation_view import NavigationView
from models.chat.tables.outbox import Outbox
from models.chat.tables.outgoing_webhook import OutgoingDelivery, OutgoingWebhook
from models.chat.tables.presence import Presence
from models.chat.tables.realm import Linkifier, Playground, Realm, RealmDomain, RealmEmoji
from models.chat.tables.saved_snippet import SavedSnippet
from models.chat.tables.scheduled_message import ScheduledMessage
from models.chat.tables.secret_check import SecretCheck
from models.chat.tables.spent_link import SpentLink
from models.chat.tables.stale_search import StaleSearch
from models.chat.tables.stored_draft import StoredDraft
from models.chat.tables.user import EmailChange, ProfileField, ProfileValue, User, UserStatus
from models.chat.tables.vendor_token import VendorToken

__all__ = [
    "AlertWord",
    "Attachment",
    "AttachmentMessage",
    "AttemptCount",
    "AuditLog",
    "BotStorage",
    "Channel",
    "ChannelFolder",
    "ClientDevice",
    "Conversation",
    "ConversationMember",
    "DataExport",
    "DefaultChannel",
    "EmailChange",
    "Event",
    "EventQueue",
    "IdempotencyKey",
    "Invitation",
    "JwtConfiguration",
    "KnownPlace",
    "Linkifier",
    "Message",
    "MessageArchive",
    "MessageEdit",
    "MessageRemoval",
    "MutedUser",
    "NavigationView",
    "Outbox",
    "OutgoingDelivery",
    "OutgoingWebhook",
    "Playground",
    "Presence",
    "ProfileField",
    "ProfileValue",
    "Reaction",
    "ReactionArchive",
    "Realm",
    "RealmDomain",
    "RealmEmoji",
    "SavedSnippet",
    "ScheduledMessage",
    "SecretCheck",
    "SpentLink",
    "StaleSearch",
    "StarredMessage",
    "StoredDraft",
    "Subgroup",
    "Submessage",
    "Subscription",
    "Topic",
    "User",
    "UserGroup",
    "UserGroupMember",
    "UserMessage",
    "UserStatus",
    "UserTopic",
    "VendorToken",
]
