# Written by `specd types`, not by hand. 3aa649d2540269e8
"""The types of chat: its schemas, and what its handlers get and return."""

# isort: skip_file
from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Never,
    NotRequired,
    Protocol,
    TypeAlias,
    TypeVar,
    TypedDict,
)

ResultSuccess: TypeAlias = Literal["success"]

MsgEmpty: TypeAlias = Literal[""]

IgnoredParameters: TypeAlias = list[str]


class Success(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]


class GroupObjection(TypedDict):
    type: Literal["subgroup", "channel", "user_group", "realm"]
    supergroup_ids: NotRequired[list[int]]
    channel_id: NotRequired[int]
    group_id: NotRequired[int]
    settings: NotRequired[list[str]]


ErrorResponse = TypedDict(
    "ErrorResponse",
    {
        "result": Literal["error"],
        "msg": str,
        "code": NotRequired[str],
        "var_name": NotRequired[str],
        "bad_value": NotRequired[Any],
        "var_name1": NotRequired[str],
        "var_name2": NotRequired[str],
        "is_last_owner": NotRequired[bool],
        "entity": NotRequired[str],
        "objections": NotRequired[list[GroupObjection]],
        "queue_id": NotRequired[str],
        "channel_name": NotRequired[str],
        "header": NotRequired[str],
        "stream_id": NotRequired[int],
        "stream": NotRequired[str],
        "first_message_id_allowed_to_move": NotRequired[int],
        "total_messages_in_topic": NotRequired[int],
        "total_messages_allowed_to_move": NotRequired[int],
        "desc": NotRequired[str],
        "errors": NotRequired[Any],
        "sent_invitations": NotRequired[bool],
        "license_limit_reached": NotRequired[bool],
        "daily_limit_reached": NotRequired[bool],
        "retry-after": NotRequired[float],
        "allowed_methods": NotRequired[list[str]],
    },
)

Role: TypeAlias = Literal[100, 200, 300, 400, 600]

BotType: TypeAlias = Literal[1, 2, 3]

BotInterface: TypeAlias = Literal[1, 2]

EmailAddressVisibility: TypeAlias = Literal[1, 2, 3, 4, 5]

StreamPostPolicy: TypeAlias = Literal[1, 2, 3, 4]

TopicsPolicy: TypeAlias = Literal[
    "inherit",
    "allow_empty_topic",
    "disable_empty_topic",
    "empty_topic_only",
]

RealmTopicsPolicy: TypeAlias = Literal["allow_empty_topic", "disable_empty_topic"]

TopicVisibilityPolicy: TypeAlias = Literal[0, 1, 2, 3]

NewVisibilityPolicy: TypeAlias = Literal[2, 3]

MessageType: TypeAlias = Literal["stream", "private"]

RecipientType: TypeAlias = Literal["direct", "channel", "stream", "private"]

ContentType: TypeAlias = Literal["text/html", "text/x-markdown"]

PushTokenKind: TypeAlias = Literal["fcm", "apns"]

ReportType: TypeAlias = Literal["spam", "harassment", "inappropriate", "norms", "other"]

PropagateMode: TypeAlias = Literal["change_one", "change_later", "change_all"]

MuteOperation: TypeAlias = Literal["add", "remove"]

EditHistoryVisibility: TypeAlias = Literal["all", "moves", "none"]

AutomaticTopicPolicy: TypeAlias = Literal[1, 2, 3, 4]

ColorScheme: TypeAlias = Literal[1, 2, 3]

AutomaticPolicy: TypeAlias = Literal[1, 2, 3]

DesktopIconCount: TypeAlias = Literal[1, 2, 3, 4]

UserListStyle: TypeAlias = Literal[1, 2, 3]

ChannelDefaultView: TypeAlias = Literal[1, 2, 3, 4]

MarkReadOnScroll: TypeAlias = Literal[1, 2, 3]

UnreadCountDisplay: TypeAlias = Literal[1, 2, 3]

Emojiset: TypeAlias = Literal["text", "set_a", "set_b", "google", "google-blob", "twitter"]

ResolvedTopicNoticePolicy: TypeAlias = Literal["always", "except_followed", "never"]

AnimateImagePreviews: TypeAlias = Literal["always", "on_hover", "never"]

HomeView: TypeAlias = Literal["recent", "inbox", "all_messages", "recent_topics"]


class AnonymousGroup(TypedDict):
    direct_members: list[int]
    direct_subgroups: list[int]


GroupSettingValue: TypeAlias = int | AnonymousGroup


class GroupSettingChange(TypedDict):
    new: GroupSettingValue
    old: NotRequired[GroupSettingValue]


GroupSettingUpdate: TypeAlias = int | AnonymousGroup | GroupSettingChange

Seconds: TypeAlias = int | str | None

Days: TypeAlias = int | str

ChannelOrNone: TypeAlias = int | None


class ProfileValue(TypedDict):
    value: str
    rendered_value: NotRequired[str]


ProfileData: TypeAlias = dict[str, ProfileValue]


class OwnUser(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    avatar_url: str
    avatar_version: int
    email: str
    full_name: str
    is_admin: bool
    is_owner: bool
    is_guest: bool
    is_bot: bool
    is_active: bool
    role: Role
    timezone: str
    date_joined: str
    max_message_id: int
    user_id: int
    delivery_email: str
    is_imported_stub: bool
    profile_data: NotRequired[ProfileData]


class User(TypedDict):
    user_id: int
    delivery_email: str | None
    email: str
    full_name: str
    date_joined: str
    is_active: bool
    is_owner: bool
    is_admin: bool
    is_guest: bool
    is_bot: bool
    bot_type: int | None
    bot_owner_id: int | None
    role: Role
    timezone: str
    avatar_url: str | None
    avatar_version: int
    is_imported_stub: bool
    is_deleted: NotRequired[Literal[True]]
    profile_data: NotRequired[ProfileData]


class OneUser(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    user: User


class UserList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    members: list[User]


class UserCreated(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    user_id: int


class ProfileChange(TypedDict):
    id: int
    value: ProfileFieldInput


ProfileChanges: TypeAlias = list[ProfileChange]

ProfileFieldInput: TypeAlias = str | list[int] | None


class BotService(TypedDict):
    base_url: str
    interface: int


class OwnBotService(TypedDict):
    base_url: str
    interface: int
    token: str | None
    signing_secret: str | None


class OwnBot(TypedDict):
    user_id: int
    username: str
    full_name: str
    api_key: str | None
    avatar_url: str
    default_sending_stream: str | None
    default_events_register_stream: str | None
    default_all_public_streams: bool
    services: list[OwnBotService]


class BotList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    bots: list[OwnBot]


class BotCreated(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    user_id: int
    api_key: str
    avatar_url: str
    default_sending_stream: str | None
    default_events_register_stream: str | None
    default_all_public_streams: bool
    services: list[OwnBotService]


class BotChanged(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    full_name: str
    avatar_url: str
    default_sending_stream: str | None
    default_events_register_stream: str | None
    default_all_public_streams: bool
    service_payload_url: NotRequired[str]
    service_interface: NotRequired[int]
    bot_owner: NotRequired[str]


class RenewedBotApiKey(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    api_key: NotRequired[str]


class ReactivatedUser(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    api_key: NotRequired[str]


AnyObject: TypeAlias = dict[str, Any]

PayloadForm: TypeAlias = dict[str, Any]

StoredValues: TypeAlias = dict[str, str]


class BotStorageContent(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    storage: StoredValues


class ManagedBot(TypedDict):
    user_id: int
    email: str
    full_name: str
    bot_type: int
    is_active: bool
    owner_id: int | None
    avatar_url: str
    default_sending_stream: str | None
    default_events_register_stream: str | None
    default_all_public_streams: bool
    services: list[BotService]


class UserStatus(TypedDict):
    away: NotRequired[Literal[True]]
    status_text: NotRequired[str]
    emoji_name: NotRequired[str]
    emoji_code: NotRequired[str]
    reaction_type: NotRequired[UserStatusReactionType]


class OneUserStatus(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    status: UserStatus


class ScheduledMessage(TypedDict):
    scheduled_message_id: int
    type: MessageType
    to: ScheduledRecipients
    topic: NotRequired[str]
    content: str
    rendered_content: str
    scheduled_delivery_timestamp: int
    failed: bool
    failure_message: NotRequired[str]


ScheduledRecipients: TypeAlias = int | list[int]


class ScheduledMessageList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    scheduled_messages: list[ScheduledMessage]


class ScheduledMessageCreated(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    scheduled_message_id: int


class PollOption(TypedDict):
    type: EventTypeNewOption
    idx: int
    option: str


class PollQuestion(TypedDict):
    type: EventTypeQuestion
    question: str


class PollVote(TypedDict):
    type: EventTypeVote
    key: str
    vote: Literal[1, -1]


class TodoStrike(TypedDict):
    type: EventTypeStrike
    key: str


class TodoTask(TypedDict):
    type: EventTypeNewTask
    key: int
    task: str
    desc: str
    completed: bool


class TodoTitle(TypedDict):
    type: EventTypeNewTaskListTitle
    title: str


WidgetChange: TypeAlias = PollVote | PollOption | PollQuestion | TodoTask | TodoStrike | TodoTitle


class Submessage(TypedDict):
    id: int
    message_id: int
    sender_id: int
    msg_type: Literal["widget"]
    content: str


class Reminder(TypedDict):
    reminder_id: int
    type: Literal["private"]
    to: list[int]
    content: str
    rendered_content: str
    scheduled_delivery_timestamp: int
    failed: bool
    failure_message: NotRequired[str]
    reminder_target_message_id: int


class ReminderList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    reminders: list[Reminder]


class ReminderCreated(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    reminder_id: int


class MutedUser(TypedDict):
    id: int
    timestamp: int


class AlertWordList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    alert_words: list[str]


DraftType: TypeAlias = Literal["", "private", "stream"]


class Draft(TypedDict):
    id: int
    type: DraftType
    to: list[int]
    topic: str
    content: str
    timestamp: int


class DraftData(TypedDict):
    type: DraftType
    to: list[int]
    topic: str
    content: str
    timestamp: NotRequired[float]


class DraftList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    count: int
    drafts: list[Draft]


class DraftsCreated(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    ids: list[int]


class SavedSnippet(TypedDict):
    id: int
    title: str
    content: str
    date_created: int


class SavedSnippetList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    saved_snippets: list[SavedSnippet]


class SavedSnippetCreated(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    saved_snippet_id: int


class WelcomeMessageTried(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    message_id: int


class NavigationView(TypedDict):
    fragment: str
    is_pinned: bool
    name: str | None


class NavigationViewList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    navigation_views: list[NavigationView]


class AttachmentMessage(TypedDict):
    id: int
    date_sent: int


class Attachment(TypedDict):
    id: int
    name: str
    path_id: str
    size: int
    create_time: int
    messages: list[AttachmentMessage]


class RemovedAttachment(TypedDict):
    id: int


class OwnAvatar(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    avatar_url: str


class FileUploaded(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    uri: str
    url: str
    filename: str


class TemporaryUrl(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    url: str


class AttachmentList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    attachments: list[Attachment]
    upload_space_used: int


class ServerSettings(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    authentication_methods: dict[str, bool]
    external_authentication_methods: list[dict[str, Any]]
    zulip_version: str
    zulip_merge_base: str
    zulip_feature_level: int
    push_notifications_enabled: bool
    is_incompatible: bool
    email_auth_enabled: bool
    require_email_format_usernames: bool
    realm_url: str
    realm_uri: str
    realm_name: str
    realm_icon: str
    realm_description: str
    realm_web_public_access_enabled: bool


class EmailConfirmation(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    new_email: str


class ApiKey(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    api_key: str
    email: str
    user_id: int


class SessionApiKey(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    api_key: NotRequired[str]
    email: NotRequired[str]
    user_id: NotRequired[int]
    session_id: NotRequired[int]


class BegunSession(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    session: BrowserSession


class SessionList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    sessions: list[BrowserSession]


class BrowserSession(TypedDict):
    id: int
    user_agent: str
    created_at: int
    last_used_at: int
    ends_at: int
    is_current: bool


class RenewedApiKey(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    api_key: str


class TokenApiKey(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    api_key: str
    email: str
    user: NotRequired[User]


class RegisteredDevice(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    device_id: int


class DeviceList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    devices: dict[str, Device]


class Device(TypedDict):
    push_key_id: int | None
    push_token_id: str | None
    pending_push_token_id: str | None
    push_token_last_updated_timestamp: int | None
    push_registration_error_code: DevicePushRegistrationErrorCodeValue | None


class Call(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    url: str


class VendorTokenState(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    has_vendor_token: bool


class VendorNotice(TypedDict):
    event: str
    payload: VendorNoticePayload


class VendorNoticePayload(TypedDict):
    user_id: str


class Invitation(TypedDict):
    id: int
    invited_by_user_id: int
    invited: int
    expiry_date: int | None
    invited_as: Role
    is_multiuse: bool
    email: NotRequired[str]
    notify_referrer_on_join: NotRequired[bool]
    link_url: NotRequired[str]
    stream_ids: list[int]
    group_ids: list[int]
    include_realm_default_subscriptions: bool


class InvitationList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    invites: list[Invitation]


class InvitationLink(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    invite_link: str


class InvitationShown(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    realm_name: str
    email: str | None


class InvitationAccepted(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    email: str
    is_joined: bool


class UserGroup(TypedDict):
    id: int
    name: str
    description: str
    members: list[int]
    direct_subgroup_ids: list[int]
    is_system_group: bool
    creator_id: int | None
    date_created: int
    deactivated: bool
    can_add_members_group: GroupSettingValue
    can_join_group: GroupSettingValue
    can_leave_group: GroupSettingValue
    can_manage_group: GroupSettingValue
    can_mention_group: GroupSettingValue
    can_remove_members_group: GroupSettingValue


class UserGroupList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    user_groups: list[UserGroup]


class UserGroupMembers(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    members: list[int]


class UserGroupMembership(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    is_user_group_member: bool


class UserGroupSubgroups(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    subgroups: list[int]


class UserGroupCreated(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    group_id: int


EventTypeAlertWords: TypeAlias = Literal["alert_words"]

EventTypeAttachment: TypeAlias = Literal["attachment"]

EventTypeChannelFolder: TypeAlias = Literal["channel_folder"]

EventTypeCustomProfileFields: TypeAlias = Literal["custom_profile_fields"]

EventTypeDefaultStreams: TypeAlias = Literal["default_streams"]

EventTypeDeleteMessage: TypeAlias = Literal["delete_message"]

EventTypeDevice: TypeAlias = Literal["device"]

EventTypeDrafts: TypeAlias = Literal["drafts"]

EventTypeHasVendorToken: TypeAlias = Literal["has_vendor_token"]

EventTypeHasZoomToken: TypeAlias = Literal["has_zoom_token"]

EventTypeHeartbeat: TypeAlias = Literal["heartbeat"]

EventTypeInvitesChanged: TypeAlias = Literal["invites_changed"]

EventTypeMessage: TypeAlias = Literal["message"]

EventTypeMutedTopics: TypeAlias = Literal["muted_topics"]

EventTypeMutedUsers: TypeAlias = Literal["muted_users"]

EventTypeNavigationView: TypeAlias = Literal["navigation_view"]

EventTypeNewOption: TypeAlias = Literal["new_option"]

EventTypeNewTask: TypeAlias = Literal["new_task"]

EventTypeNewTaskListTitle: TypeAlias = Literal["new_task_list_title"]

EventTypePresence: TypeAlias = Literal["presence"]

EventTypeQuestion: TypeAlias = Literal["question"]

EventTypeReaction: TypeAlias = Literal["reaction"]

EventTypeRealm: TypeAlias = Literal["realm"]

EventTypeRealmBot: TypeAlias = Literal["realm_bot"]

EventTypeRealmDomains: TypeAlias = Literal["realm_domains"]

EventTypeRealmEmoji: TypeAlias = Literal["realm_emoji"]

EventTypeRealmExport: TypeAlias = Literal["realm_export"]

EventTypeRealmExportConsent: TypeAlias = Literal["realm_export_consent"]

EventTypeRealmLinkifiers: TypeAlias = Literal["realm_linkifiers"]

EventTypeRealmPlaygrounds: TypeAlias = Literal["realm_playgrounds"]

EventTypeRealmUser: TypeAlias = Literal["realm_user"]

EventTypeRealmUserSettingsDefaults: TypeAlias = Literal["realm_user_settings_defaults"]

EventTypeReminders: TypeAlias = Literal["reminders"]

EventTypeSavedSnippets: TypeAlias = Literal["saved_snippets"]

EventTypeScheduledMessages: TypeAlias = Literal["scheduled_messages"]

EventTypeStream: TypeAlias = Literal["stream"]

EventTypeStrike: TypeAlias = Literal["strike"]

EventTypeSubmessage: TypeAlias = Literal["submessage"]

EventTypeSubscription: TypeAlias = Literal["subscription"]

EventTypeTyping: TypeAlias = Literal["typing"]

EventTypeTypingEditMessage: TypeAlias = Literal["typing_edit_message"]

EventTypeUpdateMessage: TypeAlias = Literal["update_message"]

EventTypeUpdateMessageFlags: TypeAlias = Literal["update_message_flags"]

EventTypeUserGroup: TypeAlias = Literal["user_group"]

EventTypeUserSettings: TypeAlias = Literal["user_settings"]

EventTypeUserStatus: TypeAlias = Literal["user_status"]

EventTypeUserTopic: TypeAlias = Literal["user_topic"]

EventTypeVote: TypeAlias = Literal["vote"]

EventOpAdd: TypeAlias = Literal["add"]

EventOpAddMembers: TypeAlias = Literal["add_members"]

EventOpAddSubgroups: TypeAlias = Literal["add_subgroups"]

EventOpChange: TypeAlias = Literal["change"]

EventOpCreate: TypeAlias = Literal["create"]

EventOpDelete: TypeAlias = Literal["delete"]

EventOpPeerAdd: TypeAlias = Literal["peer_add"]

EventOpPeerRemove: TypeAlias = Literal["peer_remove"]

EventOpRemove: TypeAlias = Literal["remove"]

EventOpRemoveMembers: TypeAlias = Literal["remove_members"]

EventOpRemoveSubgroups: TypeAlias = Literal["remove_subgroups"]

EventOpReorder: TypeAlias = Literal["reorder"]

EventOpStart: TypeAlias = Literal["start"]

EventOpStop: TypeAlias = Literal["stop"]

EventOpUpdate: TypeAlias = Literal["update"]

EventOpUpdateDict: TypeAlias = Literal["update_dict"]


class DeliveredMessage(TypedDict):
    id: int
    sender_id: int
    sender_full_name: str
    sender_email: str
    sender_realm_str: str
    avatar_url: str | None
    client: str
    content: str
    content_type: ContentType
    display_recipient: DisplayRecipient
    recipient_id: int
    type: MessageType
    subject: str
    stream_id: NotRequired[int]
    timestamp: int
    is_me_message: bool
    reactions: list[Reaction]
    submessages: list[Submessage]
    topic_links: list[TopicLink]


class MessageEvent(TypedDict):
    id: int
    type: EventTypeMessage
    message: DeliveredMessage
    flags: list[Flag]
    local_message_id: NotRequired[str]


class UpdateMessageEvent(TypedDict):
    id: int
    type: EventTypeUpdateMessage
    user_id: int
    edit_timestamp: int
    message_id: int
    message_ids: list[int]
    rendering_only: bool
    flags: list[Flag]
    stream_id: NotRequired[int]
    stream_name: NotRequired[str]
    orig_content: NotRequired[str]
    orig_rendered_content: NotRequired[str]
    content: NotRequired[str]
    rendered_content: NotRequired[str]
    is_me_message: NotRequired[bool]
    propagate_mode: NotRequired[PropagateMode]
    orig_subject: NotRequired[str]
    subject: NotRequired[str]
    topic_links: NotRequired[list[TopicLink]]
    new_stream_id: NotRequired[int]


class DeleteMessageEvent(TypedDict):
    id: int
    type: EventTypeDeleteMessage
    message_id: NotRequired[int]
    message_ids: NotRequired[list[int]]
    message_type: MessageType
    stream_id: NotRequired[int]
    topic: NotRequired[str]


class UpdateMessageFlagsAddEvent(TypedDict):
    id: int
    type: EventTypeUpdateMessageFlags
    op: EventOpAdd
    operation: Literal["add"]
    flag: Flag
    messages: list[int]
    all: bool


class MessageDetails(TypedDict):
    type: MessageType
    mentioned: NotRequired[Literal[True]]
    user_ids: NotRequired[list[int]]
    stream_id: NotRequired[int]
    topic: NotRequired[str]


class UpdateMessageFlagsRemoveEvent(TypedDict):
    id: int
    type: EventTypeUpdateMessageFlags
    op: EventOpRemove
    operation: Literal["remove"]
    flag: Flag
    messages: list[int]
    all: bool
    message_details: NotRequired[dict[str, MessageDetails]]


PresenceStatus: TypeAlias = Literal["active", "idle"]


class ClientPresence(TypedDict):
    client: Literal["website"]
    status: PresenceStatus
    timestamp: int
    pushable: NotRequired[Literal[False]]


class Presence(TypedDict):
    active_timestamp: NotRequired[int]
    idle_timestamp: NotRequired[int]
    aggregated: NotRequired[ClientPresence]
    website: NotRequired[ClientPresence]


class PresenceUpdate(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    presences: NotRequired[dict[str, Presence]]
    presence_last_update_id: NotRequired[int]
    server_timestamp: NotRequired[float]


class UserPresence(TypedDict):
    status: Literal["active", "idle", "offline"]
    timestamp: int


class UserPresences(TypedDict):
    aggregated: UserPresence
    website: UserPresence


class OneUserPresence(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    presence: UserPresences


class RealmPresence(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    presences: dict[str, Presence]
    server_timestamp: float


class PresenceEvent(TypedDict):
    id: int
    type: EventTypePresence
    user_id: NotRequired[int]
    email: NotRequired[str]
    server_timestamp: NotRequired[float]
    presence: NotRequired[dict[str, ClientPresence]]
    presences: NotRequired[dict[str, Presence]]


class TypingUser(TypedDict):
    user_id: int
    email: str


class TypingStartEvent(TypedDict):
    id: int
    type: EventTypeTyping
    op: EventOpStart
    message_type: TypedMessageType
    sender: TypingUser
    recipients: NotRequired[list[TypingUser]]
    stream_id: NotRequired[int]
    topic: NotRequired[str]


class TypingStopEvent(TypedDict):
    id: int
    type: EventTypeTyping
    op: EventOpStop
    message_type: TypedMessageType
    sender: TypingUser
    recipients: NotRequired[list[TypingUser]]
    stream_id: NotRequired[int]
    topic: NotRequired[str]


TypedMessageType: TypeAlias = Literal["stream", "direct"]


class EditedPlace(TypedDict):
    type: Literal["channel", "direct"]
    channel_id: NotRequired[int]
    topic: NotRequired[str]
    user_ids: NotRequired[list[int]]


class TypingEditMessageStartEvent(TypedDict):
    id: int
    type: EventTypeTypingEditMessage
    op: EventOpStart
    sender_id: int
    message_id: int
    recipient: EditedPlace


class TypingEditMessageStopEvent(TypedDict):
    id: int
    type: EventTypeTypingEditMessage
    op: EventOpStop
    sender_id: int
    message_id: int
    recipient: EditedPlace


ReactionType: TypeAlias = Literal["unicode_emoji", "realm_emoji", "zulip_extra_emoji"]


class ReactingUser(TypedDict):
    user_id: int
    email: str
    full_name: str


class ReactionAddEvent(TypedDict):
    id: int
    type: EventTypeReaction
    op: EventOpAdd
    user_id: int
    user: ReactingUser
    message_id: int
    emoji_name: str
    emoji_code: str
    reaction_type: ReactionType


class ReactionRemoveEvent(TypedDict):
    id: int
    type: EventTypeReaction
    op: EventOpRemove
    user_id: int
    user: ReactingUser
    message_id: int
    emoji_name: str
    emoji_code: str
    reaction_type: ReactionType


class ScheduledMessagesAddEvent(TypedDict):
    id: int
    type: EventTypeScheduledMessages
    op: EventOpAdd
    scheduled_messages: list[ScheduledMessage]


class ScheduledMessagesUpdateEvent(TypedDict):
    id: int
    type: EventTypeScheduledMessages
    op: EventOpUpdate
    scheduled_message: ScheduledMessage


class ScheduledMessagesRemoveEvent(TypedDict):
    id: int
    type: EventTypeScheduledMessages
    op: EventOpRemove
    scheduled_message_id: int


class SubmessageEvent(TypedDict):
    id: int
    type: EventTypeSubmessage
    msg_type: Literal["widget"]
    message_id: int
    submessage_id: int
    sender_id: int
    content: str


class RemindersAddEvent(TypedDict):
    id: int
    type: EventTypeReminders
    op: EventOpAdd
    reminders: list[Reminder]


class RemindersRemoveEvent(TypedDict):
    id: int
    type: EventTypeReminders
    op: EventOpRemove
    reminder_id: int


class DraftsAddEvent(TypedDict):
    id: int
    type: EventTypeDrafts
    op: EventOpAdd
    drafts: list[Draft]


class DraftsUpdateEvent(TypedDict):
    id: int
    type: EventTypeDrafts
    op: EventOpUpdate
    draft: Draft


class DraftsRemoveEvent(TypedDict):
    id: int
    type: EventTypeDrafts
    op: EventOpRemove
    draft_id: int


class SavedSnippetsAddEvent(TypedDict):
    id: int
    type: EventTypeSavedSnippets
    op: EventOpAdd
    saved_snippet: SavedSnippet


class SavedSnippetsUpdateEvent(TypedDict):
    id: int
    type: EventTypeSavedSnippets
    op: EventOpUpdate
    saved_snippet: SavedSnippet


class SavedSnippetsRemoveEvent(TypedDict):
    id: int
    type: EventTypeSavedSnippets
    op: EventOpRemove
    saved_snippet_id: int


class AttachmentAddEvent(TypedDict):
    id: int
    type: EventTypeAttachment
    op: EventOpAdd
    attachment: Attachment
    upload_space_used: int


class AttachmentUpdateEvent(TypedDict):
    id: int
    type: EventTypeAttachment
    op: EventOpUpdate
    attachment: Attachment
    upload_space_used: int


class AttachmentRemoveEvent(TypedDict):
    id: int
    type: EventTypeAttachment
    op: EventOpRemove
    attachment: RemovedAttachment
    upload_space_used: int


class NavigationViewAddEvent(TypedDict):
    id: int
    type: EventTypeNavigationView
    op: EventOpAdd
    navigation_view: NavigationView


class NavigationViewUpdateEvent(TypedDict):
    id: int
    type: EventTypeNavigationView
    op: EventOpUpdate
    fragment: str
    data: NavigationViewChange


class NavigationViewChange(TypedDict):
    is_pinned: NotRequired[bool]
    name: NotRequired[str]


class NavigationViewRemoveEvent(TypedDict):
    id: int
    type: EventTypeNavigationView
    op: EventOpRemove
    fragment: str


class StreamCreateEvent(TypedDict):
    id: int
    type: EventTypeStream
    op: EventOpCreate
    streams: list[Channel]


class ChannelReference(TypedDict):
    stream_id: int


class StreamDeleteEvent(TypedDict):
    id: int
    type: EventTypeStream
    op: EventOpDelete
    streams: list[ChannelReference]
    stream_ids: list[int]


class StreamUpdateEvent(TypedDict):
    id: int
    type: EventTypeStream
    op: EventOpUpdate
    property: str
    value: Any
    stream_id: int
    name: str
    rendered_description: NotRequired[str]
    history_public_to_subscribers: NotRequired[bool]
    is_web_public: NotRequired[bool]


class DefaultStreamsEvent(TypedDict):
    id: int
    type: EventTypeDefaultStreams
    default_streams: list[int]


class SubscriptionAddEvent(TypedDict):
    id: int
    type: EventTypeSubscription
    op: EventOpAdd
    subscriptions: list[Subscription]


class EndedSubscription(TypedDict):
    name: str
    stream_id: int


class SubscriptionRemoveEvent(TypedDict):
    id: int
    type: EventTypeSubscription
    op: EventOpRemove
    subscriptions: list[EndedSubscription]


class SubscriptionUpdateEvent(TypedDict):
    id: int
    type: EventTypeSubscription
    op: EventOpUpdate
    property: SubscriptionProperty
    value: SubscriptionValue
    stream_id: int


class SubscriptionPeerAddEvent(TypedDict):
    id: int
    type: EventTypeSubscription
    op: EventOpPeerAdd
    stream_ids: list[int]
    user_ids: list[int]


class SubscriptionPeerRemoveEvent(TypedDict):
    id: int
    type: EventTypeSubscription
    op: EventOpPeerRemove
    stream_ids: list[int]
    user_ids: list[int]


class ChannelFolderAddEvent(TypedDict):
    id: int
    type: EventTypeChannelFolder
    op: EventOpAdd
    channel_folder: ChannelFolder


class ChannelFolderChange(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str]
    rendered_description: NotRequired[str]
    is_archived: NotRequired[bool]


class ChannelFolderUpdateEvent(TypedDict):
    id: int
    type: EventTypeChannelFolder
    op: EventOpUpdate
    channel_folder_id: int
    data: ChannelFolderChange


class ChannelFolderReorderEvent(TypedDict):
    id: int
    type: EventTypeChannelFolder
    op: EventOpReorder
    order: list[int]


class RealmUserAddEvent(TypedDict):
    id: int
    type: EventTypeRealmUser
    op: EventOpAdd
    person: User


class ProfileValueChange(TypedDict):
    id: int
    value: str | None
    rendered_value: NotRequired[str]


AvatarSource: TypeAlias = Literal["G", "U"]


class UserChange(TypedDict):
    user_id: int
    full_name: NotRequired[str]
    role: NotRequired[Role]
    is_active: NotRequired[bool]
    is_deleted: NotRequired[bool]
    timezone: NotRequired[str]
    bot_owner_id: NotRequired[int]
    delivery_email: NotRequired[str | None]
    new_email: NotRequired[str]
    avatar_source: NotRequired[AvatarSource]
    avatar_url: NotRequired[str]
    avatar_url_medium: NotRequired[str]
    avatar_version: NotRequired[int]
    custom_profile_field: NotRequired[ProfileValueChange]


class RealmUserUpdateEvent(TypedDict):
    id: int
    type: EventTypeRealmUser
    op: EventOpUpdate
    person: UserChange


class RealmBotAddEvent(TypedDict):
    id: int
    type: EventTypeRealmBot
    op: EventOpAdd
    bot: ManagedBot


class BotChange(TypedDict):
    user_id: int
    full_name: NotRequired[str]
    email: NotRequired[str]
    avatar_url: NotRequired[str]
    is_active: NotRequired[bool]
    owner_id: NotRequired[int]
    services: NotRequired[list[BotService]]


class RealmBotUpdateEvent(TypedDict):
    id: int
    type: EventTypeRealmBot
    op: EventOpUpdate
    bot: BotChange


class GoneBot(TypedDict):
    user_id: int


class RealmBotDeleteEvent(TypedDict):
    id: int
    type: EventTypeRealmBot
    op: EventOpDelete
    bot: GoneBot


class UserGroupAddEvent(TypedDict):
    id: int
    type: EventTypeUserGroup
    op: EventOpAdd
    group: UserGroup


class UserGroupAddMembersEvent(TypedDict):
    id: int
    type: EventTypeUserGroup
    op: EventOpAddMembers
    group_id: int
    user_ids: list[int]


class UserGroupRemoveMembersEvent(TypedDict):
    id: int
    type: EventTypeUserGroup
    op: EventOpRemoveMembers
    group_id: int
    user_ids: list[int]


class UserGroupAddSubgroupsEvent(TypedDict):
    id: int
    type: EventTypeUserGroup
    op: EventOpAddSubgroups
    group_id: int
    direct_subgroup_ids: list[int]


class UserGroupRemoveSubgroupsEvent(TypedDict):
    id: int
    type: EventTypeUserGroup
    op: EventOpRemoveSubgroups
    group_id: int
    direct_subgroup_ids: list[int]


class UserGroupUpdateEvent(TypedDict):
    id: int
    type: EventTypeUserGroup
    op: EventOpUpdate
    group_id: int
    data: UserGroupChange


class UserGroupChange(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str]
    deactivated: NotRequired[bool]
    can_add_members_group: NotRequired[GroupSettingValue]
    can_join_group: NotRequired[GroupSettingValue]
    can_leave_group: NotRequired[GroupSettingValue]
    can_manage_group: NotRequired[GroupSettingValue]
    can_mention_group: NotRequired[GroupSettingValue]
    can_remove_members_group: NotRequired[GroupSettingValue]


class UserGroupRemoveEvent(TypedDict):
    id: int
    type: EventTypeUserGroup
    op: EventOpRemove
    group_id: int


class UserStatusEvent(TypedDict):
    id: int
    type: EventTypeUserStatus
    user_id: int
    away: NotRequired[bool]
    status_text: NotRequired[str]
    emoji_name: NotRequired[str]
    emoji_code: NotRequired[str]
    reaction_type: NotRequired[Literal["unicode_emoji", "realm_emoji", "zulip_extra_emoji"]]


class RealmChange(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str]
    default_language: NotRequired[str]
    email_address_visibility: NotRequired[EmailAddressVisibility]
    emails_restricted_to_domains: NotRequired[bool]
    disallow_disposable_email_addresses: NotRequired[bool]
    name_changes_disabled: NotRequired[bool]
    email_changes_disabled: NotRequired[bool]
    avatar_changes_disabled: NotRequired[bool]
    require_unique_names: NotRequired[bool]
    enable_read_receipts: NotRequired[bool]
    enable_spectator_access: NotRequired[bool]
    topics_policy: NotRequired[RealmTopicsPolicy]
    empty_topic_display_name: NotRequired[str]
    welcome_message_custom_text: NotRequired[str]
    message_retention_days: NotRequired[int]
    allow_message_editing: NotRequired[bool]
    message_edit_history_visibility_policy: NotRequired[EditHistoryVisibility]
    message_content_edit_limit_seconds: NotRequired[int | None]
    message_content_delete_limit_seconds: NotRequired[int | None]
    move_messages_within_stream_limit_seconds: NotRequired[int | None]
    move_messages_between_streams_limit_seconds: NotRequired[int | None]
    moderation_request_channel_id: NotRequired[int]
    new_stream_announcements_stream_id: NotRequired[int]
    owner_full_content_access: NotRequired[bool]
    can_access_all_users_group: NotRequired[GroupSettingValue]
    can_add_custom_emoji_group: NotRequired[GroupSettingValue]
    can_add_subscribers_group: NotRequired[GroupSettingValue]
    can_create_bots_group: NotRequired[GroupSettingValue]
    can_create_groups: NotRequired[GroupSettingValue]
    can_create_private_channel_group: NotRequired[GroupSettingValue]
    can_create_public_channel_group: NotRequired[GroupSettingValue]
    can_create_web_public_channel_group: NotRequired[GroupSettingValue]
    can_create_write_only_bots_group: NotRequired[GroupSettingValue]
    can_delete_any_message_group: NotRequired[GroupSettingValue]
    can_delete_own_message_group: NotRequired[GroupSettingValue]
    can_invite_users_group: NotRequired[GroupSettingValue]
    can_manage_all_groups: NotRequired[GroupSettingValue]
    can_mention_many_users_group: NotRequired[GroupSettingValue]
    can_move_messages_between_channels_group: NotRequired[GroupSettingValue]
    can_move_messages_between_topics_group: NotRequired[GroupSettingValue]
    can_resolve_topics_group: NotRequired[GroupSettingValue]
    can_set_delete_message_policy_group: NotRequired[GroupSettingValue]
    can_set_topics_policy_group: NotRequired[GroupSettingValue]
    create_multiuse_invite_group: NotRequired[GroupSettingValue]
    direct_message_initiator_group: NotRequired[GroupSettingValue]
    direct_message_permission_group: NotRequired[GroupSettingValue]
    allow_edit_history: NotRequired[bool]
    mandatory_topics: NotRequired[bool]
    wildcard_mention_policy: NotRequired[Literal[1, 2, 3, 5, 6, 7]]


class RealmUpdateDictEvent(TypedDict):
    id: int
    type: EventTypeRealm
    op: EventOpUpdateDict
    property: Literal["default"]
    data: RealmChange


class RealmUserSettingsDefaultsUpdateEvent(TypedDict):
    id: int
    type: EventTypeRealmUserSettingsDefaults
    op: EventOpUpdate
    property: str
    value: bool | int | str


class RealmDomainsAddEvent(TypedDict):
    id: int
    type: EventTypeRealmDomains
    op: EventOpAdd
    realm_domain: Domain


class RealmDomainsChangeEvent(TypedDict):
    id: int
    type: EventTypeRealmDomains
    op: EventOpChange
    realm_domain: Domain


class RealmDomainsRemoveEvent(TypedDict):
    id: int
    type: EventTypeRealmDomains
    op: EventOpRemove
    domain: str


class InvitesChangedEvent(TypedDict):
    id: int
    type: EventTypeInvitesChanged


class RealmLinkifiersEvent(TypedDict):
    id: int
    type: EventTypeRealmLinkifiers
    realm_linkifiers: list[Linkifier]


class Playground(TypedDict):
    id: int
    name: str
    pygments_language: str
    url_template: str


class RealmPlaygroundsEvent(TypedDict):
    id: int
    type: EventTypeRealmPlaygrounds
    realm_playgrounds: list[Playground]


class CustomProfileFieldsEvent(TypedDict):
    id: int
    type: EventTypeCustomProfileFields
    fields: list[ProfileField]


class RealmEmojiUpdateEvent(TypedDict):
    id: int
    type: EventTypeRealmEmoji
    op: EventOpUpdate
    realm_emoji: dict[str, RealmEmoji]


class RealmExportEvent(TypedDict):
    id: int
    type: EventTypeRealmExport
    exports: list[Export]


class RealmExportConsentEvent(TypedDict):
    id: int
    type: EventTypeRealmExportConsent
    user_id: int
    consented: bool


class UserSettingsUpdateEvent(TypedDict):
    id: int
    type: EventTypeUserSettings
    op: EventOpUpdate
    property: str
    value: bool | int | str
    language_name: NotRequired[str]


class UserTopicEvent(TypedDict):
    id: int
    type: EventTypeUserTopic
    stream_id: int
    topic_name: str
    last_updated: int
    visibility_policy: TopicVisibilityPolicy


class AlertWordsEvent(TypedDict):
    id: int
    type: EventTypeAlertWords
    alert_words: list[str]


class MutedUsersEvent(TypedDict):
    id: int
    type: EventTypeMutedUsers
    muted_users: list[MutedUser]


class MutedTopicsEvent(TypedDict):
    id: int
    type: EventTypeMutedTopics
    muted_topics: list[list[str | int]]


class DeviceAddEvent(TypedDict):
    id: int
    type: EventTypeDevice
    op: EventOpAdd
    device_id: int


class DeviceRemoveEvent(TypedDict):
    id: int
    type: EventTypeDevice
    op: EventOpRemove
    device_id: int


class DeviceUpdateEvent(TypedDict):
    id: int
    type: EventTypeDevice
    op: EventOpUpdate
    device_id: int
    push_key_id: NotRequired[int]
    push_token_id: NotRequired[str | None]
    pending_push_token_id: NotRequired[str | None]
    push_registration_error_code: NotRequired[DeviceUpdateEventPushRegistrationErrorCode]
    push_token_last_updated_timestamp: NotRequired[int]


class HasVendorTokenEvent(TypedDict):
    id: int
    type: EventTypeHasVendorToken
    value: bool


class HasZoomTokenEvent(TypedDict):
    id: int
    type: EventTypeHasZoomToken
    value: bool


class HeartbeatEvent(TypedDict):
    id: int
    type: EventTypeHeartbeat


class EventList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    events: list[Any]
    queue_id: str


class ProfileField(TypedDict):
    id: int
    name: str
    type: int
    order: int
    hint: str
    field_data: str
    required: bool
    editable_by_user: bool
    display_in_profile_summary: NotRequired[Literal[True]]
    use_for_user_matching: NotRequired[Literal[True]]


class ProfileFieldList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    custom_fields: list[ProfileField]


class ProfileFieldCreated(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    id: int


class Linkifier(TypedDict):
    id: int
    pattern: str
    url_template: str
    example_input: str | None
    reverse_template: str | None
    alternative_url_templates: list[str]


class CustomEmojiList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    emoji: dict[str, RealmEmoji]


class LinkifierList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    linkifiers: list[Linkifier]


class NarrowCondition(TypedDict):
    operator: str
    operand: NarrowOperand
    negated: NotRequired[bool]


NarrowTerm: TypeAlias = NarrowCondition | list[str]

Narrow: TypeAlias = list[NarrowTerm]

NarrowOperand: TypeAlias = str | int | list[int]


class Message(TypedDict):
    id: int
    sender_id: int
    sender_full_name: str
    sender_email: str
    sender_realm_str: str
    avatar_url: str | None
    client: str
    content: str
    content_type: ContentType
    display_recipient: DisplayRecipient
    recipient_id: int
    type: MessageType
    subject: str
    stream_id: NotRequired[int]
    timestamp: int
    last_edit_timestamp: NotRequired[int]
    last_moved_timestamp: NotRequired[int]
    edit_history: NotRequired[list[MessageEdit]]
    is_me_message: bool
    reactions: list[Reaction]
    submessages: list[Submessage]
    topic_links: list[TopicLink]
    flags: list[Flag]
    match_content: NotRequired[str]
    match_subject: NotRequired[str]


class MessageEdit(TypedDict):
    user_id: int | None
    timestamp: int
    prev_content: NotRequired[str]
    prev_rendered_content: NotRequired[str]
    prev_topic: NotRequired[str]
    topic: NotRequired[str]
    prev_stream: NotRequired[int]
    stream: NotRequired[int]


class ConversationMember(TypedDict):
    id: int
    email: str
    full_name: str
    is_mirror_dummy: bool


DisplayRecipient: TypeAlias = str | list[ConversationMember]

Flag: TypeAlias = Literal[
    "read",
    "starred",
    "collapsed",
    "mentioned",
    "stream_wildcard_mentioned",
    "topic_wildcard_mentioned",
    "group_mentioned",
    "force_expand",
    "force_collapse",
    "has_alert_word",
    "historical",
    "wildcard_mentioned",
]


class Reaction(TypedDict):
    emoji_name: str
    emoji_code: str
    reaction_type: ReactionType
    user_id: int
    user: ReactionUser


class TopicLink(TypedDict):
    text: str
    url: str


class MessageSent(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    id: int
    automatic_new_visibility_policy: NotRequired[NewVisibilityPolicy]


class MessageList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    anchor: NotRequired[int]
    messages: list[Message]
    found_anchor: bool
    found_oldest: bool
    found_newest: bool
    history_limited: Literal[False]


class OneMessage(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    message: Message
    raw_content: str


class MessageUpdated(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    detached_uploads: list[Attachment]


class MessageHistory(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    message_history: list[MessageSnapshot]


class MessageSnapshot(TypedDict):
    topic: str
    content: str
    rendered_content: str
    timestamp: int
    user_id: int | None
    prev_topic: NotRequired[str]
    stream: NotRequired[int]
    prev_stream: NotRequired[int]
    prev_content: NotRequired[str]
    prev_rendered_content: NotRequired[str]
    content_html_diff: NotRequired[str]


class ReadReceipts(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    user_ids: list[int]


class MatchingMessages(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    messages: dict[str, MatchingMessage]


class MatchingMessage(TypedDict):
    match_content: str
    match_subject: str


class RenderedText(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    rendered: str


class FlagsUpdatedForNarrow(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    processed_count: int
    updated_count: int
    first_processed_id: int | None
    last_processed_id: int | None
    found_oldest: bool
    found_newest: bool
    ignored_because_not_subscribed_channels: NotRequired[list[int]]


class MarkedAsRead(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    complete: bool


class PlaceMarkedAsRead(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    complete: NotRequired[Literal[False]]


class ChannelEmail(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    email: str


class TopicDeleted(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    complete: bool


class FlagsUpdated(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    messages: list[int]
    ignored_because_not_subscribed_channels: NotRequired[list[int]]


class Channel(TypedDict):
    stream_id: int
    name: str
    description: str
    rendered_description: str
    invite_only: bool
    is_web_public: bool
    history_public_to_subscribers: bool
    is_archived: bool
    is_recently_active: bool
    creator_id: int | None
    date_created: int
    first_message_id: int | None
    folder_id: int | None
    message_retention_days: int | None
    topics_policy: TopicsPolicy
    stream_post_policy: StreamPostPolicy
    is_announcement_only: bool
    subscriber_count: int
    stream_weekly_traffic: int | None
    can_add_subscribers_group: GroupSettingValue
    can_administer_channel_group: GroupSettingValue
    can_create_topic_group: GroupSettingValue
    can_delete_any_message_group: GroupSettingValue
    can_delete_own_message_group: GroupSettingValue
    can_move_messages_out_of_channel_group: GroupSettingValue
    can_move_messages_within_channel_group: GroupSettingValue
    can_remove_subscribers_group: GroupSettingValue
    can_resolve_topics_group: GroupSettingValue
    can_send_message_group: GroupSettingValue
    can_subscribe_group: GroupSettingValue
    is_default: NotRequired[bool]


class ChannelList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    streams: list[Channel]


class OneChannel(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    stream: Channel


class ChannelSubscribers(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    subscribers: list[int]


class SubscriptionStatus(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    is_subscribed: bool


class ChannelId(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    stream_id: int


class Subscription(TypedDict):
    stream_id: int
    name: str
    description: str
    rendered_description: str
    invite_only: bool
    is_web_public: bool
    history_public_to_subscribers: bool
    is_archived: bool
    is_recently_active: bool
    creator_id: int | None
    date_created: int
    first_message_id: int | None
    folder_id: int | None
    message_retention_days: int | None
    topics_policy: TopicsPolicy
    stream_post_policy: StreamPostPolicy
    is_announcement_only: bool
    subscriber_count: int
    stream_weekly_traffic: int | None
    can_add_subscribers_group: GroupSettingValue
    can_administer_channel_group: GroupSettingValue
    can_create_topic_group: GroupSettingValue
    can_delete_any_message_group: GroupSettingValue
    can_delete_own_message_group: GroupSettingValue
    can_move_messages_out_of_channel_group: GroupSettingValue
    can_move_messages_within_channel_group: GroupSettingValue
    can_remove_subscribers_group: GroupSettingValue
    can_resolve_topics_group: GroupSettingValue
    can_send_message_group: GroupSettingValue
    can_subscribe_group: GroupSettingValue
    color: str
    is_muted: bool
    in_home_view: bool
    pin_to_top: bool
    desktop_notifications: bool | None
    audible_notifications: bool | None
    push_notifications: bool | None
    email_notifications: bool | None
    wildcard_mentions_notify: bool | None
    subscribers: NotRequired[list[int]]


class SubscriptionList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    subscriptions: list[Subscription]


IncludeSubscribers: TypeAlias = Literal["partial"] | bool


class ChannelToSubscribe(TypedDict):
    name: str
    description: NotRequired[str]
    color: NotRequired[str]


class ChannelCreated(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    id: int


class Subscribed(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    subscribed: dict[str, list[str]]
    already_subscribed: dict[str, list[str]]
    unauthorized: NotRequired[list[str]]
    new_subscription_messages_sent: NotRequired[bool]


class Unsubscribed(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    removed: list[str]
    not_removed: list[str]


class SubscriptionsUpdated(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    removed: NotRequired[list[str]]
    not_removed: NotRequired[list[str]]
    subscribed: NotRequired[dict[str, list[str]]]
    already_subscribed: NotRequired[dict[str, list[str]]]
    new_subscription_messages_sent: NotRequired[bool]


SubscriptionProperty: TypeAlias = Literal[
    "color",
    "is_muted",
    "in_home_view",
    "pin_to_top",
    "desktop_notifications",
    "audible_notifications",
    "push_notifications",
    "email_notifications",
    "wildcard_mentions_notify",
]

SubscriptionValue: TypeAlias = bool | str


class SubscriptionChange(TypedDict):
    stream_id: int
    property: SubscriptionProperty
    value: SubscriptionValue


class Topic(TypedDict):
    name: str
    max_id: int


class UserTopicList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    user_topics: list[UserTopic]


class OwnSettings(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    settings: UserSettings


class TopicList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    topics: list[Topic]


class ChannelFolder(TypedDict):
    id: int
    name: str
    description: str
    rendered_description: str
    creator_id: int | None
    date_created: int
    is_archived: bool
    order: int


class ChannelFolderList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    channel_folders: list[ChannelFolder]


class ChannelFolderCreated(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    channel_folder_id: int


class CreateChannelFolderForm(TypedDict):
    name: str
    description: str


class DefaultChannelForm(TypedDict):
    stream_id: int


class UpdateChannelForm(TypedDict):
    new_name: NotRequired[str]
    description: NotRequired[str]
    is_archived: NotRequired[bool]
    is_private: NotRequired[bool]
    is_web_public: NotRequired[bool]
    history_public_to_subscribers: NotRequired[bool]
    is_default_stream: NotRequired[bool]
    message_retention_days: NotRequired[RetentionDays]
    topics_policy: NotRequired[TopicsPolicy]
    folder_id: NotRequired[int | None]
    can_add_subscribers_group: NotRequired[GroupSettingUpdate]
    can_administer_channel_group: NotRequired[GroupSettingUpdate]
    can_create_topic_group: NotRequired[GroupSettingUpdate]
    can_delete_any_message_group: NotRequired[GroupSettingUpdate]
    can_delete_own_message_group: NotRequired[GroupSettingUpdate]
    can_move_messages_out_of_channel_group: NotRequired[GroupSettingUpdate]
    can_move_messages_within_channel_group: NotRequired[GroupSettingUpdate]
    can_remove_subscribers_group: NotRequired[GroupSettingUpdate]
    can_resolve_topics_group: NotRequired[GroupSettingUpdate]
    can_send_message_group: NotRequired[GroupSettingUpdate]
    can_subscribe_group: NotRequired[GroupSettingUpdate]


class UpdateChannelFolderForm(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str]
    is_archived: NotRequired[bool]


class ReorderChannelFoldersForm(TypedDict):
    order: list[int]


class CreatePlaygroundForm(TypedDict):
    name: str
    syntax_language: NotRequired[str]
    pygments_language: NotRequired[str]
    url_template: str


class PlaygroundCreated(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    id: int


class Domain(TypedDict):
    domain: str
    allow_subdomains: bool


class DomainList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    domains: list[Domain]


class CreateDomainForm(TypedDict):
    domain: str
    allow_subdomains: bool


class UpdateDomainForm(TypedDict):
    allow_subdomains: bool


class DomainCreated(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    new_domain: list[DomainIdOrName]


DomainIdOrName: TypeAlias = int | str

ExportType: TypeAlias = Literal["public", "full_with_consent", "full_without_consent"]


class CreateExportForm(TypedDict):
    export_type: NotRequired[ExportType]


class ExportCreated(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    id: int


class ExportList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    exports: list[Export]


class Export(TypedDict):
    id: int
    acting_user_id: int
    export_time: float
    deleted_timestamp: float | None
    failed_timestamp: float | None
    export_url: str | None
    pending: bool
    export_type: ExportType


class ExportConsentList(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    export_consents: list[ExportConsent]


class ExportConsent(TypedDict):
    user_id: int
    consented: bool
    email_address_visibility: EmailAddressVisibility


class RegisteredQueue(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    queue_id: str
    last_event_id: int
    zulip_version: str
    zulip_feature_level: int
    zulip_merge_base: str
    event_queue_longpoll_timeout_seconds: int
    idle_queue_timeout_secs: int
    alert_words: NotRequired[list[str]]
    channel_folders: NotRequired[list[ChannelFolder]]
    custom_profile_fields: NotRequired[list[ProfileField]]
    custom_profile_field_types: NotRequired[dict[str, ProfileFieldKind]]
    realm_default_stream_groups: NotRequired[list[dict[str, Any]]]
    realm_default_streams: NotRequired[list[int]]
    devices: NotRequired[dict[str, Device]]
    drafts: NotRequired[list[Draft]]
    gif_rating_policy_options: NotRequired[dict[str, Any]]
    giphy_rating_options: NotRequired[dict[str, Any]]
    max_message_id: NotRequired[int]
    unread_msgs: NotRequired[UnreadMessages]
    muted_topics: NotRequired[list[MutedTopic]]
    muted_users: NotRequired[list[MutedUser]]
    navigation_views: NotRequired[list[NavigationView]]
    onboarding_steps: NotRequired[list[dict[str, Any]]]
    presences: NotRequired[dict[str, Presence]]
    presence_last_update_id: NotRequired[int]
    server_timestamp: NotRequired[float]
    realm_name: NotRequired[str]
    realm_description: NotRequired[str]
    realm_default_language: NotRequired[str]
    realm_email_address_visibility: NotRequired[EmailAddressVisibility]
    realm_emails_restricted_to_domains: NotRequired[bool]
    realm_disallow_disposable_email_addresses: NotRequired[bool]
    realm_name_changes_disabled: NotRequired[bool]
    realm_email_changes_disabled: NotRequired[bool]
    realm_avatar_changes_disabled: NotRequired[bool]
    realm_require_unique_names: NotRequired[bool]
    realm_enable_spectator_access: NotRequired[bool]
    realm_topics_policy: NotRequired[RealmTopicsPolicy]
    realm_empty_topic_display_name: NotRequired[str]
    realm_welcome_message_custom_text: NotRequired[str]
    realm_message_retention_days: NotRequired[int]
    realm_allow_message_editing: NotRequired[bool]
    realm_message_edit_history_visibility_policy: NotRequired[EditHistoryVisibility]
    realm_message_content_edit_limit_seconds: NotRequired[int | None]
    realm_message_content_delete_limit_seconds: NotRequired[int | None]
    realm_move_messages_within_stream_limit_seconds: NotRequired[int | None]
    realm_move_messages_between_streams_limit_seconds: NotRequired[int | None]
    realm_moderation_request_channel_id: NotRequired[int]
    realm_new_stream_announcements_stream_id: NotRequired[int]
    realm_signup_announcements_stream_id: NotRequired[int]
    realm_zulip_update_announcements_stream_id: NotRequired[int]
    realm_can_access_all_users_group: NotRequired[GroupSettingValue]
    realm_can_add_custom_emoji_group: NotRequired[GroupSettingValue]
    realm_can_add_subscribers_group: NotRequired[GroupSettingValue]
    realm_can_create_bots_group: NotRequired[GroupSettingValue]
    realm_can_create_groups: NotRequired[GroupSettingValue]
    realm_can_create_private_channel_group: NotRequired[GroupSettingValue]
    realm_can_create_public_channel_group: NotRequired[GroupSettingValue]
    realm_can_create_web_public_channel_group: NotRequired[GroupSettingValue]
    realm_can_create_write_only_bots_group: NotRequired[GroupSettingValue]
    realm_can_delete_any_message_group: NotRequired[GroupSettingValue]
    realm_can_delete_own_message_group: NotRequired[GroupSettingValue]
    realm_can_invite_users_group: NotRequired[GroupSettingValue]
    realm_can_manage_all_groups: NotRequired[GroupSettingValue]
    realm_can_mention_many_users_group: NotRequired[GroupSettingValue]
    realm_can_move_messages_between_channels_group: NotRequired[GroupSettingValue]
    realm_can_move_messages_between_topics_group: NotRequired[GroupSettingValue]
    realm_can_resolve_topics_group: NotRequired[GroupSettingValue]
    realm_can_set_delete_message_policy_group: NotRequired[GroupSettingValue]
    realm_can_set_topics_policy_group: NotRequired[GroupSettingValue]
    realm_create_multiuse_invite_group: NotRequired[GroupSettingValue]
    realm_direct_message_initiator_group: NotRequired[GroupSettingValue]
    realm_direct_message_permission_group: NotRequired[GroupSettingValue]
    realm_owner_full_content_access: NotRequired[bool]
    realm_url: NotRequired[str]
    realm_uri: NotRequired[str]
    realm_bot_domain: NotRequired[str]
    realm_date_created: NotRequired[int]
    realm_icon_url: NotRequired[str]
    realm_icon_source: NotRequired[Literal["G"]]
    realm_email_auth_enabled: NotRequired[bool]
    realm_password_auth_enabled: NotRequired[bool]
    realm_push_notifications_enabled: NotRequired[bool]
    realm_push_notifications_enabled_end_timestamp: NotRequired[int | None]
    realm_allow_edit_history: NotRequired[bool]
    realm_mandatory_topics: NotRequired[bool]
    realm_wildcard_mention_policy: NotRequired[Literal[1, 2, 3, 5, 6, 7]]
    realm_waiting_period_threshold: NotRequired[int]
    realm_default_code_block_language: NotRequired[str]
    realm_enable_read_receipts: NotRequired[bool]
    realm_presence_disabled: NotRequired[bool]
    realm_default_external_accounts: NotRequired[dict[str, ExternalAccount]]
    max_message_length: NotRequired[int]
    max_topic_length: NotRequired[int]
    max_stream_name_length: NotRequired[int]
    max_stream_description_length: NotRequired[int]
    max_channel_folder_name_length: NotRequired[int]
    max_channel_folder_description_length: NotRequired[int]
    max_reminder_note_length: NotRequired[int]
    max_avatar_file_size_mib: NotRequired[int]
    max_file_upload_size_mib: NotRequired[int]
    realm_upload_quota_mib: NotRequired[int]
    password_min_length: NotRequired[int]
    password_max_length: NotRequired[int]
    password_min_guesses: NotRequired[int]
    server_presence_ping_interval_seconds: NotRequired[int]
    server_presence_offline_threshold_seconds: NotRequired[int]
    server_typing_started_expiry_period_milliseconds: NotRequired[int]
    server_typing_stopped_wait_period_milliseconds: NotRequired[int]
    server_typing_started_wait_period_milliseconds: NotRequired[int]
    server_avatar_changes_disabled: NotRequired[bool]
    server_name_changes_disabled: NotRequired[bool]
    server_needs_upgrade: NotRequired[bool]
    server_thumbnail_formats: NotRequired[list[ThumbnailFormat]]
    server_generation: NotRequired[int]
    server_supported_permission_settings: NotRequired[SupportedPermissionSettings]
    server_emoji_data_url: NotRequired[str]
    server_report_message_types: NotRequired[list[ReportReason]]
    server_web_public_streams_enabled: NotRequired[bool]
    development_environment: NotRequired[bool]
    giphy_api_key: NotRequired[str]
    settings_send_digest_emails: NotRequired[bool]
    zulip_plan_is_not_limited: NotRequired[bool]
    realm_bots: NotRequired[list[ManagedBot]]
    realm_domains: NotRequired[list[Domain]]
    realm_embedded_bots: NotRequired[list[dict[str, Any]]]
    realm_emoji: NotRequired[dict[str, RealmEmoji]]
    realm_incoming_webhook_bots: NotRequired[list[dict[str, Any]]]
    realm_linkifiers: NotRequired[list[Linkifier]]
    realm_playgrounds: NotRequired[list[Playground]]
    realm_users: NotRequired[list[User]]
    realm_non_active_users: NotRequired[list[User]]
    cross_realm_bots: NotRequired[list[SystemBot]]
    user_id: NotRequired[int]
    email: NotRequired[str]
    delivery_email: NotRequired[str]
    full_name: NotRequired[str]
    avatar_source: NotRequired[AvatarSource]
    avatar_url_medium: NotRequired[str]
    avatar_url: NotRequired[str]
    is_owner: NotRequired[bool]
    is_admin: NotRequired[bool]
    is_moderator: NotRequired[bool]
    is_guest: NotRequired[bool]
    realm_user_groups: NotRequired[list[UserGroup]]
    realm_user_settings_defaults: NotRequired[UserSettings]
    recent_private_conversations: NotRequired[list[RecentConversation]]
    reminders: NotRequired[list[Reminder]]
    saved_snippets: NotRequired[list[SavedSnippet]]
    scheduled_messages: NotRequired[list[ScheduledMessage]]
    starred_messages: NotRequired[list[int]]
    stop_words: NotRequired[list[dict[str, Any]]]
    streams: NotRequired[list[Channel]]
    subscriptions: NotRequired[list[Subscription]]
    unsubscribed: NotRequired[list[Subscription]]
    never_subscribed: NotRequired[list[UnsubscribedChannel]]
    twenty_four_hour_time: NotRequired[bool]
    pm_content_in_desktop_notifications: NotRequired[bool]
    user_settings: NotRequired[UserSettings]
    user_status: NotRequired[dict[str, SnapshotStatus]]
    user_topics: NotRequired[list[UserTopic]]
    has_vendor_token: NotRequired[bool]
    has_zoom_token: NotRequired[bool]


class UnreadMessages(TypedDict):
    count: int
    pms: list[UnreadConversation]
    streams: list[UnreadTopic]
    huddles: list[UnreadGroupConversation]
    mentions: list[int]
    old_unreads_missing: bool


class UnreadConversation(TypedDict):
    other_user_id: int
    sender_id: int
    unread_message_ids: list[int]


class UnreadTopic(TypedDict):
    stream_id: int
    topic: str
    unread_message_ids: list[int]


class UnreadGroupConversation(TypedDict):
    user_ids_string: str
    unread_message_ids: list[int]


class RecentConversation(TypedDict):
    max_message_id: int
    user_ids: list[int]


MutedTopic: TypeAlias = list[str | int]


class UserTopic(TypedDict):
    stream_id: int
    topic_name: str
    last_updated: int
    visibility_policy: TopicVisibilityPolicy


class SystemBot(TypedDict):
    user_id: int
    delivery_email: str | None
    email: str
    full_name: str
    date_joined: str
    is_active: bool
    is_owner: bool
    is_admin: bool
    is_guest: bool
    is_bot: bool
    bot_type: int | None
    bot_owner_id: int | None
    role: Role
    timezone: str
    avatar_url: str | None
    avatar_version: int
    is_imported_stub: bool
    is_system_bot: Literal[True]


class UnsubscribedChannel(TypedDict):
    stream_id: int
    name: str
    description: str
    rendered_description: str
    invite_only: bool
    is_web_public: bool
    history_public_to_subscribers: bool
    is_archived: bool
    is_recently_active: bool
    creator_id: int | None
    date_created: int
    first_message_id: int | None
    folder_id: int | None
    message_retention_days: int | None
    topics_policy: TopicsPolicy
    stream_post_policy: StreamPostPolicy
    is_announcement_only: bool
    subscriber_count: int
    stream_weekly_traffic: int | None
    can_add_subscribers_group: GroupSettingValue
    can_administer_channel_group: GroupSettingValue
    can_create_topic_group: GroupSettingValue
    can_delete_any_message_group: GroupSettingValue
    can_delete_own_message_group: GroupSettingValue
    can_move_messages_out_of_channel_group: GroupSettingValue
    can_move_messages_within_channel_group: GroupSettingValue
    can_remove_subscribers_group: GroupSettingValue
    can_resolve_topics_group: GroupSettingValue
    can_send_message_group: GroupSettingValue
    can_subscribe_group: GroupSettingValue
    subscribers: NotRequired[list[int]]


class ThumbnailFormat(TypedDict):
    name: str
    max_width: int
    max_height: int
    format: str
    animated: bool


class RealmEmoji(TypedDict):
    id: str
    name: str
    source_url: str
    still_url: str | None
    deactivated: bool
    author_id: int | None


class SupportedPermissionSettings(TypedDict):
    realm: dict[str, SupportedPermission]
    stream: dict[str, SupportedPermission]
    group: dict[str, SupportedPermission]


class SupportedPermission(TypedDict):
    require_system_group: bool
    allow_internet_group: bool
    allow_nobody_group: bool
    allow_everyone_group: bool
    default_group_name: str
    default_for_system_groups: str | None
    allowed_system_groups: list[str]


class ProfileFieldKind(TypedDict):
    id: int
    name: str


class ExternalAccount(TypedDict):
    name: str
    text: str
    hint: str
    url_pattern: str


class ReportReason(TypedDict):
    key: ReportType
    name: str


class SnapshotStatus(TypedDict):
    away: NotRequired[Literal[True]]
    status_text: NotRequired[str]
    emoji_name: NotRequired[str]
    emoji_code: NotRequired[str]
    reaction_type: NotRequired[Literal["unicode_emoji", "realm_emoji", "zulip_extra_emoji"]]


class UserSettings(TypedDict):
    allow_private_data_export: bool
    automatically_follow_topics_policy: AutomaticTopicPolicy
    automatically_follow_topics_where_mentioned: bool
    automatically_unmute_topics_in_muted_streams_policy: AutomaticTopicPolicy
    color_scheme: ColorScheme
    default_language: str
    demote_inactive_streams: AutomaticPolicy
    desktop_icon_count_display: DesktopIconCount
    display_emoji_reaction_users: bool
    email_address_visibility: EmailAddressVisibility
    email_notifications_batching_period_seconds: int
    emojiset: Literal["text", "google", "twitter"]
    enable_desktop_notifications: bool
    enable_digest_emails: bool
    enable_drafts_synchronization: bool
    enable_followed_topic_audible_notifications: bool
    enable_followed_topic_desktop_notifications: bool
    enable_followed_topic_email_notifications: bool
    enable_followed_topic_push_notifications: bool
    enable_followed_topic_wildcard_mentions_notify: bool
    enable_login_emails: bool
    enable_marketing_emails: bool
    enable_offline_email_notifications: bool
    enable_offline_push_notifications: bool
    enable_online_push_notifications: bool
    enable_sounds: bool
    enable_stream_audible_notifications: bool
    enable_stream_desktop_notifications: bool
    enable_stream_email_notifications: bool
    enable_stream_push_notifications: bool
    enter_sends: bool
    fluid_layout_width: bool
    hide_ai_features: bool
    high_contrast_mode: bool
    left_side_userlist: bool
    message_content_in_email_notifications: bool
    notification_sound: Literal["zulip", "ding", "none"]
    pm_content_in_desktop_notifications: bool
    presence_enabled: bool
    realm_name_in_email_notifications_policy: AutomaticPolicy
    receives_typing_notifications: bool
    resolved_topic_notice_auto_read_policy: ResolvedTopicNoticePolicy
    send_private_typing_notifications: bool
    send_read_receipts: bool
    send_stream_typing_notifications: bool
    starred_message_counts: bool
    timezone: str
    translate_emoticons: bool
    twenty_four_hour_time: bool
    user_list_style: UserListStyle
    web_animate_image_previews: AnimateImagePreviews
    web_channel_default_view: ChannelDefaultView
    web_escape_navigates_to_home_view: bool
    web_font_size_px: int
    web_home_view: HomeView
    web_inbox_show_channel_folders: bool
    web_left_sidebar_show_channel_folders: bool
    web_left_sidebar_unreads_count_summary: bool
    web_line_height_percent: int
    web_mark_read_on_scroll_policy: MarkReadOnScroll
    web_navigate_to_sent_message: bool
    web_stream_unreads_count_display_policy: UnreadCountDisplay
    web_suggest_update_timezone: bool
    wildcard_mentions_notify: bool


class LinkifierForm(TypedDict):
    pattern: str
    url_template: str
    example_input: NotRequired[str]
    reverse_template: NotRequired[str]
    alternative_url_templates: NotRequired[list[str]]


class LinkifierCreated(TypedDict):
    result: ResultSuccess
    msg: MsgEmpty
    ignored_parameters_unsupported: NotRequired[IgnoredParameters]
    id: int


class ClientCapabilities(TypedDict):
    notification_settings_null: NotRequired[bool]
    bulk_message_deletion: NotRequired[bool]
    user_avatar_url_field_optional: NotRequired[bool]
    stream_typing_notifications: NotRequired[bool]
    user_settings_object: NotRequired[bool]
    linkifier_url_template: NotRequired[bool]
    user_list_incomplete: NotRequired[bool]
    include_deactivated_groups: NotRequired[bool]
    archived_channels: NotRequired[bool]
    empty_topic_name: NotRequired[bool]
    simplified_presence_events: NotRequired[bool]
    individual_emoji_changes: NotRequired[bool]


IdleQueueTimeout: TypeAlias = Literal["mobile"] | int


class RegisterQueueForm(TypedDict):
    event_types: NotRequired[list[str] | None]
    fetch_event_types: NotRequired[list[str] | None]
    apply_markdown: NotRequired[bool]
    client_gravatar: NotRequired[bool]
    slim_presence: NotRequired[bool]
    include_subscribers: NotRequired[IncludeSubscribers]
    all_public_streams: NotRequired[bool]
    narrow: NotRequired[Narrow]
    client_capabilities: NotRequired[ClientCapabilities]
    idle_queue_timeout: NotRequired[IdleQueueTimeout]
    presence_history_limit_days: NotRequired[int]


class ReorderLinkifiersForm(TypedDict):
    ordered_linkifier_ids: list[int]


class ReorderProfileFieldsForm(TypedDict):
    order: list[int]


class UpdateProfileFieldForm(TypedDict):
    name: NotRequired[str]
    hint: NotRequired[str]
    field_data: NotRequired[ProfileFieldData]
    display_in_profile_summary: NotRequired[bool]
    required: NotRequired[bool]
    editable_by_user: NotRequired[bool]
    use_for_user_matching: NotRequired[bool]


class ClearOwnProfileDataForm(TypedDict):
    data: list[int]


class CreateCallForm(TypedDict):
    is_video_call: NotRequired[bool]


class CreateProfileFieldForm(TypedDict):
    name: NotRequired[str]
    hint: NotRequired[str]
    field_type: int
    field_data: NotRequired[ProfileFieldData]
    display_in_profile_summary: NotRequired[bool]
    required: NotRequired[bool]
    editable_by_user: NotRequired[bool]
    use_for_user_matching: NotRequired[bool]


ProfileFieldData: TypeAlias = dict[str, Any]


class AlertWordsForm(TypedDict):
    alert_words: list[str]


class CreateDraftsForm(TypedDict):
    drafts: list[DraftData]


class UpdateDraftForm(TypedDict):
    draft: DraftData


class CreateCustomEmojiForm(TypedDict):
    file: str


class UploadOwnAvatarForm(TypedDict):
    file: str


class UploadFileForm(TypedDict):
    file: str


class AddNavigationViewForm(TypedDict):
    fragment: str
    is_pinned: bool
    name: NotRequired[str]


class UpdateNavigationViewForm(TypedDict):
    is_pinned: NotRequired[bool]
    name: NotRequired[str]


class CreateReminderForm(TypedDict):
    message_id: int
    scheduled_delivery_timestamp: int
    note: NotRequired[str]


class CreateSavedSnippetForm(TypedDict):
    title: str
    content: str


class RemoveBotStorageForm(TypedDict):
    keys: NotRequired[list[str]]


class UpdateSavedSnippetForm(TypedDict):
    title: NotRequired[str]
    content: NotRequired[str]


class CreateScheduledMessageForm(TypedDict):
    type: RecipientType
    to: ScheduledTo
    content: str
    topic: NotRequired[str]
    scheduled_delivery_timestamp: int
    read_by_sender: NotRequired[bool]
    client: NotRequired[str]


class CreateBotForm(TypedDict):
    full_name: str
    short_name: str
    bot_type: NotRequired[BotType]
    payload_url: NotRequired[str]
    interface_type: NotRequired[BotInterface]


class CreateUserForm(TypedDict):
    email: str
    password: str
    full_name: str


class CreateUserGroupForm(TypedDict):
    name: str
    description: str
    members: list[int]
    subgroups: NotRequired[list[int]]
    can_add_members_group: NotRequired[GroupSettingValue]
    can_join_group: NotRequired[GroupSettingValue]
    can_leave_group: NotRequired[GroupSettingValue]
    can_manage_group: NotRequired[GroupSettingValue]
    can_mention_group: NotRequired[GroupSettingValue]
    can_remove_members_group: NotRequired[GroupSettingValue]


class UpdateUserGroupForm(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str]
    deactivated: NotRequired[bool]
    can_add_members_group: NotRequired[GroupSettingChange]
    can_join_group: NotRequired[GroupSettingChange]
    can_leave_group: NotRequired[GroupSettingChange]
    can_manage_group: NotRequired[GroupSettingChange]
    can_mention_group: NotRequired[GroupSettingChange]
    can_remove_members_group: NotRequired[GroupSettingChange]


class UpdateUserGroupMembersForm(TypedDict):
    add: NotRequired[list[int]]
    delete: NotRequired[list[int]]
    add_subgroups: NotRequired[list[int]]
    delete_subgroups: NotRequired[list[int]]


class UpdateUserGroupSubgroupsForm(TypedDict):
    add: NotRequired[list[int]]
    delete: NotRequired[list[int]]


class SendInvitationsForm(TypedDict):
    invitee_emails: str
    stream_ids: list[int]
    group_ids: NotRequired[list[int]]
    invite_as: NotRequired[Role]
    invite_expires_in_minutes: NotRequired[int | None]
    include_realm_default_subscriptions: NotRequired[bool]
    notify_referrer_on_join: NotRequired[bool]


class CreateInvitationLinkForm(TypedDict):
    stream_ids: NotRequired[list[int]]
    group_ids: NotRequired[list[int]]
    invite_as: NotRequired[Role]
    invite_expires_in_minutes: NotRequired[int | None]
    include_realm_default_subscriptions: NotRequired[bool]


class EditInvitationLinkForm(TypedDict):
    stream_ids: NotRequired[list[int]]
    group_ids: NotRequired[list[int]]
    invite_as: NotRequired[Role]
    include_realm_default_subscriptions: NotRequired[bool]


class AcceptInvitationForm(TypedDict):
    full_name: NotRequired[str]
    password: NotRequired[str]
    email: NotRequired[str]


class CreateZoomCallForm(TypedDict):
    is_video_call: NotRequired[bool]


class DeactivateUserForm(TypedDict):
    actions: NotRequired[AccountDeletion]
    deactivation_notification_comment: NotRequired[str]


class AccountDeletion(TypedDict):
    delete_profile: NotRequired[bool]
    delete_public_channel_messages: NotRequired[bool]
    delete_private_channel_messages: NotRequired[bool]
    delete_direct_messages: NotRequired[bool]


class DevFetchApiKeyForm(TypedDict):
    username: str


class FetchApiKeyForm(TypedDict):
    username: str
    password: str


class JwtFetchApiKeyForm(TypedDict):
    token: NotRequired[str]
    include_profile: NotRequired[bool]


class RegisterPushDeviceForm(TypedDict):
    device_id: int
    push_key: NotRequired[str]
    push_key_id: NotRequired[int]
    token_kind: NotRequired[PushTokenKind]
    token_id: NotRequired[str]
    bouncer_public_key: NotRequired[str]
    encrypted_push_registration: NotRequired[str]


class RemoveClientDeviceForm(TypedDict):
    device_id: int


class RenderTextForm(TypedDict):
    content: str


class AddSubmessageForm(TypedDict):
    message_id: int
    msg_type: Literal["widget"]
    content: WidgetChange


class AddReactionForm(TypedDict):
    emoji_name: str
    emoji_code: NotRequired[str]
    reaction_type: NotRequired[AddReactionFormReactionType]


class RemoveReactionForm(TypedDict):
    emoji_name: NotRequired[str]
    emoji_code: NotRequired[str]
    reaction_type: NotRequired[RemoveReactionFormReactionType]


class ReportMessageForm(TypedDict):
    report_type: ReportType
    description: NotRequired[str]


ScheduledTo: TypeAlias = int | list[int]


class SendMessageForm(TypedDict):
    type: RecipientType
    to: MessageRecipients
    content: str
    topic: NotRequired[str]
    subject: NotRequired[str]
    read_by_sender: NotRequired[bool]
    client: NotRequired[str]
    queue_id: NotRequired[str]
    local_id: NotRequired[str]


MessageRecipients: TypeAlias = int | str | list[int] | list[str]


class SendTestPushNotificationForm(TypedDict):
    device_id: NotRequired[int]


TypingOp: TypeAlias = Literal["start", "stop"]


class SetTypingStatusForm(TypedDict):
    op: TypingOp
    type: NotRequired[RecipientType]
    to: NotRequired[list[int]]
    stream_id: NotRequired[int]
    topic: NotRequired[str]


class SetEditTypingStatusForm(TypedDict):
    op: TypingOp


class MarkChannelAsReadForm(TypedDict):
    stream_id: int


class MarkTopicAsReadForm(TypedDict):
    stream_id: int
    topic_name: str


class DeleteTopicForm(TypedDict):
    topic_name: str


class SetUserTopicForm(TypedDict):
    stream_id: int
    topic: str
    visibility_policy: TopicVisibilityPolicy


class SubscribeForm(TypedDict):
    announce: NotRequired[bool]
    invite_only: NotRequired[bool]
    is_web_public: NotRequired[bool]
    is_default_stream: NotRequired[bool]
    history_public_to_subscribers: NotRequired[bool]
    message_retention_days: NotRequired[RetentionDays]
    topics_policy: NotRequired[TopicsPolicy]
    can_add_subscribers_group: NotRequired[GroupSettingValue]
    can_administer_channel_group: NotRequired[GroupSettingValue]
    can_create_topic_group: NotRequired[GroupSettingValue]
    can_delete_any_message_group: NotRequired[GroupSettingValue]
    can_delete_own_message_group: NotRequired[GroupSettingValue]
    can_move_messages_out_of_channel_group: NotRequired[GroupSettingValue]
    can_move_messages_within_channel_group: NotRequired[GroupSettingValue]
    can_remove_subscribers_group: NotRequired[GroupSettingValue]
    can_resolve_topics_group: NotRequired[GroupSettingValue]
    can_send_message_group: NotRequired[GroupSettingValue]
    can_subscribe_group: NotRequired[GroupSettingValue]
    folder_id: NotRequired[int]
    send_new_subscription_messages: NotRequired[bool]
    subscriptions: list[ChannelToSubscribe]
    principals: NotRequired[Principals]
    authorization_errors_fatal: NotRequired[bool]


class CreateChannelForm(TypedDict):
    announce: NotRequired[bool]
    invite_only: NotRequired[bool]
    is_web_public: NotRequired[bool]
    is_default_stream: NotRequired[bool]
    history_public_to_subscribers: NotRequired[bool]
    message_retention_days: NotRequired[RetentionDays]
    topics_policy: NotRequired[TopicsPolicy]
    can_add_subscribers_group: NotRequired[GroupSettingValue]
    can_administer_channel_group: NotRequired[GroupSettingValue]
    can_create_topic_group: NotRequired[GroupSettingValue]
    can_delete_any_message_group: NotRequired[GroupSettingValue]
    can_delete_own_message_group: NotRequired[GroupSettingValue]
    can_move_messages_out_of_channel_group: NotRequired[GroupSettingValue]
    can_move_messages_within_channel_group: NotRequired[GroupSettingValue]
    can_remove_subscribers_group: NotRequired[GroupSettingValue]
    can_resolve_topics_group: NotRequired[GroupSettingValue]
    can_send_message_group: NotRequired[GroupSettingValue]
    can_subscribe_group: NotRequired[GroupSettingValue]
    folder_id: NotRequired[int]
    send_new_subscription_messages: NotRequired[bool]
    name: str
    description: NotRequired[str]
    subscribers: list[int]


RetentionDays: TypeAlias = int | str

Principals: TypeAlias = list[int] | list[str]


class DeleteQueueForm(TypedDict):
    queue_id: str


class UpdateSubscriptionsForm(TypedDict):
    add: NotRequired[list[ChannelToSubscribe]]
    delete: NotRequired[list[str]]


class UnsubscribeForm(TypedDict):
    subscriptions: list[str]
    principals: NotRequired[Principals]


class UpdateMessageFlagsForNarrowForm(TypedDict):
    anchor: str
    include_anchor: NotRequired[bool]
    num_before: int
    num_after: int
    narrow: Narrow
    op: str
    flag: str


class UpdateMessageFlagsForm(TypedDict):
    messages: list[int]
    op: str
    flag: str


class UpdateMessageForm(TypedDict):
    content: NotRequired[str]
    prev_content_sha256: NotRequired[str]
    topic: NotRequired[str]
    subject: NotRequired[str]
    stream_id: NotRequired[int]
    propagate_mode: NotRequired[PropagateMode]
    send_notification_to_old_thread: NotRequired[bool]
    send_notification_to_new_thread: NotRequired[bool]


class UpdateMutedTopicForm(TypedDict):
    op: MuteOperation
    stream: NotRequired[str]
    stream_id: NotRequired[int]
    topic: str


class UpdateOwnPresenceForm(TypedDict):
    status: PresenceStatus
    ping_only: NotRequired[bool]
    new_user_input: NotRequired[bool]
    slim_presence: NotRequired[bool]
    last_update_id: NotRequired[int]
    history_limit_days: NotRequired[int]


class UpdateOwnProfileDataForm(TypedDict):
    data: ProfileChanges


class UpdateOwnStatusForm(TypedDict):
    status_text: NotRequired[str]
    away: NotRequired[bool]
    emoji_name: NotRequired[str]
    emoji_code: NotRequired[str]
    reaction_type: NotRequired[UpdateOwnStatusFormReactionType]


class UpdateUserStatusForm(TypedDict):
    status_text: NotRequired[str]
    emoji_name: NotRequired[str]
    emoji_code: NotRequired[str]
    reaction_type: NotRequired[UpdateUserStatusFormReactionType]


class TryWelcomeMessageForm(TypedDict):
    welcome_message_custom_text: str


class UpdateRealmForm(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str]
    default_language: NotRequired[str]
    email_address_visibility: NotRequired[EmailAddressVisibility]
    emails_restricted_to_domains: NotRequired[bool]
    disallow_disposable_email_addresses: NotRequired[bool]
    name_changes_disabled: NotRequired[bool]
    email_changes_disabled: NotRequired[bool]
    avatar_changes_disabled: NotRequired[bool]
    require_unique_names: NotRequired[bool]
    enable_read_receipts: NotRequired[bool]
    enable_spectator_access: NotRequired[bool]
    topics_policy: NotRequired[RealmTopicsPolicy]
    empty_topic_display_name: NotRequired[str]
    welcome_message_custom_text: NotRequired[str]
    message_retention_days: NotRequired[Days]
    allow_message_editing: NotRequired[bool]
    message_edit_history_visibility_policy: NotRequired[EditHistoryVisibility]
    message_content_edit_limit_seconds: NotRequired[Seconds]
    message_content_delete_limit_seconds: NotRequired[Seconds]
    move_messages_within_stream_limit_seconds: NotRequired[Seconds]
    move_messages_between_streams_limit_seconds: NotRequired[Seconds]
    moderation_request_channel_id: NotRequired[ChannelOrNone]
    new_stream_announcements_stream_id: NotRequired[ChannelOrNone]
    can_access_all_users_group: NotRequired[GroupSettingUpdate]
    can_add_custom_emoji_group: NotRequired[GroupSettingUpdate]
    can_add_subscribers_group: NotRequired[GroupSettingUpdate]
    can_create_bots_group: NotRequired[GroupSettingUpdate]
    can_create_groups: NotRequired[GroupSettingUpdate]
    can_create_private_channel_group: NotRequired[GroupSettingUpdate]
    can_create_public_channel_group: NotRequired[GroupSettingUpdate]
    can_create_web_public_channel_group: NotRequired[GroupSettingUpdate]
    can_create_write_only_bots_group: NotRequired[GroupSettingUpdate]
    can_delete_any_message_group: NotRequired[GroupSettingUpdate]
    can_delete_own_message_group: NotRequired[GroupSettingUpdate]
    can_invite_users_group: NotRequired[GroupSettingUpdate]
    can_manage_all_groups: NotRequired[GroupSettingUpdate]
    can_mention_many_users_group: NotRequired[GroupSettingUpdate]
    can_move_messages_between_channels_group: NotRequired[GroupSettingUpdate]
    can_move_messages_between_topics_group: NotRequired[GroupSettingUpdate]
    can_resolve_topics_group: NotRequired[GroupSettingUpdate]
    can_set_delete_message_policy_group: NotRequired[GroupSettingUpdate]
    can_set_topics_policy_group: NotRequired[GroupSettingUpdate]
    create_multiuse_invite_group: NotRequired[GroupSettingUpdate]
    direct_message_initiator_group: NotRequired[GroupSettingUpdate]
    direct_message_permission_group: NotRequired[GroupSettingUpdate]


class UpdateScheduledMessageForm(TypedDict):
    type: NotRequired[RecipientType]
    to: NotRequired[ScheduledTo]
    content: NotRequired[str]
    topic: NotRequired[str]
    scheduled_delivery_timestamp: NotRequired[int]
    client: NotRequired[str]


class UpdateSettingsForm(TypedDict):
    target_users: NotRequired[TargetUsers]
    full_name: NotRequired[str]
    email: NotRequired[str]
    old_password: NotRequired[str]
    new_password: NotRequired[str]
    allow_private_data_export: NotRequired[bool]
    automatically_follow_topics_policy: NotRequired[AutomaticTopicPolicy]
    automatically_follow_topics_where_mentioned: NotRequired[bool]
    automatically_unmute_topics_in_muted_streams_policy: NotRequired[AutomaticTopicPolicy]
    color_scheme: NotRequired[ColorScheme]
    default_language: NotRequired[str]
    demote_inactive_streams: NotRequired[AutomaticPolicy]
    desktop_icon_count_display: NotRequired[DesktopIconCount]
    display_emoji_reaction_users: NotRequired[bool]
    email_address_visibility: NotRequired[EmailAddressVisibility]
    email_notifications_batching_period_seconds: NotRequired[int]
    emojiset: NotRequired[Emojiset]
    enable_desktop_notifications: NotRequired[bool]
    enable_digest_emails: NotRequired[bool]
    enable_drafts_synchronization: NotRequired[bool]
    enable_followed_topic_audible_notifications: NotRequired[bool]
    enable_followed_topic_desktop_notifications: NotRequired[bool]
    enable_followed_topic_email_notifications: NotRequired[bool]
    enable_followed_topic_push_notifications: NotRequired[bool]
    enable_followed_topic_wildcard_mentions_notify: NotRequired[bool]
    enable_login_emails: NotRequired[bool]
    enable_marketing_emails: NotRequired[bool]
    enable_offline_email_notifications: NotRequired[bool]
    enable_offline_push_notifications: NotRequired[bool]
    enable_online_push_notifications: NotRequired[bool]
    enable_sounds: NotRequired[bool]
    enable_stream_audible_notifications: NotRequired[bool]
    enable_stream_desktop_notifications: NotRequired[bool]
    enable_stream_email_notifications: NotRequired[bool]
    enable_stream_push_notifications: NotRequired[bool]
    enter_sends: NotRequired[bool]
    fluid_layout_width: NotRequired[bool]
    hide_ai_features: NotRequired[bool]
    high_contrast_mode: NotRequired[bool]
    left_side_userlist: NotRequired[bool]
    message_content_in_email_notifications: NotRequired[bool]
    notification_sound: NotRequired[str]
    pm_content_in_desktop_notifications: NotRequired[bool]
    presence_enabled: NotRequired[bool]
    realm_name_in_email_notifications_policy: NotRequired[AutomaticPolicy]
    receives_typing_notifications: NotRequired[bool]
    resolved_topic_notice_auto_read_policy: NotRequired[ResolvedTopicNoticePolicy]
    send_private_typing_notifications: NotRequired[bool]
    send_read_receipts: NotRequired[bool]
    send_stream_typing_notifications: NotRequired[bool]
    starred_message_counts: NotRequired[bool]
    timezone: NotRequired[str]
    translate_emoticons: NotRequired[bool]
    twenty_four_hour_time: NotRequired[bool]
    user_list_style: NotRequired[UserListStyle]
    web_animate_image_previews: NotRequired[AnimateImagePreviews]
    web_channel_default_view: NotRequired[ChannelDefaultView]
    web_escape_navigates_to_home_view: NotRequired[bool]
    web_font_size_px: NotRequired[int]
    web_home_view: NotRequired[HomeView]
    web_inbox_show_channel_folders: NotRequired[bool]
    web_left_sidebar_show_channel_folders: NotRequired[bool]
    web_left_sidebar_unreads_count_summary: NotRequired[bool]
    web_line_height_percent: NotRequired[int]
    web_mark_read_on_scroll_policy: NotRequired[MarkReadOnScroll]
    web_navigate_to_sent_message: NotRequired[bool]
    web_stream_unreads_count_display_policy: NotRequired[UnreadCountDisplay]
    web_suggest_update_timezone: NotRequired[bool]
    wildcard_mentions_notify: NotRequired[bool]


class UpdateUserDefaultsForm(TypedDict):
    automatically_follow_topics_policy: NotRequired[AutomaticTopicPolicy]
    automatically_follow_topics_where_mentioned: NotRequired[bool]
    automatically_unmute_topics_in_muted_streams_policy: NotRequired[AutomaticTopicPolicy]
    color_scheme: NotRequired[ColorScheme]
    demote_inactive_streams: NotRequired[AutomaticPolicy]
    desktop_icon_count_display: NotRequired[DesktopIconCount]
    display_emoji_reaction_users: NotRequired[bool]
    email_address_visibility: NotRequired[EmailAddressVisibility]
    email_notifications_batching_period_seconds: NotRequired[int]
    emojiset: NotRequired[Emojiset]
    enable_desktop_notifications: NotRequired[bool]
    enable_digest_emails: NotRequired[bool]
    enable_drafts_synchronization: NotRequired[bool]
    enable_followed_topic_audible_notifications: NotRequired[bool]
    enable_followed_topic_desktop_notifications: NotRequired[bool]
    enable_followed_topic_email_notifications: NotRequired[bool]
    enable_followed_topic_push_notifications: NotRequired[bool]
    enable_followed_topic_wildcard_mentions_notify: NotRequired[bool]
    enable_login_emails: NotRequired[bool]
    enable_marketing_emails: NotRequired[bool]
    enable_offline_email_notifications: NotRequired[bool]
    enable_offline_push_notifications: NotRequired[bool]
    enable_online_push_notifications: NotRequired[bool]
    enable_sounds: NotRequired[bool]
    enable_stream_audible_notifications: NotRequired[bool]
    enable_stream_desktop_notifications: NotRequired[bool]
    enable_stream_email_notifications: NotRequired[bool]
    enable_stream_push_notifications: NotRequired[bool]
    enter_sends: NotRequired[bool]
    fluid_layout_width: NotRequired[bool]
    hide_ai_features: NotRequired[bool]
    high_contrast_mode: NotRequired[bool]
    left_side_userlist: NotRequired[bool]
    message_content_in_email_notifications: NotRequired[bool]
    notification_sound: NotRequired[str]
    pm_content_in_desktop_notifications: NotRequired[bool]
    presence_enabled: NotRequired[bool]
    realm_name_in_email_notifications_policy: NotRequired[AutomaticPolicy]
    receives_typing_notifications: NotRequired[bool]
    resolved_topic_notice_auto_read_policy: NotRequired[ResolvedTopicNoticePolicy]
    send_private_typing_notifications: NotRequired[bool]
    send_read_receipts: NotRequired[bool]
    send_stream_typing_notifications: NotRequired[bool]
    starred_message_counts: NotRequired[bool]
    translate_emoticons: NotRequired[bool]
    twenty_four_hour_time: NotRequired[bool]
    user_list_style: NotRequired[UserListStyle]
    web_animate_image_previews: NotRequired[AnimateImagePreviews]
    web_channel_default_view: NotRequired[ChannelDefaultView]
    web_escape_navigates_to_home_view: NotRequired[bool]
    web_font_size_px: NotRequired[int]
    web_home_view: NotRequired[HomeView]
    web_inbox_show_channel_folders: NotRequired[bool]
    web_left_sidebar_show_channel_folders: NotRequired[bool]
    web_left_sidebar_unreads_count_summary: NotRequired[bool]
    web_line_height_percent: NotRequired[int]
    web_mark_read_on_scroll_policy: NotRequired[MarkReadOnScroll]
    web_navigate_to_sent_message: NotRequired[bool]
    web_stream_unreads_count_display_policy: NotRequired[UnreadCountDisplay]
    web_suggest_update_timezone: NotRequired[bool]
    wildcard_mentions_notify: NotRequired[bool]


class TargetUsers(TypedDict):
    user_ids: NotRequired[list[int]]
    group_ids: NotRequired[list[int]]
    skip_if_already_edited: NotRequired[bool]


class UpdateSubscriptionSettingForm(TypedDict):
    property: SubscriptionProperty
    value: SubscriptionValue


class UpdateSubscriptionSettingsForm(TypedDict):
    subscription_data: list[SubscriptionChange]


class UpdateBotForm(TypedDict):
    full_name: NotRequired[str]
    role: NotRequired[Role]
    bot_owner_id: NotRequired[int]
    service_payload_url: NotRequired[str]
    service_interface: NotRequired[BotInterface]


class UpdateBotStorageForm(TypedDict):
    storage: dict[str, str]


class UpdateUserForm(TypedDict):
    full_name: NotRequired[str]
    role: NotRequired[Role]
    profile_data: NotRequired[ProfileChanges]
    new_email: NotRequired[str]


ClearOwnProfileDataParameters: TypeAlias = ClearOwnProfileDataForm

CreateCallParameters: TypeAlias = CreateCallForm

CreateChannelParameters: TypeAlias = CreateChannelForm

CreateChannelFolderParameters: TypeAlias = CreateChannelFolderForm

CreateDomainParameters: TypeAlias = CreateDomainForm

CreateExportParameters: TypeAlias = CreateExportForm

CreatePlaygroundParameters: TypeAlias = CreatePlaygroundForm

CreateProfileFieldParameters: TypeAlias = CreateProfileFieldForm

AlertWordsParameters: TypeAlias = AlertWordsForm

CreateDraftsParameters: TypeAlias = CreateDraftsForm

UpdateDraftParameters: TypeAlias = UpdateDraftForm

CreateBotParameters: TypeAlias = CreateBotForm

UpdateBotParameters: TypeAlias = UpdateBotForm

UpdateBotStorageParameters: TypeAlias = UpdateBotStorageForm

RemoveBotStorageParameters: TypeAlias = RemoveBotStorageForm

AddNavigationViewParameters: TypeAlias = AddNavigationViewForm

UpdateNavigationViewParameters: TypeAlias = UpdateNavigationViewForm

CreateReminderParameters: TypeAlias = CreateReminderForm

CreateSavedSnippetParameters: TypeAlias = CreateSavedSnippetForm

UpdateSavedSnippetParameters: TypeAlias = UpdateSavedSnippetForm

CreateScheduledMessageParameters: TypeAlias = CreateScheduledMessageForm

CreateUserParameters: TypeAlias = CreateUserForm

CreateUserGroupParameters: TypeAlias = CreateUserGroupForm

UpdateUserGroupParameters: TypeAlias = UpdateUserGroupForm

UpdateUserGroupMembersParameters: TypeAlias = UpdateUserGroupMembersForm

UpdateUserGroupSubgroupsParameters: TypeAlias = UpdateUserGroupSubgroupsForm

SendInvitationsParameters: TypeAlias = SendInvitationsForm

CreateInvitationLinkParameters: TypeAlias = CreateInvitationLinkForm

EditInvitationLinkParameters: TypeAlias = EditInvitationLinkForm

AcceptInvitationParameters: TypeAlias = AcceptInvitationForm

CreateZoomCallParameters: TypeAlias = CreateZoomCallForm

DeactivateUserParameters: TypeAlias = DeactivateUserForm

DevFetchApiKeyParameters: TypeAlias = DevFetchApiKeyForm

FetchApiKeyParameters: TypeAlias = FetchApiKeyForm

JwtFetchApiKeyParameters: TypeAlias = JwtFetchApiKeyForm

LinkifierParameters: TypeAlias = LinkifierForm

RegisterPushDeviceParameters: TypeAlias = RegisterPushDeviceForm

RegisterQueueParameters: TypeAlias = RegisterQueueForm

RemoveClientDeviceParameters: TypeAlias = RemoveClientDeviceForm

RenderTextParameters: TypeAlias = RenderTextForm

ReorderChannelFoldersParameters: TypeAlias = ReorderChannelFoldersForm

ReorderLinkifiersParameters: TypeAlias = ReorderLinkifiersForm

ReorderProfileFieldsParameters: TypeAlias = ReorderProfileFieldsForm

AddSubmessageParameters: TypeAlias = AddSubmessageForm

AddReactionParameters: TypeAlias = AddReactionForm

RemoveReactionParameters: TypeAlias = RemoveReactionForm

ReportMessageParameters: TypeAlias = ReportMessageForm

SendMessageParameters: TypeAlias = SendMessageForm

SendTestPushNotificationParameters: TypeAlias = SendTestPushNotificationForm

SetTypingStatusParameters: TypeAlias = SetTypingStatusForm

SetEditTypingStatusParameters: TypeAlias = SetEditTypingStatusForm

MarkChannelAsReadParameters: TypeAlias = MarkChannelAsReadForm

MarkTopicAsReadParameters: TypeAlias = MarkTopicAsReadForm

DeleteTopicParameters: TypeAlias = DeleteTopicForm

SetUserTopicParameters: TypeAlias = SetUserTopicForm

SubscribeParameters: TypeAlias = SubscribeForm

DeleteQueueParameters: TypeAlias = DeleteQueueForm

UnsubscribeParameters: TypeAlias = UnsubscribeForm

DefaultChannelParameters: TypeAlias = DefaultChannelForm

UpdateChannelParameters: TypeAlias = UpdateChannelForm

UpdateChannelFolderParameters: TypeAlias = UpdateChannelFolderForm

UpdateDomainParameters: TypeAlias = UpdateDomainForm

UpdateMessageParameters: TypeAlias = UpdateMessageForm

UpdateMessageFlagsParameters: TypeAlias = UpdateMessageFlagsForm

UpdateMessageFlagsForNarrowParameters: TypeAlias = UpdateMessageFlagsForNarrowForm

UpdateMutedTopicParameters: TypeAlias = UpdateMutedTopicForm

UpdateOwnPresenceParameters: TypeAlias = UpdateOwnPresenceForm

UpdateOwnProfileDataParameters: TypeAlias = UpdateOwnProfileDataForm

UpdateOwnStatusParameters: TypeAlias = UpdateOwnStatusForm

UpdateUserStatusParameters: TypeAlias = UpdateUserStatusForm

UpdateProfileFieldParameters: TypeAlias = UpdateProfileFieldForm

TryWelcomeMessageParameters: TypeAlias = TryWelcomeMessageForm

UpdateRealmParameters: TypeAlias = UpdateRealmForm

UpdateScheduledMessageParameters: TypeAlias = UpdateScheduledMessageForm

UpdateSettingsParameters: TypeAlias = UpdateSettingsForm

UpdateUserDefaultsParameters: TypeAlias = UpdateUserDefaultsForm

UpdateSubscriptionSettingParameters: TypeAlias = UpdateSubscriptionSettingForm

UpdateSubscriptionSettingsParameters: TypeAlias = UpdateSubscriptionSettingsForm

UpdateSubscriptionsParameters: TypeAlias = UpdateSubscriptionsForm

UpdateUserParameters: TypeAlias = UpdateUserForm

UserStatusReactionType: TypeAlias = Literal["unicode_emoji", "realm_emoji", "service_extra_emoji"]

UpdateUserStatusReactionType: TypeAlias = Literal[
    "unicode_emoji",
    "realm_emoji",
    "service_extra_emoji",
    "zulip_extra_emoji",
]

UpdateOwnStatusReactionType: TypeAlias = Literal[
    "unicode_emoji",
    "realm_emoji",
    "service_extra_emoji",
    "zulip_extra_emoji",
]

DevicePushRegistrationErrorCodeValue: TypeAlias = Literal[
    "INVALID_BOUNCER_PUBLIC_KEY",
    "INVALID_ENCRYPTED_PUSH_REGISTRATION",
    "REQUEST_EXPIRED",
    "BAD_REQUEST",
]


class ReactionUser(TypedDict):
    email: str
    full_name: str
    id: int


AddReactionReactionType: TypeAlias = Literal[
    "unicode_emoji",
    "realm_emoji",
    "service_extra_emoji",
    "zulip_extra_emoji",
]

RemoveReactionReactionType: TypeAlias = Literal[
    "unicode_emoji",
    "realm_emoji",
    "service_extra_emoji",
    "zulip_extra_emoji",
]

DeviceUpdateEventPushRegistrationErrorCodeValue: TypeAlias = Literal[
    "INVALID_BOUNCER_PUBLIC_KEY",
    "INVALID_ENCRYPTED_PUSH_REGISTRATION",
    "REQUEST_EXPIRED",
    "BAD_REQUEST",
]

DeviceUpdateEventPushRegistrationErrorCode: TypeAlias = (
    DeviceUpdateEventPushRegistrationErrorCodeValue | None
)

AddReactionFormReactionType: TypeAlias = Literal[
    "unicode_emoji",
    "realm_emoji",
    "service_extra_emoji",
    "zulip_extra_emoji",
]

RemoveReactionFormReactionType: TypeAlias = Literal[
    "unicode_emoji",
    "realm_emoji",
    "service_extra_emoji",
    "zulip_extra_emoji",
]

UpdateOwnStatusFormReactionType: TypeAlias = Literal[
    "unicode_emoji",
    "realm_emoji",
    "service_extra_emoji",
    "zulip_extra_emoji",
]

UpdateUserStatusFormReactionType: TypeAlias = Literal[
    "unicode_emoji",
    "realm_emoji",
    "service_extra_emoji",
    "zulip_extra_emoji",
]


if TYPE_CHECKING:
    from specd import Response
    from handlers.chat import server_settings as _server_settings
    from handlers.chat import sign_in as _sign_in
    from handlers.chat import users as _users
    from handlers.chat import bots as _bots
    from handlers.chat import bot_storage as _bot_storage
    from handlers.chat import incoming_webhooks as _incoming_webhooks
    from handlers.chat import presence as _presence
    from handlers.chat import scheduled_messages as _scheduled_messages
    from handlers.chat import reminders as _reminders
    from handlers.chat import muted_users as _muted_users
    from handlers.chat import alert_words as _alert_words
    from handlers.chat import drafts as _drafts
    from handlers.chat import saved_snippets as _saved_snippets
    from handlers.chat import uploads as _uploads
    from handlers.chat import navigation_views as _navigation_views
    from handlers.chat import events as _events
    from handlers.chat import user_groups as _user_groups
    from handlers.chat import settings as _settings
    from handlers.chat import invitations as _invitations
    from handlers.chat import realm as _realm
    from handlers.chat import profile_fields as _profile_fields
    from handlers.chat import linkifiers as _linkifiers
    from handlers.chat import custom_emoji as _custom_emoji
    from handlers.chat import messages as _messages
    from handlers.chat import typing_status as _typing_status
    from handlers.chat import message_flags as _message_flags
    from handlers.chat import submessages as _submessages
    from handlers.chat import reactions as _reactions
    from handlers.chat import channels as _channels
    from handlers.chat import subscriptions as _subscriptions
    from handlers.chat import topics as _topics
    from handlers.chat import mobile_push as _mobile_push
    from handlers.chat import calls as _calls
    from handlers.chat import channel_folders as _channel_folders
    from handlers.chat import playgrounds as _playgrounds
    from handlers.chat import domains as _domains
    from handlers.chat import exports as _exports

    _Body = TypeVar("_Body")
    _Status = TypeVar("_Status")
    _Reply: TypeAlias = tuple[_Body, _Status] | tuple[_Body, _Status, Mapping[str, str]]
    _Returned: TypeAlias = _Body | Response | Awaitable[_Body | Response]
    _Pieces: TypeAlias = str | bytes | Iterator[Any] | AsyncIterator[Any]
    _GetServerSettingsReply: TypeAlias = (
        ServerSettings
        | _Reply[ServerSettings, Literal[200]]
        | _Reply[ErrorResponse, Literal[400, 404, 414, 429, 431, 500, 503]]
    )

    class _GetServerSettings(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_GetServerSettingsReply]: ...

    _FetchApiKeyReply: TypeAlias = (
        ApiKey
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[ApiKey, Literal[200]]
    )

    class _FetchApiKey(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            username: str,
            password: str,
        ) -> _Returned[_FetchApiKeyReply]: ...

    _DevFetchApiKeyReply: TypeAlias = (
        ApiKey
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[ApiKey, Literal[200]]
    )

    class _DevFetchApiKey(Protocol):
        def __call__(self, ctx: Never, *, username: str) -> _Returned[_DevFetchApiKeyReply]: ...

    _JwtFetchApiKeyReply: TypeAlias = (
        TokenApiKey
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[TokenApiKey, Literal[200]]
    )

    class _JwtFetchApiKey(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            token: str,
            include_profile: bool,
        ) -> _Returned[_JwtFetchApiKeyReply]: ...

    _SessionFetchApiKeyReply: TypeAlias = (
        SessionApiKey
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 414, 429, 431, 500, 503]]
        | _Reply[SessionApiKey, Literal[200]]
    )

    class _SessionFetchApiKey(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_SessionFetchApiKeyReply]: ...

    _BeginSessionReply: TypeAlias = (
        BegunSession
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 414, 429, 431, 500, 503]]
        | _Reply[BegunSession, Literal[200]]
    )

    class _BeginSession(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_BeginSessionReply]: ...

    _ListOwnSessionsReply: TypeAlias = (
        SessionList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[SessionList, Literal[200]]
    )

    class _ListOwnSessions(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_ListOwnSessionsReply]: ...

    _EndSessionReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 414, 429, 431, 500, 503]]
        | _Reply[Success, Literal[200]]
    )

    class _EndSession(Protocol):
        def __call__(self, ctx: Never, *, session_id: int) -> _Returned[_EndSessionReply]: ...

    _ListUsersReply: TypeAlias = (
        UserList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[UserList, Literal[200]]
    )

    class _ListUsers(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            client_extavatar: bool = ...,
            include_custom_profile_fields: bool = ...,
            user_ids: list[int] = ...,
        ) -> _Returned[_ListUsersReply]: ...

    _CreateUserReply: TypeAlias = (
        UserCreated
        | _Reply[UserCreated, Literal[200]]
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 409, 413, 414, 415, 422, 429]]
        | _Reply[ErrorResponse, Literal[431, 500, 503]]
    )

    class _CreateUser(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            idempotency_key: str = ...,
            email: str,
            password: str,
            full_name: str,
        ) -> _Returned[_CreateUserReply]: ...

    _GetUserByEmailReply: TypeAlias = (
        OneUser
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[OneUser, Literal[200]]
    )

    class _GetUserByEmail(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            email: str,
            client_extavatar: bool = ...,
            include_custom_profile_fields: bool = ...,
        ) -> _Returned[_GetUserByEmailReply]: ...

    _UpdateUserByEmailReply: TypeAlias = (
        Success
        | _Reply[Success, Literal[200]]
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 405, 408, 413, 414, 415, 429, 431]]
        | _Reply[ErrorResponse, Literal[500, 503]]
    )

    class _UpdateUserByEmail(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            email: str,
            full_name: str = ...,
            role: Role = ...,
            profile_data: ProfileChanges = ...,
            new_email: str = ...,
        ) -> _Returned[_UpdateUserByEmailReply]: ...

    _GetUserReply: TypeAlias = (
        OneUser
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[OneUser, Literal[200]]
    )

    class _GetUser(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            user_id: int,
            client_extavatar: bool = ...,
            include_custom_profile_fields: bool = ...,
        ) -> _Returned[_GetUserReply]: ...

    _UpdateUserReply: TypeAlias = (
        Success
        | _Reply[Success, Literal[200]]
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 405, 408, 413, 414, 415, 429, 431]]
        | _Reply[ErrorResponse, Literal[500, 503]]
    )

    class _UpdateUser(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            user_id: int,
            full_name: str = ...,
            role: Role = ...,
            profile_data: ProfileChanges = ...,
            new_email: str = ...,
        ) -> _Returned[_UpdateUserReply]: ...

    _DeactivateUserReply: TypeAlias = (
        Success
        | _Reply[Success, Literal[200]]
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 405, 408, 413, 414, 415, 429, 431]]
        | _Reply[ErrorResponse, Literal[500, 503]]
    )

    class _DeactivateUser(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            user_id: int,
            actions: AccountDeletion = ...,
            deactivation_notification_comment: str = ...,
        ) -> _Returned[_DeactivateUserReply]: ...

    _ReactivateUserReply: TypeAlias = (
        ReactivatedUser
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[ReactivatedUser, Literal[200]]
    )

    class _ReactivateUser(Protocol):
        def __call__(self, ctx: Never, *, user_id: int) -> _Returned[_ReactivateUserReply]: ...

    _UpdateOwnProfileDataReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _UpdateOwnProfileData(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            data: ProfileChanges,
        ) -> _Returned[_UpdateOwnProfileDataReply]: ...

    _ClearOwnProfileDataReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _ClearOwnProfileData(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            data: list[int],
        ) -> _Returned[_ClearOwnProfileDataReply]: ...

    _UploadOwnAvatarReply: TypeAlias = (
        OwnAvatar
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[OwnAvatar, Literal[200]]
    )

    class _UploadOwnAvatar(Protocol):
        def __call__(self, ctx: Never, *, file: Any) -> _Returned[_UploadOwnAvatarReply]: ...

    _DeleteOwnAvatarReply: TypeAlias = (
        OwnAvatar
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 414, 429, 431, 500, 503]]
        | _Reply[OwnAvatar, Literal[200]]
    )

    class _DeleteOwnAvatar(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_DeleteOwnAvatarReply]: ...

    _GetUserStatusReply: TypeAlias = (
        OneUserStatus
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[OneUserStatus, Literal[200]]
    )

    class _GetUserStatus(Protocol):
        def __call__(self, ctx: Never, *, user_id: int) -> _Returned[_GetUserStatusReply]: ...

    _UpdateUserStatusReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _UpdateUserStatus(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            user_id: int,
            status_text: str = ...,
            emoji_name: str = ...,
            emoji_code: str = ...,
            reaction_type: UpdateUserStatusReactionType = ...,
        ) -> _Returned[_UpdateUserStatusReply]: ...

    _UpdateOwnStatusReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _UpdateOwnStatus(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            status_text: str = ...,
            away: bool = ...,
            emoji_name: str = ...,
            emoji_code: str = ...,
            reaction_type: UpdateOwnStatusReactionType = ...,
        ) -> _Returned[_UpdateOwnStatusReply]: ...

    _ListBotsReply: TypeAlias = (
        BotList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[BotList, Literal[200]]
    )

    class _ListBots(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_ListBotsReply]: ...

    _CreateBotReply: TypeAlias = (
        BotCreated
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[BotCreated, Literal[200]]
    )

    class _CreateBot(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            full_name: str,
            short_name: str,
            bot_type: BotType = ...,
            payload_url: str = ...,
            interface_type: BotInterface = ...,
        ) -> _Returned[_CreateBotReply]: ...

    _UpdateBotReply: TypeAlias = (
        BotChanged
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[BotChanged, Literal[200]]
    )

    class _UpdateBot(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            bot_id: int,
            full_name: str = ...,
            role: Role = ...,
            bot_owner_id: int = ...,
            service_payload_url: str = ...,
            service_interface: BotInterface = ...,
        ) -> _Returned[_UpdateBotReply]: ...

    _DeactivateBotReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 414, 429, 431, 500, 503]]
        | _Reply[Success, Literal[200]]
    )

    class _DeactivateBot(Protocol):
        def __call__(self, ctx: Never, *, bot_id: int) -> _Returned[_DeactivateBotReply]: ...

    _RegenerateBotApiKeyReply: TypeAlias = (
        RenewedBotApiKey
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[RenewedBotApiKey, Literal[200]]
    )

    class _RegenerateBotApiKey(Protocol):
        def __call__(self, ctx: Never, *, bot_id: int) -> _Returned[_RegenerateBotApiKeyReply]: ...

    _GetBotStorageReply: TypeAlias = (
        BotStorageContent
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[BotStorageContent, Literal[200]]
    )

    class _GetBotStorage(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            keys: list[str] = ...,
        ) -> _Returned[_GetBotStorageReply]: ...

    _UpdateBotStorageReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _UpdateBotStorage(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            storage: dict[str, str],
        ) -> _Returned[_UpdateBotStorageReply]: ...

    _RemoveBotStorageReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _RemoveBotStorage(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            keys: list[str] = ...,
        ) -> _Returned[_RemoveBotStorageReply]: ...

    _ReceiveJsonReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _ReceiveJson(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            api_key: str,
            stream: str = ...,
            topic: str = ...,
            body: AnyObject | PayloadForm,
        ) -> _Returned[_ReceiveJsonReply]: ...

    _ReceiveWebhookReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503, 409, 422]]
        | _Reply[Success, Literal[200]]
    )

    class _ReceiveWebhook(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            integration: Literal["alertmanager", "github", "grafana", "slack_incoming"],
            api_key: str,
            stream: str = ...,
            topic: str = ...,
            only_events: list[str] = ...,
            exclude_events: list[str] = ...,
            webhook_secret: str = ...,
            branches: str = ...,
            ignore_private_repositories: bool = ...,
            name: str = ...,
            desc: str = ...,
            x_git_hub_event: str = ...,
            x_git_hub_delivery: str = ...,
            x_hub_signature_256: str = ...,
            body: AnyObject | PayloadForm,
        ) -> _Returned[_ReceiveWebhookReply]: ...

    _UpdateOwnPresenceReply: TypeAlias = (
        PresenceUpdate
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[PresenceUpdate, Literal[200]]
    )

    class _UpdateOwnPresence(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            status: PresenceStatus,
            ping_only: bool,
            new_user_input: bool,
            slim_presence: bool,
            last_update_id: int = ...,
            history_limit_days: int = ...,
        ) -> _Returned[_UpdateOwnPresenceReply]: ...

    _GetUserPresenceReply: TypeAlias = (
        OneUserPresence
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[OneUserPresence, Literal[200]]
    )

    class _GetUserPresence(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            user_id_or_email: str,
        ) -> _Returned[_GetUserPresenceReply]: ...

    _GetRealmPresenceReply: TypeAlias = (
        RealmPresence
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[RealmPresence, Literal[200]]
    )

    class _GetRealmPresence(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_GetRealmPresenceReply]: ...

    _ListScheduledMessagesReply: TypeAlias = (
        ScheduledMessageList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[ScheduledMessageList, Literal[200]]
    )

    class _ListScheduledMessages(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_ListScheduledMessagesReply]: ...

    _CreateScheduledMessageReply: TypeAlias = (
        ScheduledMessageCreated
        | _Reply[ScheduledMessageCreated, Literal[200]]
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 409, 413, 414, 415, 422, 429]]
        | _Reply[ErrorResponse, Literal[431, 500, 503]]
    )

    class _CreateScheduledMessage(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            idempotency_key: str = ...,
            type_: RecipientType,
            to: ScheduledTo,
            content: str,
            topic: str = ...,
            scheduled_delivery_timestamp: int,
            read_by_sender: bool = ...,
            client: str = ...,
        ) -> _Returned[_CreateScheduledMessageReply]: ...

    _UpdateScheduledMessageReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _UpdateScheduledMessage(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            scheduled_message_id: int,
            type_: RecipientType = ...,
            to: ScheduledTo = ...,
            content: str = ...,
            topic: str = ...,
            scheduled_delivery_timestamp: int = ...,
            client: str = ...,
        ) -> _Returned[_UpdateScheduledMessageReply]: ...

    _DeleteScheduledMessageReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 414, 429, 431, 500, 503]]
        | _Reply[Success, Literal[200]]
    )

    class _DeleteScheduledMessage(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            scheduled_message_id: int,
        ) -> _Returned[_DeleteScheduledMessageReply]: ...

    _ListRemindersReply: TypeAlias = (
        ReminderList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[ReminderList, Literal[200]]
    )

    class _ListReminders(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_ListRemindersReply]: ...

    _CreateReminderReply: TypeAlias = (
        ReminderCreated
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[ReminderCreated, Literal[200]]
    )

    class _CreateReminder(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            message_id: int,
            scheduled_delivery_timestamp: int,
            note: str = ...,
        ) -> _Returned[_CreateReminderReply]: ...

    _DeleteReminderReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 414, 429, 431, 500, 503]]
        | _Reply[Success, Literal[200]]
    )

    class _DeleteReminder(Protocol):
        def __call__(self, ctx: Never, *, reminder_id: int) -> _Returned[_DeleteReminderReply]: ...

    _MuteUserReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _MuteUser(Protocol):
        def __call__(self, ctx: Never, *, muted_user_id: int) -> _Returned[_MuteUserReply]: ...

    _UnmuteUserReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 414, 429, 431, 500, 503]]
        | _Reply[Success, Literal[200]]
    )

    class _UnmuteUser(Protocol):
        def __call__(self, ctx: Never, *, muted_user_id: int) -> _Returned[_UnmuteUserReply]: ...

    _ListAlertWordsReply: TypeAlias = (
        AlertWordList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[AlertWordList, Literal[200]]
    )

    class _ListAlertWords(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_ListAlertWordsReply]: ...

    _AddAlertWordsReply: TypeAlias = (
        AlertWordList
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[AlertWordList, Literal[200]]
    )

    class _AddAlertWords(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            alert_words: list[str],
        ) -> _Returned[_AddAlertWordsReply]: ...

    _RemoveAlertWordsReply: TypeAlias = (
        AlertWordList
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[AlertWordList, Literal[200]]
    )

    class _RemoveAlertWords(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            alert_words: list[str],
        ) -> _Returned[_RemoveAlertWordsReply]: ...

    _ListDraftsReply: TypeAlias = (
        DraftList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[DraftList, Literal[200]]
    )

    class _ListDrafts(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_ListDraftsReply]: ...

    _CreateDraftsReply: TypeAlias = (
        DraftsCreated
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[DraftsCreated, Literal[200]]
    )

    class _CreateDrafts(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            drafts: list[DraftData],
        ) -> _Returned[_CreateDraftsReply]: ...

    _UpdateDraftReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _UpdateDraft(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            draft_id: int,
            draft: DraftData,
        ) -> _Returned[_UpdateDraftReply]: ...

    _DeleteDraftReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 414, 429, 431, 500, 503]]
        | _Reply[Success, Literal[200]]
    )

    class _DeleteDraft(Protocol):
        def __call__(self, ctx: Never, *, draft_id: int) -> _Returned[_DeleteDraftReply]: ...

    _ListSavedSnippetsReply: TypeAlias = (
        SavedSnippetList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[SavedSnippetList, Literal[200]]
    )

    class _ListSavedSnippets(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_ListSavedSnippetsReply]: ...

    _CreateSavedSnippetReply: TypeAlias = (
        SavedSnippetCreated
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[SavedSnippetCreated, Literal[200]]
    )

    class _CreateSavedSnippet(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            title: str,
            content: str,
        ) -> _Returned[_CreateSavedSnippetReply]: ...

    _UpdateSavedSnippetReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _UpdateSavedSnippet(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            saved_snippet_id: int,
            title: str = ...,
            content: str = ...,
        ) -> _Returned[_UpdateSavedSnippetReply]: ...

    _DeleteSavedSnippetReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 414, 429, 431, 500, 503]]
        | _Reply[Success, Literal[200]]
    )

    class _DeleteSavedSnippet(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            saved_snippet_id: int,
        ) -> _Returned[_DeleteSavedSnippetReply]: ...

    _UploadFileReply: TypeAlias = (
        FileUploaded
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[FileUploaded, Literal[200]]
    )

    class _UploadFile(Protocol):
        def __call__(self, ctx: Never, *, file: Any) -> _Returned[_UploadFileReply]: ...

    _GetTemporaryUrlReply: TypeAlias = (
        TemporaryUrl
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[TemporaryUrl, Literal[200]]
    )

    class _GetTemporaryUrl(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            realm_id_str: str,
            filename: str,
        ) -> _Returned[_GetTemporaryUrlReply]: ...

    _ListAttachmentsReply: TypeAlias = (
        AttachmentList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[AttachmentList, Literal[200]]
    )

    class _ListAttachments(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_ListAttachmentsReply]: ...

    _DeleteAttachmentReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 414, 429, 431, 500, 503]]
        | _Reply[Success, Literal[200]]
    )

    class _DeleteAttachment(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            attachment_id: int,
        ) -> _Returned[_DeleteAttachmentReply]: ...

    _ListNavigationViewsReply: TypeAlias = (
        NavigationViewList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[NavigationViewList, Literal[200]]
    )

    class _ListNavigationViews(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_ListNavigationViewsReply]: ...

    _AddNavigationViewReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _AddNavigationView(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            fragment: str,
            is_pinned: bool,
            name: str = ...,
        ) -> _Returned[_AddNavigationViewReply]: ...

    _UpdateNavigationViewReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _UpdateNavigationView(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            fragment: str,
            is_pinned: bool = ...,
            name: str = ...,
        ) -> _Returned[_UpdateNavigationViewReply]: ...

    _RemoveNavigationViewReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 414, 429, 431, 500, 503]]
        | _Reply[Success, Literal[200]]
    )

    class _RemoveNavigationView(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            fragment: str,
        ) -> _Returned[_RemoveNavigationViewReply]: ...

    _RegisterQueueReply: TypeAlias = (
        RegisteredQueue
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[RegisteredQueue, Literal[200]]
    )

    class _RegisterQueue(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            event_types: list[str] | None = ...,
            fetch_event_types: list[str] | None = ...,
            apply_markdown: bool,
            client_gravatar: bool,
            slim_presence: bool,
            include_subscribers: IncludeSubscribers = ...,
            all_public_streams: bool,
            narrow: Narrow = ...,
            client_capabilities: ClientCapabilities = ...,
            idle_queue_timeout: IdleQueueTimeout = ...,
            presence_history_limit_days: int = ...,
        ) -> _Returned[_RegisterQueueReply]: ...

    _GetEventsReply: TypeAlias = (
        EventList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[EventList, Literal[200]]
    )

    class _GetEvents(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            queue_id: str,
            last_event_id: int,
            dont_block: bool = ...,
        ) -> _Returned[_GetEventsReply]: ...

    _DeleteQueueReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _DeleteQueue(Protocol):
        def __call__(self, ctx: Never, *, queue_id: str) -> _Returned[_DeleteQueueReply]: ...

    _ListUserGroupsReply: TypeAlias = (
        UserGroupList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[UserGroupList, Literal[200]]
    )

    class _ListUserGroups(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            include_deactivated_groups: bool = ...,
        ) -> _Returned[_ListUserGroupsReply]: ...

    _CreateUserGroupReply: TypeAlias = (
        UserGroupCreated
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[UserGroupCreated, Literal[200]]
    )

    class _CreateUserGroup(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            name: str,
            description: str,
            members: list[int],
            subgroups: list[int] = ...,
            can_add_members_group: GroupSettingValue = ...,
            can_join_group: GroupSettingValue = ...,
            can_leave_group: GroupSettingValue = ...,
            can_manage_group: GroupSettingValue = ...,
            can_mention_group: GroupSettingValue = ...,
            can_remove_members_group: GroupSettingValue = ...,
        ) -> _Returned[_CreateUserGroupReply]: ...

    _UpdateUserGroupReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _UpdateUserGroup(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            user_group_id: int,
            name: str = ...,
            description: str = ...,
            deactivated: bool = ...,
            can_add_members_group: GroupSettingChange = ...,
            can_join_group: GroupSettingChange = ...,
            can_leave_group: GroupSettingChange = ...,
            can_manage_group: GroupSettingChange = ...,
            can_mention_group: GroupSettingChange = ...,
            can_remove_members_group: GroupSettingChange = ...,
        ) -> _Returned[_UpdateUserGroupReply]: ...

    _DeactivateUserGroupReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 414, 429, 431, 500, 503]]
        | _Reply[Success, Literal[200]]
    )

    class _DeactivateUserGroup(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            user_group_id: int,
        ) -> _Returned[_DeactivateUserGroupReply]: ...

    _ListUserGroupMembersReply: TypeAlias = (
        UserGroupMembers
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[UserGroupMembers, Literal[200]]
    )

    class _ListUserGroupMembers(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            user_group_id: int,
            direct_member_only: bool = ...,
        ) -> _Returned[_ListUserGroupMembersReply]: ...

    _UpdateUserGroupMembersReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _UpdateUserGroupMembers(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            user_group_id: int,
            add: list[int] = ...,
            delete: list[int] = ...,
            add_subgroups: list[int] = ...,
            delete_subgroups: list[int] = ...,
        ) -> _Returned[_UpdateUserGroupMembersReply]: ...

    _GetUserGroupMembershipReply: TypeAlias = (
        UserGroupMembership
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[UserGroupMembership, Literal[200]]
    )

    class _GetUserGroupMembership(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            user_group_id: int,
            user_id: int,
            direct_member_only: bool = ...,
        ) -> _Returned[_GetUserGroupMembershipReply]: ...

    _ListUserGroupSubgroupsReply: TypeAlias = (
        UserGroupSubgroups
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[UserGroupSubgroups, Literal[200]]
    )

    class _ListUserGroupSubgroups(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            user_group_id: int,
            direct_subgroup_only: bool = ...,
        ) -> _Returned[_ListUserGroupSubgroupsReply]: ...

    _UpdateUserGroupSubgroupsReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _UpdateUserGroupSubgroups(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            user_group_id: int,
            add: list[int] = ...,
            delete: list[int] = ...,
        ) -> _Returned[_UpdateUserGroupSubgroupsReply]: ...

    _GetSettingsReply: TypeAlias = (
        OwnSettings
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[OwnSettings, Literal[200]]
    )

    class _GetSettings(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_GetSettingsReply]: ...

    _UpdateSettingsReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _UpdateSettings(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            target_users: TargetUsers = ...,
            full_name: str = ...,
            email: str = ...,
            old_password: str = ...,
            new_password: str = ...,
            allow_private_data_export: bool = ...,
            automatically_follow_topics_policy: AutomaticTopicPolicy = ...,
            automatically_follow_topics_where_mentioned: bool = ...,
            automatically_unmute_topics_in_muted_streams_policy: AutomaticTopicPolicy = ...,
            color_scheme: ColorScheme = ...,
            default_language: str = ...,
            demote_inactive_streams: AutomaticPolicy = ...,
            desktop_icon_count_display: DesktopIconCount = ...,
            display_emoji_reaction_users: bool = ...,
            email_address_visibility: EmailAddressVisibility = ...,
            email_notifications_batching_period_seconds: int = ...,
            emojiset: Emojiset = ...,
            enable_desktop_notifications: bool = ...,
            enable_digest_emails: bool = ...,
            enable_drafts_synchronization: bool = ...,
            enable_followed_topic_audible_notifications: bool = ...,
            enable_followed_topic_desktop_notifications: bool = ...,
            enable_followed_topic_email_notifications: bool = ...,
            enable_followed_topic_push_notifications: bool = ...,
            enable_followed_topic_wildcard_mentions_notify: bool = ...,
            enable_login_emails: bool = ...,
            enable_marketing_emails: bool = ...,
            enable_offline_email_notifications: bool = ...,
            enable_offline_push_notifications: bool = ...,
            enable_online_push_notifications: bool = ...,
            enable_sounds: bool = ...,
            enable_stream_audible_notifications: bool = ...,
            enable_stream_desktop_notifications: bool = ...,
            enable_stream_email_notifications: bool = ...,
            enable_stream_push_notifications: bool = ...,
            enter_sends: bool = ...,
            fluid_layout_width: bool = ...,
            hide_ai_features: bool = ...,
            high_contrast_mode: bool = ...,
            left_side_userlist: bool = ...,
            message_content_in_email_notifications: bool = ...,
            notification_sound: str = ...,
            pm_content_in_desktop_notifications: bool = ...,
            presence_enabled: bool = ...,
            realm_name_in_email_notifications_policy: AutomaticPolicy = ...,
            receives_typing_notifications: bool = ...,
            resolved_topic_notice_auto_read_policy: ResolvedTopicNoticePolicy = ...,
            send_private_typing_notifications: bool = ...,
            send_read_receipts: bool = ...,
            send_stream_typing_notifications: bool = ...,
            starred_message_counts: bool = ...,
            timezone: str = ...,
            translate_emoticons: bool = ...,
            twenty_four_hour_time: bool = ...,
            user_list_style: UserListStyle = ...,
            web_animate_image_previews: AnimateImagePreviews = ...,
            web_channel_default_view: ChannelDefaultView = ...,
            web_escape_navigates_to_home_view: bool = ...,
            web_font_size_px: int = ...,
            web_home_view: HomeView = ...,
            web_inbox_show_channel_folders: bool = ...,
            web_left_sidebar_show_channel_folders: bool = ...,
            web_left_sidebar_unreads_count_summary: bool = ...,
            web_line_height_percent: int = ...,
            web_mark_read_on_scroll_policy: MarkReadOnScroll = ...,
            web_navigate_to_sent_message: bool = ...,
            web_stream_unreads_count_display_policy: UnreadCountDisplay = ...,
            web_suggest_update_timezone: bool = ...,
            wildcard_mentions_notify: bool = ...,
        ) -> _Returned[_UpdateSettingsReply]: ...

    _UpdateNotificationSettingsReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _UpdateNotificationSettings(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            target_users: TargetUsers = ...,
            full_name: str = ...,
            email: str = ...,
            old_password: str = ...,
            new_password: str = ...,
            allow_private_data_export: bool = ...,
            automatically_follow_topics_policy: AutomaticTopicPolicy = ...,
            automatically_follow_topics_where_mentioned: bool = ...,
            automatically_unmute_topics_in_muted_streams_policy: AutomaticTopicPolicy = ...,
            color_scheme: ColorScheme = ...,
            default_language: str = ...,
            demote_inactive_streams: AutomaticPolicy = ...,
            desktop_icon_count_display: DesktopIconCount = ...,
            display_emoji_reaction_users: bool = ...,
            email_address_visibility: EmailAddressVisibility = ...,
            email_notifications_batching_period_seconds: int = ...,
            emojiset: Emojiset = ...,
            enable_desktop_notifications: bool = ...,
            enable_digest_emails: bool = ...,
            enable_drafts_synchronization: bool = ...,
            enable_followed_topic_audible_notifications: bool = ...,
            enable_followed_topic_desktop_notifications: bool = ...,
            enable_followed_topic_email_notifications: bool = ...,
            enable_followed_topic_push_notifications: bool = ...,
            enable_followed_topic_wildcard_mentions_notify: bool = ...,
            enable_login_emails: bool = ...,
            enable_marketing_emails: bool = ...,
            enable_offline_email_notifications: bool = ...,
            enable_offline_push_notifications: bool = ...,
            enable_online_push_notifications: bool = ...,
            enable_sounds: bool = ...,
            enable_stream_audible_notifications: bool = ...,
            enable_stream_desktop_notifications: bool = ...,
            enable_stream_email_notifications: bool = ...,
            enable_stream_push_notifications: bool = ...,
            enter_sends: bool = ...,
            fluid_layout_width: bool = ...,
            hide_ai_features: bool = ...,
            high_contrast_mode: bool = ...,
            left_side_userlist: bool = ...,
            message_content_in_email_notifications: bool = ...,
            notification_sound: str = ...,
            pm_content_in_desktop_notifications: bool = ...,
            presence_enabled: bool = ...,
            realm_name_in_email_notifications_policy: AutomaticPolicy = ...,
            receives_typing_notifications: bool = ...,
            resolved_topic_notice_auto_read_policy: ResolvedTopicNoticePolicy = ...,
            send_private_typing_notifications: bool = ...,
            send_read_receipts: bool = ...,
            send_stream_typing_notifications: bool = ...,
            starred_message_counts: bool = ...,
            timezone: str = ...,
            translate_emoticons: bool = ...,
            twenty_four_hour_time: bool = ...,
            user_list_style: UserListStyle = ...,
            web_animate_image_previews: AnimateImagePreviews = ...,
            web_channel_default_view: ChannelDefaultView = ...,
            web_escape_navigates_to_home_view: bool = ...,
            web_font_size_px: int = ...,
            web_home_view: HomeView = ...,
            web_inbox_show_channel_folders: bool = ...,
            web_left_sidebar_show_channel_folders: bool = ...,
            web_left_sidebar_unreads_count_summary: bool = ...,
            web_line_height_percent: int = ...,
            web_mark_read_on_scroll_policy: MarkReadOnScroll = ...,
            web_navigate_to_sent_message: bool = ...,
            web_stream_unreads_count_display_policy: UnreadCountDisplay = ...,
            web_suggest_update_timezone: bool = ...,
            wildcard_mentions_notify: bool = ...,
        ) -> _Returned[_UpdateNotificationSettingsReply]: ...

    _GetEmailConfirmationReply: TypeAlias = (
        EmailConfirmation
        | _Pieces
        | _Reply[EmailConfirmation | _Pieces, Literal[200]]
        | _Reply[ErrorResponse, Literal[400, 404, 414, 429, 431, 500, 503]]
    )

    class _GetEmailConfirmation(Protocol):
        def __call__(self, ctx: Never, *, token: str) -> _Returned[_GetEmailConfirmationReply]: ...

    _ConfirmNewEmailReply: TypeAlias = (
        EmailConfirmation
        | _Pieces
        | _Reply[EmailConfirmation | _Pieces, Literal[200]]
        | _Reply[ErrorResponse, Literal[400, 403, 404, 408, 413, 414, 415, 429, 431, 500, 503]]
    )

    class _ConfirmNewEmail(Protocol):
        def __call__(self, ctx: Never, *, token: str) -> _Returned[_ConfirmNewEmailReply]: ...

    _ListInvitationsReply: TypeAlias = (
        InvitationList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[InvitationList, Literal[200]]
    )

    class _ListInvitations(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_ListInvitationsReply]: ...

    _SendInvitationsReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _SendInvitations(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            invitee_emails: str,
            stream_ids: list[int],
            group_ids: list[int] = ...,
            invite_as: Role = ...,
            invite_expires_in_minutes: int | None,
            include_realm_default_subscriptions: bool,
            notify_referrer_on_join: bool,
        ) -> _Returned[_SendInvitationsReply]: ...

    _CreateInvitationLinkReply: TypeAlias = (
        InvitationLink
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[InvitationLink, Literal[200]]
    )

    class _CreateInvitationLink(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            stream_ids: list[int] = ...,
            group_ids: list[int] = ...,
            invite_as: Role = ...,
            invite_expires_in_minutes: int | None,
            include_realm_default_subscriptions: bool,
        ) -> _Returned[_CreateInvitationLinkReply]: ...

    _ResendInvitationReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 414, 429, 431, 500, 503]]
        | _Reply[Success, Literal[200]]
    )

    class _ResendInvitation(Protocol):
        def __call__(self, ctx: Never, *, invite_id: int) -> _Returned[_ResendInvitationReply]: ...

    _RevokeInvitationReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 414, 429, 431, 500, 503]]
        | _Reply[Success, Literal[200]]
    )

    class _RevokeInvitation(Protocol):
        def __call__(self, ctx: Never, *, invite_id: int) -> _Returned[_RevokeInvitationReply]: ...

    _EditInvitationLinkReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _EditInvitationLink(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            invite_id: int,
            stream_ids: list[int] = ...,
            group_ids: list[int] = ...,
            invite_as: Role = ...,
            include_realm_default_subscriptions: bool = ...,
        ) -> _Returned[_EditInvitationLinkReply]: ...

    _RevokeInvitationLinkReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 414, 429, 431, 500, 503]]
        | _Reply[Success, Literal[200]]
    )

    class _RevokeInvitationLink(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            invite_id: int,
        ) -> _Returned[_RevokeInvitationLinkReply]: ...

    _GetInvitationReply: TypeAlias = (
        InvitationShown
        | _Pieces
        | _Reply[InvitationShown | _Pieces, Literal[200]]
        | _Reply[ErrorResponse, Literal[400, 404, 414, 429, 431, 500, 503]]
    )

    class _GetInvitation(Protocol):
        def __call__(self, ctx: Never, *, token: str) -> _Returned[_GetInvitationReply]: ...

    _AcceptInvitationReply: TypeAlias = (
        InvitationAccepted
        | _Pieces
        | _Reply[InvitationAccepted | _Pieces, Literal[200]]
        | _Reply[ErrorResponse | _Pieces, Literal[400]]
        | _Reply[ErrorResponse, Literal[403, 404, 408, 413, 414, 415, 429, 431, 500, 503]]
    )

    class _AcceptInvitation(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            token: str,
            full_name: str = ...,
            password: str = ...,
            email: str = ...,
        ) -> _Returned[_AcceptInvitationReply]: ...

    _UpdateRealmReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _UpdateRealm(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            name: str = ...,
            description: str = ...,
            default_language: str = ...,
            email_address_visibility: EmailAddressVisibility = ...,
            emails_restricted_to_domains: bool = ...,
            disallow_disposable_email_addresses: bool = ...,
            name_changes_disabled: bool = ...,
            email_changes_disabled: bool = ...,
            avatar_changes_disabled: bool = ...,
            require_unique_names: bool = ...,
            enable_read_receipts: bool = ...,
            enable_spectator_access: bool = ...,
            topics_policy: RealmTopicsPolicy = ...,
            empty_topic_display_name: str = ...,
            welcome_message_custom_text: str = ...,
            message_retention_days: Days = ...,
            allow_message_editing: bool = ...,
            message_edit_history_visibility_policy: EditHistoryVisibility = ...,
            message_content_edit_limit_seconds: Seconds = ...,
            message_content_delete_limit_seconds: Seconds = ...,
            move_messages_within_stream_limit_seconds: Seconds = ...,
            move_messages_between_streams_limit_seconds: Seconds = ...,
            moderation_request_channel_id: ChannelOrNone = ...,
            new_stream_announcements_stream_id: ChannelOrNone = ...,
            can_access_all_users_group: GroupSettingUpdate = ...,
            can_add_custom_emoji_group: GroupSettingUpdate = ...,
            can_add_subscribers_group: GroupSettingUpdate = ...,
            can_create_bots_group: GroupSettingUpdate = ...,
            can_create_groups: GroupSettingUpdate = ...,
            can_create_private_channel_group: GroupSettingUpdate = ...,
            can_create_public_channel_group: GroupSettingUpdate = ...,
            can_create_web_public_channel_group: GroupSettingUpdate = ...,
            can_create_write_only_bots_group: GroupSettingUpdate = ...,
            can_delete_any_message_group: GroupSettingUpdate = ...,
            can_delete_own_message_group: GroupSettingUpdate = ...,
            can_invite_users_group: GroupSettingUpdate = ...,
            can_manage_all_groups: GroupSettingUpdate = ...,
            can_mention_many_users_group: GroupSettingUpdate = ...,
            can_move_messages_between_channels_group: GroupSettingUpdate = ...,
            can_move_messages_between_topics_group: GroupSettingUpdate = ...,
            can_resolve_topics_group: GroupSettingUpdate = ...,
            can_set_delete_message_policy_group: GroupSettingUpdate = ...,
            can_set_topics_policy_group: GroupSettingUpdate = ...,
            create_multiuse_invite_group: GroupSettingUpdate = ...,
            direct_message_initiator_group: GroupSettingUpdate = ...,
            direct_message_permission_group: GroupSettingUpdate = ...,
        ) -> _Returned[_UpdateRealmReply]: ...

    _UpdateUserDefaultsReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _UpdateUserDefaults(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            automatically_follow_topics_policy: AutomaticTopicPolicy = ...,
            automatically_follow_topics_where_mentioned: bool = ...,
            automatically_unmute_topics_in_muted_streams_policy: AutomaticTopicPolicy = ...,
            color_scheme: ColorScheme = ...,
            demote_inactive_streams: AutomaticPolicy = ...,
            desktop_icon_count_display: DesktopIconCount = ...,
            display_emoji_reaction_users: bool = ...,
            email_address_visibility: EmailAddressVisibility = ...,
            email_notifications_batching_period_seconds: int = ...,
            emojiset: Emojiset = ...,
            enable_desktop_notifications: bool = ...,
            enable_digest_emails: bool = ...,
            enable_drafts_synchronization: bool = ...,
            enable_followed_topic_audible_notifications: bool = ...,
            enable_followed_topic_desktop_notifications: bool = ...,
            enable_followed_topic_email_notifications: bool = ...,
            enable_followed_topic_push_notifications: bool = ...,
            enable_followed_topic_wildcard_mentions_notify: bool = ...,
            enable_login_emails: bool = ...,
            enable_marketing_emails: bool = ...,
            enable_offline_email_notifications: bool = ...,
            enable_offline_push_notifications: bool = ...,
            enable_online_push_notifications: bool = ...,
            enable_sounds: bool = ...,
            enable_stream_audible_notifications: bool = ...,
            enable_stream_desktop_notifications: bool = ...,
            enable_stream_email_notifications: bool = ...,
            enable_stream_push_notifications: bool = ...,
            enter_sends: bool = ...,
            fluid_layout_width: bool = ...,
            hide_ai_features: bool = ...,
            high_contrast_mode: bool = ...,
            left_side_userlist: bool = ...,
            message_content_in_email_notifications: bool = ...,
            notification_sound: str = ...,
            pm_content_in_desktop_notifications: bool = ...,
            presence_enabled: bool = ...,
            realm_name_in_email_notifications_policy: AutomaticPolicy = ...,
            receives_typing_notifications: bool = ...,
            resolved_topic_notice_auto_read_policy: ResolvedTopicNoticePolicy = ...,
            send_private_typing_notifications: bool = ...,
            send_read_receipts: bool = ...,
            send_stream_typing_notifications: bool = ...,
            starred_message_counts: bool = ...,
            translate_emoticons: bool = ...,
            twenty_four_hour_time: bool = ...,
            user_list_style: UserListStyle = ...,
            web_animate_image_previews: AnimateImagePreviews = ...,
            web_channel_default_view: ChannelDefaultView = ...,
            web_escape_navigates_to_home_view: bool = ...,
            web_font_size_px: int = ...,
            web_home_view: HomeView = ...,
            web_inbox_show_channel_folders: bool = ...,
            web_left_sidebar_show_channel_folders: bool = ...,
            web_left_sidebar_unreads_count_summary: bool = ...,
            web_line_height_percent: int = ...,
            web_mark_read_on_scroll_policy: MarkReadOnScroll = ...,
            web_navigate_to_sent_message: bool = ...,
            web_stream_unreads_count_display_policy: UnreadCountDisplay = ...,
            web_suggest_update_timezone: bool = ...,
            wildcard_mentions_notify: bool = ...,
        ) -> _Returned[_UpdateUserDefaultsReply]: ...

    _TryWelcomeMessageReply: TypeAlias = (
        WelcomeMessageTried
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[WelcomeMessageTried, Literal[200]]
    )

    class _TryWelcomeMessage(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            welcome_message_custom_text: str,
        ) -> _Returned[_TryWelcomeMessageReply]: ...

    _ListProfileFieldsReply: TypeAlias = (
        ProfileFieldList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[ProfileFieldList, Literal[200]]
    )

    class _ListProfileFields(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_ListProfileFieldsReply]: ...

    _ReorderProfileFieldsReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _ReorderProfileFields(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            order: list[int],
        ) -> _Returned[_ReorderProfileFieldsReply]: ...

    _CreateProfileFieldReply: TypeAlias = (
        ProfileFieldCreated
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[ProfileFieldCreated, Literal[200]]
    )

    class _CreateProfileField(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            name: str,
            hint: str,
            field_type: int,
            field_data: ProfileFieldData = ...,
            display_in_profile_summary: bool,
            required: bool,
            editable_by_user: bool,
            use_for_user_matching: bool,
        ) -> _Returned[_CreateProfileFieldReply]: ...

    _ListLinkifiersReply: TypeAlias = (
        LinkifierList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[LinkifierList, Literal[200]]
    )

    class _ListLinkifiers(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_ListLinkifiersReply]: ...

    _ReorderLinkifiersReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _ReorderLinkifiers(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            ordered_linkifier_ids: list[int],
        ) -> _Returned[_ReorderLinkifiersReply]: ...

    _ListCustomEmojiReply: TypeAlias = (
        CustomEmojiList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[CustomEmojiList, Literal[200]]
    )

    class _ListCustomEmoji(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_ListCustomEmojiReply]: ...

    _CreateCustomEmojiReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _CreateCustomEmoji(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            emoji_name: str,
            file: Any,
        ) -> _Returned[_CreateCustomEmojiReply]: ...

    _DeleteCustomEmojiReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 414, 429, 431, 500, 503]]
        | _Reply[Success, Literal[200]]
    )

    class _DeleteCustomEmoji(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            emoji_name: str,
        ) -> _Returned[_DeleteCustomEmojiReply]: ...

    _SendMessageReply: TypeAlias = (
        MessageSent
        | _Reply[MessageSent, Literal[200]]
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 409, 413, 414, 415, 422, 429]]
        | _Reply[ErrorResponse, Literal[431, 500, 503]]
    )

    class _SendMessage(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            idempotency_key: str = ...,
            type_: RecipientType,
            to: MessageRecipients,
            content: str,
            topic: str = ...,
            read_by_sender: bool = ...,
            client: str = ...,
            queue_id: str = ...,
            local_id: str = ...,
        ) -> _Returned[_SendMessageReply]: ...

    _ListMessagesReply: TypeAlias = (
        MessageList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[MessageList, Literal[200]]
    )

    class _ListMessages(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            anchor: str = ...,
            anchor_date: str = ...,
            include_anchor: bool = ...,
            num_before: int = ...,
            num_after: int = ...,
            narrow: Narrow = ...,
            message_ids: list[int] = ...,
            client_extavatar: bool = ...,
            apply_markdown: bool = ...,
            allow_empty_topic_name: bool = ...,
            use_first_unread_anchor: bool = ...,
        ) -> _Returned[_ListMessagesReply]: ...

    _GetMessageReply: TypeAlias = (
        OneMessage
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[OneMessage, Literal[200]]
    )

    class _GetMessage(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            message_id: int,
            apply_markdown: bool = ...,
            allow_empty_topic_name: bool = ...,
        ) -> _Returned[_GetMessageReply]: ...

    _UpdateMessageReply: TypeAlias = (
        MessageUpdated
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[MessageUpdated, Literal[200]]
    )

    class _UpdateMessage(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            message_id: int,
            content: str = ...,
            prev_content_sha256: str = ...,
            topic: str = ...,
            stream_id: int = ...,
            propagate_mode: PropagateMode = ...,
            send_notification_to_old_thread: bool,
            send_notification_to_new_thread: bool,
        ) -> _Returned[_UpdateMessageReply]: ...

    _DeleteMessageReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _DeleteMessage(Protocol):
        def __call__(self, ctx: Never, *, message_id: int) -> _Returned[_DeleteMessageReply]: ...

    _ListMessageHistoryReply: TypeAlias = (
        MessageHistory
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[MessageHistory, Literal[200]]
    )

    class _ListMessageHistory(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            message_id: int,
            allow_empty_topic_name: bool = ...,
        ) -> _Returned[_ListMessageHistoryReply]: ...

    _ListReadReceiptsReply: TypeAlias = (
        ReadReceipts
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[ReadReceipts, Literal[200]]
    )

    class _ListReadReceipts(Protocol):
        def __call__(self, ctx: Never, *, message_id: int) -> _Returned[_ListReadReceiptsReply]: ...

    _CheckMessagesMatchNarrowReply: TypeAlias = (
        MatchingMessages
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[MatchingMessages, Literal[200]]
    )

    class _CheckMessagesMatchNarrow(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            msg_ids: list[int],
            narrow: Narrow,
            allow_empty_topic_name: bool = ...,
        ) -> _Returned[_CheckMessagesMatchNarrowReply]: ...

    _ReportMessageReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _ReportMessage(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            message_id: int,
            report_type: ReportType,
            description: str = ...,
        ) -> _Returned[_ReportMessageReply]: ...

    _SetTypingStatusReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _SetTypingStatus(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            op: TypingOp,
            type_: RecipientType = ...,
            to: list[int] = ...,
            stream_id: int = ...,
            topic: str = ...,
        ) -> _Returned[_SetTypingStatusReply]: ...

    _SetEditTypingStatusReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _SetEditTypingStatus(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            message_id: int,
            op: TypingOp,
        ) -> _Returned[_SetEditTypingStatusReply]: ...

    _RenderTextReply: TypeAlias = (
        RenderedText
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[RenderedText, Literal[200]]
    )

    class _RenderText(Protocol):
        def __call__(self, ctx: Never, *, content: str) -> _Returned[_RenderTextReply]: ...

    _UpdateMessageFlagsForNarrowReply: TypeAlias = (
        FlagsUpdatedForNarrow
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[FlagsUpdatedForNarrow, Literal[200]]
    )

    class _UpdateMessageFlagsForNarrow(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            anchor: str,
            include_anchor: bool,
            num_before: int,
            num_after: int,
            narrow: Narrow,
            op: str,
            flag: str,
        ) -> _Returned[_UpdateMessageFlagsForNarrowReply]: ...

    _UpdateMessageFlagsReply: TypeAlias = (
        FlagsUpdated
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[FlagsUpdated, Literal[200]]
    )

    class _UpdateMessageFlags(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            messages: list[int],
            op: str,
            flag: str,
        ) -> _Returned[_UpdateMessageFlagsReply]: ...

    _MarkAllAsReadReply: TypeAlias = (
        MarkedAsRead
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[MarkedAsRead, Literal[200]]
    )

    class _MarkAllAsRead(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_MarkAllAsReadReply]: ...

    _MarkChannelAsReadReply: TypeAlias = (
        PlaceMarkedAsRead
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[PlaceMarkedAsRead, Literal[200]]
    )

    class _MarkChannelAsRead(Protocol):
        def __call__(self, ctx: Never, *, stream_id: int) -> _Returned[_MarkChannelAsReadReply]: ...

    _MarkTopicAsReadReply: TypeAlias = (
        PlaceMarkedAsRead
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[PlaceMarkedAsRead, Literal[200]]
    )

    class _MarkTopicAsRead(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            stream_id: int,
            topic_name: str,
        ) -> _Returned[_MarkTopicAsReadReply]: ...

    _AddSubmessageReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _AddSubmessage(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            message_id: int,
            msg_type: Literal["widget"],
            content: WidgetChange,
        ) -> _Returned[_AddSubmessageReply]: ...

    _AddReactionReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _AddReaction(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            message_id: int,
            emoji_name: str,
            emoji_code: str = ...,
            reaction_type: AddReactionReactionType = ...,
        ) -> _Returned[_AddReactionReply]: ...

    _RemoveReactionReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _RemoveReaction(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            message_id: int,
            emoji_name: str = ...,
            emoji_code: str = ...,
            reaction_type: RemoveReactionReactionType = ...,
        ) -> _Returned[_RemoveReactionReply]: ...

    _ListChannelsReply: TypeAlias = (
        ChannelList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[ChannelList, Literal[200]]
    )

    class _ListChannels(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            include_public: bool = ...,
            include_web_public: bool = ...,
            include_subscribed: bool = ...,
            include_all: bool = ...,
            include_all_active: bool = ...,
            include_default: bool = ...,
            include_owner_subscribed: bool = ...,
            include_can_access_content: bool = ...,
            exclude_archived: bool = ...,
        ) -> _Returned[_ListChannelsReply]: ...

    _GetChannelReply: TypeAlias = (
        OneChannel
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[OneChannel, Literal[200]]
    )

    class _GetChannel(Protocol):
        def __call__(self, ctx: Never, *, stream_id: int) -> _Returned[_GetChannelReply]: ...

    _UpdateChannelReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _UpdateChannel(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            stream_id: int,
            new_name: str = ...,
            description: str = ...,
            is_archived: bool = ...,
            is_private: bool = ...,
            is_web_public: bool = ...,
            history_public_to_subscribers: bool = ...,
            is_default_stream: bool = ...,
            message_retention_days: RetentionDays = ...,
            topics_policy: TopicsPolicy = ...,
            folder_id: int | None = ...,
            can_add_subscribers_group: GroupSettingUpdate = ...,
            can_administer_channel_group: GroupSettingUpdate = ...,
            can_create_topic_group: GroupSettingUpdate = ...,
            can_delete_any_message_group: GroupSettingUpdate = ...,
            can_delete_own_message_group: GroupSettingUpdate = ...,
            can_move_messages_out_of_channel_group: GroupSettingUpdate = ...,
            can_move_messages_within_channel_group: GroupSettingUpdate = ...,
            can_remove_subscribers_group: GroupSettingUpdate = ...,
            can_resolve_topics_group: GroupSettingUpdate = ...,
            can_send_message_group: GroupSettingUpdate = ...,
            can_subscribe_group: GroupSettingUpdate = ...,
        ) -> _Returned[_UpdateChannelReply]: ...

    _ArchiveChannelReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 414, 429, 431, 500, 503]]
        | _Reply[Success, Literal[200]]
    )

    class _ArchiveChannel(Protocol):
        def __call__(self, ctx: Never, *, stream_id: int) -> _Returned[_ArchiveChannelReply]: ...

    _ListChannelSubscribersReply: TypeAlias = (
        ChannelSubscribers
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[ChannelSubscribers, Literal[200]]
    )

    class _ListChannelSubscribers(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            stream_id: int,
        ) -> _Returned[_ListChannelSubscribersReply]: ...

    _AddDefaultChannelReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _AddDefaultChannel(Protocol):
        def __call__(self, ctx: Never, *, stream_id: int) -> _Returned[_AddDefaultChannelReply]: ...

    _RemoveDefaultChannelReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _RemoveDefaultChannel(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            stream_id: int,
        ) -> _Returned[_RemoveDefaultChannelReply]: ...

    _GetChannelIdReply: TypeAlias = (
        ChannelId
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[ChannelId, Literal[200]]
    )

    class _GetChannelId(Protocol):
        def __call__(self, ctx: Never, *, stream: str) -> _Returned[_GetChannelIdReply]: ...

    _ListSubscriptionsReply: TypeAlias = (
        SubscriptionList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[SubscriptionList, Literal[200]]
    )

    class _ListSubscriptions(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            include_subscribers: Literal["true", "false", "partial"] = ...,
            include_archived_channels: bool = ...,
        ) -> _Returned[_ListSubscriptionsReply]: ...

    _SubscribeReply: TypeAlias = (
        Subscribed
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Subscribed, Literal[200]]
    )

    class _Subscribe(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            announce: bool,
            invite_only: bool,
            is_web_public: bool,
            is_default_stream: bool,
            history_public_to_subscribers: bool = ...,
            message_retention_days: RetentionDays = ...,
            topics_policy: TopicsPolicy = ...,
            can_add_subscribers_group: GroupSettingValue = ...,
            can_administer_channel_group: GroupSettingValue = ...,
            can_create_topic_group: GroupSettingValue = ...,
            can_delete_any_message_group: GroupSettingValue = ...,
            can_delete_own_message_group: GroupSettingValue = ...,
            can_move_messages_out_of_channel_group: GroupSettingValue = ...,
            can_move_messages_within_channel_group: GroupSettingValue = ...,
            can_remove_subscribers_group: GroupSettingValue = ...,
            can_resolve_topics_group: GroupSettingValue = ...,
            can_send_message_group: GroupSettingValue = ...,
            can_subscribe_group: GroupSettingValue = ...,
            folder_id: int = ...,
            send_new_subscription_messages: bool,
            subscriptions: list[ChannelToSubscribe],
            principals: Principals = ...,
            authorization_errors_fatal: bool,
        ) -> _Returned[_SubscribeReply]: ...

    _UnsubscribeReply: TypeAlias = (
        Unsubscribed
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Unsubscribed, Literal[200]]
    )

    class _Unsubscribe(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            subscriptions: list[str],
            principals: Principals = ...,
        ) -> _Returned[_UnsubscribeReply]: ...

    _UpdateSubscriptionsReply: TypeAlias = (
        SubscriptionsUpdated
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[SubscriptionsUpdated, Literal[200]]
    )

    class _UpdateSubscriptions(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            add: list[ChannelToSubscribe] = ...,
            delete: list[str] = ...,
        ) -> _Returned[_UpdateSubscriptionsReply]: ...

    _CreateChannelReply: TypeAlias = (
        ChannelCreated
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[ChannelCreated, Literal[200]]
    )

    class _CreateChannel(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            announce: bool,
            invite_only: bool,
            is_web_public: bool,
            is_default_stream: bool,
            history_public_to_subscribers: bool = ...,
            message_retention_days: RetentionDays = ...,
            topics_policy: TopicsPolicy = ...,
            can_add_subscribers_group: GroupSettingValue = ...,
            can_administer_channel_group: GroupSettingValue = ...,
            can_create_topic_group: GroupSettingValue = ...,
            can_delete_any_message_group: GroupSettingValue = ...,
            can_delete_own_message_group: GroupSettingValue = ...,
            can_move_messages_out_of_channel_group: GroupSettingValue = ...,
            can_move_messages_within_channel_group: GroupSettingValue = ...,
            can_remove_subscribers_group: GroupSettingValue = ...,
            can_resolve_topics_group: GroupSettingValue = ...,
            can_send_message_group: GroupSettingValue = ...,
            can_subscribe_group: GroupSettingValue = ...,
            folder_id: int = ...,
            send_new_subscription_messages: bool,
            name: str,
            description: str,
            subscribers: list[int],
        ) -> _Returned[_CreateChannelReply]: ...

    _UpdateMutedTopicReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _UpdateMutedTopic(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            op: MuteOperation,
            stream: str = ...,
            stream_id: int = ...,
            topic: str,
        ) -> _Returned[_UpdateMutedTopicReply]: ...

    _UpdateSubscriptionSettingsReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _UpdateSubscriptionSettings(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            subscription_data: list[SubscriptionChange],
        ) -> _Returned[_UpdateSubscriptionSettingsReply]: ...

    _UpdateSubscriptionSettingReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _UpdateSubscriptionSetting(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            stream_id: int,
            property_: SubscriptionProperty,
            value: SubscriptionValue,
        ) -> _Returned[_UpdateSubscriptionSettingReply]: ...

    _GetSubscriptionStatusReply: TypeAlias = (
        SubscriptionStatus
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[SubscriptionStatus, Literal[200]]
    )

    class _GetSubscriptionStatus(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            user_id: int,
            stream_id: int,
        ) -> _Returned[_GetSubscriptionStatusReply]: ...

    _ListUserTopicsReply: TypeAlias = (
        UserTopicList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[UserTopicList, Literal[200]]
    )

    class _ListUserTopics(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            allow_empty_topic_name: bool = ...,
        ) -> _Returned[_ListUserTopicsReply]: ...

    _SetUserTopicReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _SetUserTopic(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            stream_id: int,
            topic: str,
            visibility_policy: TopicVisibilityPolicy,
        ) -> _Returned[_SetUserTopicReply]: ...

    _GetChannelEmailReply: TypeAlias = (
        ChannelEmail
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[ChannelEmail, Literal[200]]
    )

    class _GetChannelEmail(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            stream_id: int,
            sender_id: int = ...,
        ) -> _Returned[_GetChannelEmailReply]: ...

    _DeleteTopicReply: TypeAlias = (
        TopicDeleted
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[TopicDeleted, Literal[200]]
    )

    class _DeleteTopic(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            stream_id: int,
            topic_name: str,
        ) -> _Returned[_DeleteTopicReply]: ...

    _ListTopicsReply: TypeAlias = (
        TopicList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[TopicList, Literal[200]]
    )

    class _ListTopics(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            stream_id: int,
            allow_empty_topic_name: bool = ...,
        ) -> _Returned[_ListTopicsReply]: ...

    _RegisterClientDeviceReply: TypeAlias = (
        RegisteredDevice
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 414, 429, 431, 500, 503]]
        | _Reply[RegisteredDevice, Literal[200]]
    )

    class _RegisterClientDevice(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_RegisterClientDeviceReply]: ...

    _RemoveClientDeviceReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _RemoveClientDevice(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            device_id: int,
        ) -> _Returned[_RemoveClientDeviceReply]: ...

    _ListOwnDevicesReply: TypeAlias = (
        DeviceList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[DeviceList, Literal[200]]
    )

    class _ListOwnDevices(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_ListOwnDevicesReply]: ...

    _RegisterPushDeviceReply: TypeAlias = (
        Success
        | _Reply[Success, Literal[200]]
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[502, 503]]
    )

    class _RegisterPushDevice(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            device_id: int,
            push_key: str = ...,
            push_key_id: int = ...,
            token_kind: PushTokenKind = ...,
            token_id: str = ...,
            bouncer_public_key: str = ...,
            encrypted_push_registration: str = ...,
        ) -> _Returned[_RegisterPushDeviceReply]: ...

    _SendTestPushNotificationReply: TypeAlias = (
        Success
        | _Reply[Success, Literal[200]]
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[502, 503]]
    )

    class _SendTestPushNotification(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            device_id: int = ...,
        ) -> _Returned[_SendTestPushNotificationReply]: ...

    _CreateZoomCallReply: TypeAlias = (
        Call
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Call, Literal[200]]
    )

    class _CreateZoomCall(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            is_video_call: bool,
        ) -> _Returned[_CreateZoomCallReply]: ...

    _CreateVideoCallReply: TypeAlias = (
        Call
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Call, Literal[200]]
    )

    class _CreateVideoCall(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            is_video_call: bool,
        ) -> _Returned[_CreateVideoCallReply]: ...

    _BeginVendorAuthorizationReply: TypeAlias = (
        Call
        | _Pieces
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[Call | _Pieces, Literal[200]]
    )

    class _BeginVendorAuthorization(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            link: str = ...,
        ) -> _Returned[_BeginVendorAuthorizationReply]: ...

    _CompleteVendorAuthorizationReply: TypeAlias = (
        Success
        | _Pieces
        | _Reply[Success | _Pieces, Literal[200]]
        | _Reply[ErrorResponse, Literal[400, 404, 414, 429, 431, 500, 503]]
    )

    class _CompleteVendorAuthorization(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            code: str = ...,
            state: str = ...,
            error: str = ...,
        ) -> _Returned[_CompleteVendorAuthorizationReply]: ...

    _GetVendorTokenStateReply: TypeAlias = (
        VendorTokenState
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[VendorTokenState, Literal[200]]
    )

    class _GetVendorTokenState(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_GetVendorTokenStateReply]: ...

    _RevokeVendorTokenReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 414, 429, 431, 500, 503]]
        | _Reply[Success, Literal[200]]
    )

    class _RevokeVendorToken(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_RevokeVendorTokenReply]: ...

    _ReceiveVendorNoticeReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _ReceiveVendorNotice(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            body: VendorNotice,
        ) -> _Returned[_ReceiveVendorNoticeReply]: ...

    _ListChannelFoldersReply: TypeAlias = (
        ChannelFolderList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[ChannelFolderList, Literal[200]]
    )

    class _ListChannelFolders(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            include_archived: bool = ...,
        ) -> _Returned[_ListChannelFoldersReply]: ...

    _ReorderChannelFoldersReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _ReorderChannelFolders(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            order: list[int],
        ) -> _Returned[_ReorderChannelFoldersReply]: ...

    _CreateChannelFolderReply: TypeAlias = (
        ChannelFolderCreated
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[ChannelFolderCreated, Literal[200]]
    )

    class _CreateChannelFolder(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            name: str,
            description: str,
        ) -> _Returned[_CreateChannelFolderReply]: ...

    _UpdateChannelFolderReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _UpdateChannelFolder(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            channel_folder_id: int,
            name: str = ...,
            description: str = ...,
            is_archived: bool = ...,
        ) -> _Returned[_UpdateChannelFolderReply]: ...

    _CreatePlaygroundReply: TypeAlias = (
        PlaygroundCreated
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[PlaygroundCreated, Literal[200]]
    )

    class _CreatePlayground(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            name: str,
            syntax_language: str = ...,
            url_template: str,
        ) -> _Returned[_CreatePlaygroundReply]: ...

    _DeletePlaygroundReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 414, 429, 431, 500, 503]]
        | _Reply[Success, Literal[200]]
    )

    class _DeletePlayground(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            playground_id: int,
        ) -> _Returned[_DeletePlaygroundReply]: ...

    _ListDomainsReply: TypeAlias = (
        DomainList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[DomainList, Literal[200]]
    )

    class _ListDomains(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_ListDomainsReply]: ...

    _CreateDomainReply: TypeAlias = (
        DomainCreated
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[DomainCreated, Literal[200]]
    )

    class _CreateDomain(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            domain: str,
            allow_subdomains: bool,
        ) -> _Returned[_CreateDomainReply]: ...

    _UpdateDomainReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _UpdateDomain(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            domain: str,
            allow_subdomains: bool,
        ) -> _Returned[_UpdateDomainReply]: ...

    _DeleteDomainReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 414, 429, 431, 500, 503]]
        | _Reply[Success, Literal[200]]
    )

    class _DeleteDomain(Protocol):
        def __call__(self, ctx: Never, *, domain: str) -> _Returned[_DeleteDomainReply]: ...

    _ListExportsReply: TypeAlias = (
        ExportList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[ExportList, Literal[200]]
    )

    class _ListExports(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_ListExportsReply]: ...

    _CreateExportReply: TypeAlias = (
        ExportCreated
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[ExportCreated, Literal[200]]
    )

    class _CreateExport(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            export_type: ExportType = ...,
        ) -> _Returned[_CreateExportReply]: ...

    _ListExportConsentsReply: TypeAlias = (
        ExportConsentList
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[ExportConsentList, Literal[200]]
    )

    class _ListExportConsents(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_ListExportConsentsReply]: ...

    _DeleteExportReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 414, 429, 431, 500, 503]]
        | _Reply[Success, Literal[200]]
    )

    class _DeleteExport(Protocol):
        def __call__(self, ctx: Never, *, export_id: int) -> _Returned[_DeleteExportReply]: ...

    _UpdateLinkifierReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _UpdateLinkifier(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            filter_id: int,
            pattern: str,
            url_template: str,
            example_input: str = ...,
            reverse_template: str = ...,
            alternative_url_templates: list[str] = ...,
        ) -> _Returned[_UpdateLinkifierReply]: ...

    _DeleteLinkifierReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 414, 429, 431, 500, 503]]
        | _Reply[Success, Literal[200]]
    )

    class _DeleteLinkifier(Protocol):
        def __call__(self, ctx: Never, *, filter_id: int) -> _Returned[_DeleteLinkifierReply]: ...

    _CreateLinkifierReply: TypeAlias = (
        LinkifierCreated
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[LinkifierCreated, Literal[200]]
    )

    class _CreateLinkifier(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            pattern: str,
            url_template: str,
            example_input: str = ...,
            reverse_template: str = ...,
            alternative_url_templates: list[str] = ...,
        ) -> _Returned[_CreateLinkifierReply]: ...

    _UpdateProfileFieldReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _UpdateProfileField(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            field_id: int,
            name: str = ...,
            hint: str = ...,
            field_data: ProfileFieldData = ...,
            display_in_profile_summary: bool = ...,
            required: bool = ...,
            editable_by_user: bool = ...,
            use_for_user_matching: bool = ...,
        ) -> _Returned[_UpdateProfileFieldReply]: ...

    _DeleteProfileFieldReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 414, 429, 431, 500, 503]]
        | _Reply[Success, Literal[200]]
    )

    class _DeleteProfileField(Protocol):
        def __call__(self, ctx: Never, *, field_id: int) -> _Returned[_DeleteProfileFieldReply]: ...

    _GetOwnUserReply: TypeAlias = (
        OwnUser
        | _Reply[ErrorResponse, Literal[400, 401, 404, 414, 429, 431, 500, 503]]
        | _Reply[OwnUser, Literal[200]]
    )

    class _GetOwnUser(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_GetOwnUserReply]: ...

    _DeactivateOwnUserReply: TypeAlias = (
        Success
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[Success, Literal[200]]
    )

    class _DeactivateOwnUser(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_DeactivateOwnUserReply]: ...

    _RegenerateOwnApiKeyReply: TypeAlias = (
        RenewedApiKey
        | _Reply[ErrorResponse, Literal[400, 401, 403, 404, 408, 413, 414, 415, 429, 431, 500]]
        | _Reply[ErrorResponse, Literal[503]]
        | _Reply[RenewedApiKey, Literal[200]]
    )

    class _RegenerateOwnApiKey(Protocol):
        def __call__(self, ctx: Never) -> _Returned[_RegenerateOwnApiKeyReply]: ...

    def compare_handlers() -> None:
        _1: _GetServerSettings = _server_settings.get_server_settings
        _2: _FetchApiKey = _sign_in.fetch_api_key
        _3: _DevFetchApiKey = _sign_in.dev_fetch_api_key
        _4: _JwtFetchApiKey = _sign_in.jwt_fetch_api_key
        _5: _SessionFetchApiKey = _sign_in.session_fetch_api_key
        _6: _BeginSession = _sign_in.begin_session
        _7: _ListOwnSessions = _sign_in.list_own_sessions
        _8: _EndSession = _sign_in.end_session
        _9: _ListUsers = _users.list_users
        _10: _CreateUser = _users.create_user
        _11: _GetUserByEmail = _users.get_user_by_email
        _12: _UpdateUserByEmail = _users.update_user_by_email
        _13: _GetUser = _users.get_user
        _14: _UpdateUser = _users.update_user
        _15: _DeactivateUser = _users.deactivate_user
        _16: _ReactivateUser = _users.reactivate_user
        _17: _UpdateOwnProfileData = _users.update_own_profile_data
        _18: _ClearOwnProfileData = _users.clear_own_profile_data
        _19: _UploadOwnAvatar = _users.upload_own_avatar
        _20: _DeleteOwnAvatar = _users.delete_own_avatar
        _21: _GetUserStatus = _users.get_user_status
        _22: _UpdateUserStatus = _users.update_user_status
        _23: _UpdateOwnStatus = _users.update_own_status
        _24: _ListBots = _bots.list_bots
        _25: _CreateBot = _bots.create_bot
        _26: _UpdateBot = _bots.update_bot
        _27: _DeactivateBot = _bots.deactivate_bot
        _28: _RegenerateBotApiKey = _bots.regenerate_bot_api_key
        _29: _GetBotStorage = _bot_storage.get_bot_storage
        _30: _UpdateBotStorage = _bot_storage.update_bot_storage
        _31: _RemoveBotStorage = _bot_storage.remove_bot_storage
        _32: _ReceiveJson = _incoming_webhooks.receive_json
        _33: _ReceiveWebhook = _incoming_webhooks.receive_webhook
        _34: _UpdateOwnPresence = _presence.update_own_presence
        _35: _GetUserPresence = _presence.get_user_presence
        _36: _GetRealmPresence = _presence.get_realm_presence
        _37: _ListScheduledMessages = _scheduled_messages.list_scheduled_messages
        _38: _CreateScheduledMessage = _scheduled_messages.create_scheduled_message
        _39: _UpdateScheduledMessage = _scheduled_messages.update_scheduled_message
        _40: _DeleteScheduledMessage = _scheduled_messages.delete_scheduled_message
        _41: _ListReminders = _reminders.list_reminders
        _42: _CreateReminder = _reminders.create_reminder
        _43: _DeleteReminder = _reminders.delete_reminder
        _44: _MuteUser = _muted_users.mute_user
        _45: _UnmuteUser = _muted_users.unmute_user
        _46: _ListAlertWords = _alert_words.list_alert_words
        _47: _AddAlertWords = _alert_words.add_alert_words
        _48: _RemoveAlertWords = _alert_words.remove_alert_words
        _49: _ListDrafts = _drafts.list_drafts
        _50: _CreateDrafts = _drafts.create_drafts
        _51: _UpdateDraft = _drafts.update_draft
        _52: _DeleteDraft = _drafts.delete_draft
        _53: _ListSavedSnippets = _saved_snippets.list_saved_snippets
        _54: _CreateSavedSnippet = _saved_snippets.create_saved_snippet
        _55: _UpdateSavedSnippet = _saved_snippets.update_saved_snippet
        _56: _DeleteSavedSnippet = _saved_snippets.delete_saved_snippet
        _57: _UploadFile = _uploads.upload_file
        _58: _GetTemporaryUrl = _uploads.get_temporary_url
        _59: _ListAttachments = _uploads.list_attachments
        _60: _DeleteAttachment = _uploads.delete_attachment
        _61: _ListNavigationViews = _navigation_views.list_navigation_views
        _62: _AddNavigationView = _navigation_views.add_navigation_view
        _63: _UpdateNavigationView = _navigation_views.update_navigation_view
        _64: _RemoveNavigationView = _navigation_views.remove_navigation_view
        _65: _RegisterQueue = _events.register_queue
        _66: _GetEvents = _events.get_events
        _67: _DeleteQueue = _events.delete_queue
        _68: _ListUserGroups = _user_groups.list_user_groups
        _69: _CreateUserGroup = _user_groups.create_user_group
        _70: _UpdateUserGroup = _user_groups.update_user_group
        _71: _DeactivateUserGroup = _user_groups.deactivate_user_group
        _72: _ListUserGroupMembers = _user_groups.list_user_group_members
        _73: _UpdateUserGroupMembers = _user_groups.update_user_group_members
        _74: _GetUserGroupMembership = _user_groups.get_user_group_membership
        _75: _ListUserGroupSubgroups = _user_groups.list_user_group_subgroups
        _76: _UpdateUserGroupSubgroups = _user_groups.update_user_group_subgroups
        _77: _GetSettings = _settings.get_settings
        _78: _UpdateSettings = _settings.update_settings
        _79: _UpdateNotificationSettings = _settings.update_notification_settings
        _80: _GetEmailConfirmation = _settings.get_email_confirmation
        _81: _ConfirmNewEmail = _settings.confirm_new_email
        _82: _ListInvitations = _invitations.list_invitations
        _83: _SendInvitations = _invitations.send_invitations
        _84: _CreateInvitationLink = _invitations.create_invitation_link
        _85: _ResendInvitation = _invitations.resend_invitation
        _86: _RevokeInvitation = _invitations.revoke_invitation
        _87: _EditInvitationLink = _invitations.edit_invitation_link
        _88: _RevokeInvitationLink = _invitations.revoke_invitation_link
        _89: _GetInvitation = _invitations.get_invitation
        _90: _AcceptInvitation = _invitations.accept_invitation
        _91: _UpdateRealm = _realm.update_realm
        _92: _UpdateUserDefaults = _realm.update_user_defaults
        _93: _TryWelcomeMessage = _realm.try_welcome_message
        _94: _ListProfileFields = _profile_fields.list_profile_fields
        _95: _ReorderProfileFields = _profile_fields.reorder_profile_fields
        _96: _CreateProfileField = _profile_fields.create_profile_field
        _97: _ListLinkifiers = _linkifiers.list_linkifiers
        _98: _ReorderLinkifiers = _linkifiers.reorder_linkifiers
        _99: _ListCustomEmoji = _custom_emoji.list_custom_emoji
        _100: _CreateCustomEmoji = _custom_emoji.create_custom_emoji
        _101: _DeleteCustomEmoji = _custom_emoji.delete_custom_emoji
        _102: _SendMessage = _messages.send_message
        _103: _ListMessages = _messages.list_messages
        _104: _GetMessage = _messages.get_message
        _105: _UpdateMessage = _messages.update_message
        _106: _DeleteMessage = _messages.delete_message
        _107: _ListMessageHistory = _messages.list_message_history
        _108: _ListReadReceipts = _messages.list_read_receipts
        _109: _CheckMessagesMatchNarrow = _messages.check_messages_match_narrow
        _110: _ReportMessage = _messages.report_message
        _111: _SetTypingStatus = _typing_status.set_typing_status
        _112: _SetEditTypingStatus = _typing_status.set_edit_typing_status
        _113: _RenderText = _messages.render_text
        _114: _UpdateMessageFlagsForNarrow = _message_flags.update_message_flags_for_narrow
        _115: _UpdateMessageFlags = _message_flags.update_message_flags
        _116: _MarkAllAsRead = _message_flags.mark_all_as_read
        _117: _MarkChannelAsRead = _message_flags.mark_channel_as_read
        _118: _MarkTopicAsRead = _message_flags.mark_topic_as_read
        _119: _AddSubmessage = _submessages.add_submessage
        _120: _AddReaction = _reactions.add_reaction
        _121: _RemoveReaction = _reactions.remove_reaction
        _122: _ListChannels = _channels.list_channels
        _123: _GetChannel = _channels.get_channel
        _124: _UpdateChannel = _channels.update_channel
        _125: _ArchiveChannel = _channels.archive_channel
        _126: _ListChannelSubscribers = _channels.list_channel_subscribers
        _127: _AddDefaultChannel = _channels.add_default_channel
        _128: _RemoveDefaultChannel = _channels.remove_default_channel
        _129: _GetChannelId = _channels.get_channel_id
        _130: _ListSubscriptions = _subscriptions.list_subscriptions
        _131: _Subscribe = _subscriptions.subscribe
        _132: _Unsubscribe = _subscriptions.unsubscribe
        _133: _UpdateSubscriptions = _subscriptions.update_subscriptions
        _134: _CreateChannel = _channels.create_channel
        _135: _UpdateMutedTopic = _topics.update_muted_topic
        _136: _UpdateSubscriptionSettings = _subscriptions.update_subscription_settings
        _137: _UpdateSubscriptionSetting = _subscriptions.update_subscription_setting
        _138: _GetSubscriptionStatus = _subscriptions.get_subscription_status
        _139: _ListUserTopics = _topics.list_user_topics
        _140: _SetUserTopic = _topics.set_user_topic
        _141: _GetChannelEmail = _channels.get_channel_email
        _142: _DeleteTopic = _topics.delete_topic
        _143: _ListTopics = _topics.list_topics
        _144: _RegisterClientDevice = _mobile_push.register_client_device
        _145: _RemoveClientDevice = _mobile_push.remove_client_device
        _146: _ListOwnDevices = _mobile_push.list_own_devices
        _147: _RegisterPushDevice = _mobile_push.register_push_device
        _148: _SendTestPushNotification = _mobile_push.send_test_push_notification
        _149: _CreateZoomCall = _calls.create_zoom_call
        _150: _CreateVideoCall = _calls.create_video_call
        _151: _BeginVendorAuthorization = _calls.begin_vendor_authorization
        _152: _CompleteVendorAuthorization = _calls.complete_vendor_authorization
        _153: _GetVendorTokenState = _calls.get_vendor_token_state
        _154: _RevokeVendorToken = _calls.revoke_vendor_token
        _155: _ReceiveVendorNotice = _calls.receive_vendor_notice
        _156: _ListChannelFolders = _channel_folders.list_channel_folders
        _157: _ReorderChannelFolders = _channel_folders.reorder_channel_folders
        _158: _CreateChannelFolder = _channel_folders.create_channel_folder
        _159: _UpdateChannelFolder = _channel_folders.update_channel_folder
        _160: _CreatePlayground = _playgrounds.create_playground
        _161: _DeletePlayground = _playgrounds.delete_playground
        _162: _ListDomains = _domains.list_domains
        _163: _CreateDomain = _domains.create_domain
        _164: _UpdateDomain = _domains.update_domain
        _165: _DeleteDomain = _domains.delete_domain
        _166: _ListExports = _exports.list_exports
        _167: _CreateExport = _exports.create_export
        _168: _ListExportConsents = _exports.list_export_consents
        _169: _DeleteExport = _exports.delete_export
        _170: _UpdateLinkifier = _linkifiers.update_linkifier
        _171: _DeleteLinkifier = _linkifiers.delete_linkifier
        _172: _CreateLinkifier = _linkifiers.create_linkifier
        _173: _UpdateProfileField = _profile_fields.update_profile_field
        _174: _DeleteProfileField = _profile_fields.delete_profile_field
        _175: _GetOwnUser = _users.get_own_user
        _176: _DeactivateOwnUser = _users.deactivate_own_user
        _177: _RegenerateOwnApiKey = _users.regenerate_own_api_key
