"""All tables of the chat service. Importing this package completes `ChatBase.metadata`.

Times are aware UTC datetimes, stored as Unix milliseconds. Ids increase and are not reused. Columns
that end in `_group` contain the id of the user group that has a permission. They have no foreign
keys, because realms and groups would refer to each other. Groups with names are not deleted. An
anonymous group may be deleted if no setting refers to it.
"""

from models.chat.tables.attachment import Attachment as Attachment
from models.chat.tables.attachment import AttachmentMessage as AttachmentMessage
from models.chat.tables.bots import BotStorage as BotStorage
from models.chat.tables.bots import OutgoingDelivery as OutgoingDelivery
from models.chat.tables.bots import OutgoingWebhook as OutgoingWebhook
from models.chat.tables.channel import Channel as Channel
from models.chat.tables.channel import ChannelFolder as ChannelFolder
from models.chat.tables.channel import DefaultChannel as DefaultChannel
from models.chat.tables.channel import Subscription as Subscription
from models.chat.tables.channel import Topic as Topic
from models.chat.tables.channel import UserTopic as UserTopic
from models.chat.tables.chat_import import ChatImport as ChatImport
from models.chat.tables.data_export import DataExport as DataExport
from models.chat.tables.event_queue import EventQueue as EventQueue
from models.chat.tables.group import Subgroup as Subgroup
from models.chat.tables.group import UserGroup as UserGroup
from models.chat.tables.group import UserGroupMember as UserGroupMember
from models.chat.tables.log import AuditLog as AuditLog
from models.chat.tables.log import Event as Event
from models.chat.tables.log import IdempotencyKey as IdempotencyKey
from models.chat.tables.message import Conversation as Conversation
from models.chat.tables.message import ConversationMember as ConversationMember
from models.chat.tables.message import Message as Message
from models.chat.tables.message import MessageArchive as MessageArchive
from models.chat.tables.message import MessageEdit as MessageEdit
from models.chat.tables.message import MessageRemoval as MessageRemoval
from models.chat.tables.message import Reaction as Reaction
from models.chat.tables.message import ReactionArchive as ReactionArchive
from models.chat.tables.message import StaleSearch as StaleSearch
from models.chat.tables.message import StarredMessage as StarredMessage
from models.chat.tables.message import Submessage as Submessage
from models.chat.tables.message import UserMessage as UserMessage
from models.chat.tables.moving import MovedRow as MovedRow
from models.chat.tables.moving import RowChange as RowChange
from models.chat.tables.outbox import Outbox as Outbox
from models.chat.tables.personal import AlertWord as AlertWord
from models.chat.tables.personal import ClientDevice as ClientDevice
from models.chat.tables.personal import MutedUser as MutedUser
from models.chat.tables.personal import NavigationView as NavigationView
from models.chat.tables.personal import Presence as Presence
from models.chat.tables.personal import SavedSnippet as SavedSnippet
from models.chat.tables.personal import StoredDraft as StoredDraft
from models.chat.tables.personal import VendorToken as VendorToken
from models.chat.tables.realm import Linkifier as Linkifier
from models.chat.tables.realm import Playground as Playground
from models.chat.tables.realm import Realm as Realm
from models.chat.tables.realm import RealmDomain as RealmDomain
from models.chat.tables.realm import RealmEmoji as RealmEmoji
from models.chat.tables.scheduled_message import ScheduledMessage as ScheduledMessage
from models.chat.tables.secret_check import SecretCheck as SecretCheck
from models.chat.tables.sign_in import AttemptCount as AttemptCount
from models.chat.tables.sign_in import BrowserSession as BrowserSession
from models.chat.tables.sign_in import Invitation as Invitation
from models.chat.tables.sign_in import JwtConfiguration as JwtConfiguration
from models.chat.tables.sign_in import KnownPlace as KnownPlace
from models.chat.tables.sign_in import SpentLink as SpentLink
from models.chat.tables.user import EmailChange as EmailChange
from models.chat.tables.user import ProfileField as ProfileField
from models.chat.tables.user import ProfileValue as ProfileValue
from models.chat.tables.user import User as User
from models.chat.tables.user import UserStatus as UserStatus
from models.chat.tables.worker_heartbeat import WorkerHeartbeat as WorkerHeartbeat
