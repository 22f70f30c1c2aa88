"""The settings of the payment and the chat service, beside those of every project."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from setting_values import (
    parse_domain,
    parse_mail_url,
    parse_networks,
    parse_rpc_urls,
    parse_sender,
    parse_service_url,
    parse_wallet_urls,
)
from specd import _settings as base_settings
from specd import setting
from specd.errors import SettingsError
from specd.settings import (
    Variable,
    is_loopback,
    one_of,
    parse_bool,
    seconds,
    secret_text,
    setting_for_each,
    whole,
)


class Quota(NamedTuple):
    """`what` there may be so many of, unless the operator sets another number up to `most`."""

    default: int
    what: str
    most: int = 1_000_000


CHAT_QUOTAS: Mapping[str, Quota] = {
    "devices_per_user": Quota(100, "devices per chat user"),
    "scheduled_messages_per_user": Quota(
        500, "pending and failed scheduled messages per chat user"
    ),
    "bots_per_user": Quota(100, "bots that a chat user owns or has made"),
    "bot_storage_keys": Quota(10_000, "values that a chat bot stores"),
    "bot_storage_characters": Quota(
        10_000_000, "characters that a chat bot stores, keys and values together", 1_000_000_000
    ),
    "reminders_per_user": Quota(500, "pending and failed reminders per chat user"),
    "drafts_per_user": Quota(1_000, "drafts per chat user"),
    "saved_snippets_per_user": Quota(500, "saved snippets per chat user"),
    "attachments_per_user": Quota(5_000, "uploaded files per chat user"),
    "navigation_views_per_user": Quota(500, "navigation views per chat user"),
    "alert_words_per_user": Quota(500, "alert words per chat user"),
    "muted_users_per_user": Quota(1_000, "users whom a chat user can mute"),
    "groups_per_user": Quota(250, "user groups created per chat user"),
    "invitations_per_user": Quota(1_000, "pending invitations per chat user"),
    "channels_per_user": Quota(1_000, "channels created per chat user, including archived ones"),
    "topic_policies_per_user": Quota(
        5_000,
        "topics that a chat user can mute, unmute or follow by request. Of users with 2,500 or more"
        " of them, no other topic is followed or unmuted automatically",
    ),
    "edits_per_message": Quota(500, "edits per chat message, and of moves"),
    "submessages_per_message": Quota(
        5_000, "votes, options, tasks and other changes of a poll or a to-do list"
    ),
    "reactions_per_message": Quota(2_000, "reactions to a chat message"),
    "reaction_emoji_per_message": Quota(
        100, "different emoji in the reactions to a message", 10_000
    ),
    "linkifiers_per_realm": Quota(250, "linkifiers per chat organization", 100_000),
    "playgrounds_per_realm": Quota(250, "code playgrounds per chat organization", 100_000),
    "profile_fields_per_realm": Quota(100, "custom profile fields per chat organization", 100_000),
    "custom_emoji_per_realm": Quota(
        2_000, "custom emoji per chat organization, including deactivated ones", 100_000
    ),
    "domains_per_realm": Quota(500, "email domains per chat organization", 100_000),
    "channel_folders_per_realm": Quota(
        500, "channel folders per chat organization, including archived ones", 100_000
    ),
}
"""The quotas of models/chat/common/quotas.py. Each has a variable of its own."""

DAY_S = 86_400
RETENTIONS: Mapping[str, tuple[int, str]] = {
    "idempotency": (7, "Minimum retention of idempotency keys."),
    "expired": (1, "Retention of expired checkout sessions and email confirmations."),
    "payment_event": (
        30,
        "Retention of payment events, which merchants read and webhooks deliver.",
    ),
    "chat_known_place": (90, "Retention of the addresses that each user has signed in from."),
    "mail": (30, "Retention of mail that was sent or failed permanently."),
    "chat_archive": (30, "Retention of deleted chat messages, which allows manual restoration."),
    "chat_event": (1, "Retention of chat events with their contents."),
    "chat_detached_upload": (35, "Retention of uploaded files that no message shows."),
    "chat_scheduled": (7, "Retention of the records of scheduled chat messages that were sent."),
    "chat_export": (30, "Retention of export archives."),
    "chat_audit": (730, "Retention of the chat audit log."),
}
"""For each kind of row the default in days, and the help text. Each has a variable of its own."""


class Settings(base_settings.Settings):
    """All settings of one process, parsed and checked; `_s` are seconds."""

    rate_limit_per_minute: int = setting(
        600, whole(1, 10_000_000), "Requests per API key and minute when rate limits are on."
    )
    chat_rate_limit_per_user: int = setting(
        200, whole(1, 10_000_000), "Chat requests per user and minute when rate limits are on."
    )
    chat_rate_limit_per_address: int = setting(
        100,
        whole(1, 10_000_000),
        "Chat requests per address and minute without a valid key, when rate limits are on.",
    )
    chat_secret: str = setting(
        "",
        secret_text(32),
        "Secret that derives chat API keys and encrypts chat secrets; the same on every machine.",
        shown="kept in {SPECD_DATA_DIR}/chat-secret",
        secret=True,
    )
    chat_secret_previous: str = setting(
        "",
        secret_text(32),
        "Secret used before `SPECD_CHAT_SECRET`, required until `specd chat reseal` has run.",
        shown="",
        secret=True,
    )
    chat_web_public_streams_enabled: bool = setting(
        True, parse_bool, "Allow chat organizations to create web-public channels."
    )
    dashboard_page: bool = setting(
        True, parse_bool, "Serve `/dashboard`, a page on which merchants watch their invoices."
    )
    chat_page: bool = setting(True, parse_bool, "Serve `/chat`, a small chat client for browsers.")
    chat_export_dir: Path = setting(
        Path(),
        Path,
        "Directory of chat organizations' exports, shared by servers and workers.",
        shown="{SPECD_DATA_DIR}/exports",
    )
    chat_upload_dir: Path = setting(
        Path(),
        Path,
        "Directory of uploaded files, shared by servers and workers; with a bucket, of those that"
        " arrive.",
        shown="{SPECD_DATA_DIR}/uploads",
    )
    chat_upload_bucket: str = setting(
        "", str, "Bucket of uploaded files in a store that speaks S3; if empty, the directory."
    )
    chat_upload_s3_url: str = setting(
        "", parse_service_url, "Address of the S3 store; if empty, Amazon's."
    )
    chat_upload_s3_region: str = setting("us-east-1", str, "Region of the S3 store.")
    chat_upload_s3_key_id: str = setting("", str, "Access key id at the S3 store.")
    chat_upload_s3_secret: str = setting(
        "", secret_text(8), "Secret access key at the S3 store.", secret=True
    )
    chat_upload_s3_timeout_s: float = setting(
        10.0, seconds(0.05, 300), "Timeout of one response from the S3 store."
    )
    chat_max_file_upload_size_mib: int = setting(
        25, whole(1, 10_240), "Maximum size of an uploaded file, in mebibytes."
    )
    chat_upload_quota_mib: int = setting(
        5_120,
        whole(1, 1_000_000_000),
        "Maximum size of all files of a chat organization, in mebibytes.",
    )
    chat_export_messages_max: int = setting(
        250_000,
        whole(1, 1_000_000_000),
        "Maximum number of messages of an organization that can request exports.",
    )
    chat_administrator_email: str = setting(
        "administrator@localhost",
        str,
        "Contact address of the server's operator, shown to chat organizations.",
    )
    mail_url: str = setting(
        "",
        parse_mail_url,
        "Outgoing mail: `smtp://USER:PASSWORD@HOST:PORT` (STARTTLS), `smtps://` or `file://`.",
        shown="file://{SPECD_DATA_DIR}/outbox",
        secret=True,
    )
    mail_from: str = setting(
        "specd <noreply@localhost>",
        parse_sender,
        "Sender of outgoing mail: `ADDRESS` or `NAME <ADDRESS>`.",
    )
    mail_timeout_s: float = setting(
        10.0, seconds(0.05, 300), "Timeout of one response from the mail server."
    )
    chat_mail_domain: str = setting(
        "",
        parse_domain,
        "Domain whose mail is handed to `specd chat receive-mail`; if empty, channels have no"
        " email addresses.",
    )
    push_relay_url: str = setting(
        "",
        parse_service_url,
        "Relay for mobile push notifications; if empty, notifications are disabled.",
    )
    push_relay_organization: str = setting("specd", str, "Name of this server at the push relay.")
    push_relay_key: str = setting(
        "", secret_text(8), "Key of this server at the push relay.", secret=True
    )
    push_relay_timeout_s: float = setting(
        3.0, seconds(0.05, 60), "Timeout of one response from the push relay."
    )
    video_vendor_url: str = setting(
        "",
        parse_service_url,
        "Vendor of video calls, where users authorize this server; if empty, calls are disabled.",
    )
    video_vendor_api_url: str = setting(
        "",
        parse_service_url,
        "Address of the vendor's API, which creates meetings.",
        shown="{SPECD_VIDEO_VENDOR_URL}",
    )
    video_vendor_client_id: str = setting(
        "", str, "Client id of this server's OAuth client at the vendor."
    )
    video_vendor_client_secret: str = setting(
        "", secret_text(8), "Secret of this server's OAuth client at the vendor.", secret=True
    )
    video_vendor_notice_token: str = setting(
        "",
        secret_text(8),
        "Shared token that authenticates the vendor's deauthorization webhooks.",
        secret=True,
    )
    video_vendor_timeout_s: float = setting(
        5.0, seconds(0.05, 60), "Timeout of one response from the vendor."
    )
    payment_secret: str = setting(
        "",
        secret_text(32),
        "Secret that encrypts the signing secrets of webhooks; the same on every machine.",
        shown="kept in {SPECD_DATA_DIR}/payment-secret",
        secret=True,
    )
    payment_secret_previous: str = setting(
        "",
        secret_text(32),
        "Secret used before `SPECD_PAYMENT_SECRET`, required until `specd payment reseal` has run.",
        shown="",
        secret=True,
    )
    webhook_networks: tuple[str, ...] = setting(
        (),
        parse_networks,
        "Networks, besides the public Internet, that webhooks can be posted to, also by `http`.",
        shown="",
    )
    webhook_endpoints_per_project: int = setting(
        20, whole(1, 100), "Maximum number of webhook endpoints per payment project."
    )
    payment_test_helpers: str = setting(
        "off",
        one_of("off", "on", "public"),
        "Serve `/v1/test-helpers`, with which merchants pay, reorganize and fail on test chains:"
        " `off`, `on` where all RPC endpoints are on this machine, `public` wherever they are.",
    )
    invoice_lifetime_s: int = setting(
        1800, whole(1, 31_536_000), "Time from an invoice's creation to its expiry."
    )
    invoice_monitoring_s: int = setting(
        86_400,
        whole(1, 315_360_000),
        "Time after an invoice's expiry during which its address is watched.",
    )
    checkout_lifetime_s: int = setting(
        1800, whole(1, 31_536_000), "Maximum lifetime of a checkout session."
    )
    retention_s: Mapping[str, int] = setting_for_each(
        lambda: [
            Variable(
                whole(1, 315_360_000), help, str(days * DAY_S), name=f"{name}_retention_s", key=name
            )
            for name, (days, help) in RETENTIONS.items()
        ]
    )
    chat_quotas: Mapping[str, int] = setting_for_each(
        lambda: [
            Variable(
                whole(1, quota.most),
                f"Maximum number of {quota.what}.",
                str(quota.default),
                name=f"chat_{name}",
                key=name,
            )
            for name, quota in CHAT_QUOTAS.items()
        ]
    )
    scheduled_late_window_s: int = setting(
        600,
        whole(1, 31_536_000),
        "Maximum delay after which a scheduled chat message can still be sent.",
    )
    chain_rpc_urls: tuple[str, ...] = setting(
        (),
        parse_rpc_urls,
        "JSON-RPC endpoints in order of preference: `URL` or `CHAINID=URL`, comma-separated.",
        shown="",
        secret=True,
    )
    wallet_rpc_urls: tuple[str, ...] = setting(
        (),
        parse_wallet_urls,
        "JSON-RPC endpoints for everybody, `CHAINID=URL`, comma-separated: the checkout page gives"
        " them to wallets that do not know the chain.",
        shown="",
    )
    chain_rpc_timeout_s: float = setting(
        3.0, seconds(0.05, 120), "Timeout of one response from a JSON-RPC endpoint."
    )
    chain_log_range: int = setting(
        1000, whole(1, 100_000), "Maximum number of blocks per `eth_getLogs` request."
    )
    chain_poll_s: float = setting(
        1.0,
        seconds(0.05, 600),
        "Shortest interval between polls of a chain that somebody waits for; slow chains are polled"
        " twice per block.",
    )
    chain_idle_poll_s: float = setting(
        25.0,
        seconds(0.05, 3600),
        "Interval between polls of a chain while no invoice is to be paid or confirmed.",
    )
    chain_port: int = setting(
        8545, whole(1, 65_535), "Port of the embedded test chain of `specd demo` and `specd chain`."
    )
    anvil: str = setting(
        "",
        str,
        "Path of the embedded chain's `anvil` binary; `none` selects py-evm.",
        shown="found on PATH, else py-evm",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        quotas = {name: quota.default for name, quota in CHAT_QUOTAS.items()}
        retentions = {name: days * DAY_S for name, (days, _) in RETENTIONS.items()}
        self._derive(
            chat_quotas=quotas | dict(self.chat_quotas),
            retention_s=retentions | dict(self.retention_s),
            mail_url=self.mail_url or f"file://{self.data_dir}/outbox",
            chat_export_dir=self._folder(self.chat_export_dir, "exports"),
            chat_upload_dir=self._folder(self.chat_upload_dir, "uploads"),
        )

    @property
    def has_test_helpers(self) -> bool:
        """Whether the payment service serves its test helpers."""
        return self.payment_test_helpers != "off"

    def find_folders(self) -> dict[str, Path]:
        """Return the folders that servers and workers write, by the name of each setting."""
        mail = urlsplit(self.mail_url)
        outbox = {"mail_url": Path(f"{mail.netloc}{mail.path}")} if mail.scheme == "file" else {}
        return super().find_folders() | outbox

    def check(self) -> None:
        """Raise `SettingsError` for settings that would expose development features or secrets."""
        super().check()
        endpoints = [
            entry.partition("=")[2] if "=" in entry.partition("://")[0] else entry
            for entry in self.chain_rpc_urls
        ]
        hosts = [urlsplit(url).hostname or "" for url in endpoints]
        if self.payment_test_helpers == "on" and not all(map(is_loopback, hosts)):
            raise SettingsError(
                "SPECD_PAYMENT_TEST_HELPERS=on lets API keys act on chains and requires that all"
                " SPECD_CHAIN_RPC_URLS are on this machine; SPECD_PAYMENT_TEST_HELPERS=public"
                " allows others."
            )
        self.require_https("push_relay_url", self.push_relay_url)
        self.require_https("chat_upload_s3_url", self.chat_upload_s3_url)
        self.require_https("video_vendor_url", self.video_vendor_url)
        self.require_https("video_vendor_api_url", self.video_vendor_api_url)
        self.require_https("chain_rpc_urls", *endpoints)
