"""The settings of the payment and the chat service."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple
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
from specd import Settings as BaseSettings
from specd import setting
from specd.errors import SettingsError
from specd.settings import is_loopback, setting_for_each


class Quota(NamedTuple):
    """A limit on the number of `what`. The operator can set another one, up to `most`."""

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
"""The quotas of models/chat/common/quotas.py. Each has a separate variable."""
DAY_S = 86_400
MAX_RETENTION_S = 10 * 365 * DAY_S


class Settings(BaseSettings):
    """The settings of both services, in addition to those of every project."""

    rate_limit_per_minute: int = setting(
        "Requests per API key and minute when rate limits are on.",
        default=600,
        minimum=1,
        maximum=10_000_000,
    )
    chat_rate_limit_per_user: int = setting(
        "Chat requests per user and minute when rate limits are on.",
        default=200,
        minimum=1,
        maximum=10_000_000,
    )
    chat_rate_limit_per_address: int = setting(
        "Chat requests per address and minute without a valid key, when rate limits are on.",
        default=100,
        minimum=1,
        maximum=10_000_000,
    )
    chat_secret: str = setting(
        "Secret that derives chat API keys and encrypts chat secrets; the same on every machine.",
        default="",
        minimum=32,
        shown="kept in {SPECD_DATA_DIR}/chat-secret",
        secret=True,
    )
    chat_secret_previous: str = setting(
        "Secret used before `SPECD_CHAT_SECRET`, required until `specd chat reseal` has run.",
        default="",
        minimum=32,
        secret=True,
    )
    chat_web_public_streams_enabled: bool = setting(
        "Allow chat organizations to create web-public channels.", default=True
    )
    dashboard_page: bool = setting(
        "Serve `/dashboard`, a page on which merchants watch their invoices.", default=True
    )
    chat_page: bool = setting("Serve `/chat`, a small chat client for browsers.", default=True)
    chat_export_dir: Path = setting(
        "Directory of chat organizations' exports, shared by servers and workers.",
        default=Path(),
        shown="{SPECD_DATA_DIR}/exports",
    )
    chat_upload_dir: Path = setting(
        "Directory of uploaded files, shared by servers and workers. With a bucket, only for files"
        " during their upload.",
        default=Path(),
        shown="{SPECD_DATA_DIR}/uploads",
    )
    chat_upload_bucket: str = setting(
        "Bucket of uploaded files in an S3 store; if empty, files are in the directory.", default=""
    )
    chat_upload_s3_url: str = setting(
        "Address of the S3 store; if empty, Amazon's.", default="", parse=parse_service_url
    )
    chat_upload_s3_region: str = setting("Region of the S3 store.", default="us-east-1")
    chat_upload_s3_key_id: str = setting("Access key id at the S3 store.", default="")
    chat_upload_s3_secret: str = setting(
        "Secret access key at the S3 store.", default="", minimum=8, secret=True
    )
    chat_upload_s3_timeout_s: float = setting(
        "Timeout of one response from the S3 store.", default=10.0, minimum=0.05, maximum=300
    )
    chat_max_file_upload_size_mib: int = setting(
        "Maximum size of an uploaded file, in mebibytes.", default=25, minimum=1, maximum=10_240
    )
    chat_upload_quota_mib: int = setting(
        "Maximum size of all files of a chat organization, in mebibytes.",
        default=5_120,
        minimum=1,
        maximum=1_000_000_000,
    )
    chat_export_messages_max: int = setting(
        "Maximum number of messages of an organization whose administrators can request exports.",
        default=250_000,
        minimum=1,
        maximum=1_000_000_000,
    )
    chat_administrator_email: str = setting(
        "Contact address of the server's operator, shown to chat organizations.",
        default="administrator@localhost",
    )
    mail_url: str = setting(
        "Outgoing mail: `smtp://USER:PASSWORD@HOST:PORT` (STARTTLS), `smtps://` or `file://`.",
        default="",
        parse=parse_mail_url,
        shown="file://{SPECD_DATA_DIR}/outbox",
        secret=True,
    )
    mail_from: str = setting(
        "Sender of outgoing mail: `ADDRESS` or `NAME <ADDRESS>`.",
        default="specd <noreply@localhost>",
        parse=parse_sender,
    )
    mail_timeout_s: float = setting(
        "Timeout of one response from the mail server.", default=10.0, minimum=0.05, maximum=300
    )
    chat_mail_domain: str = setting(
        "Domain whose mail `specd chat receive-mail` receives; if empty, channels have no email"
        " addresses.",
        default="",
        parse=parse_domain,
    )
    push_relay_url: str = setting(
        "Relay for mobile push notifications; if empty, notifications are disabled.",
        default="",
        parse=parse_service_url,
    )
    push_relay_organization: str = setting(
        "Name of this server at the push relay.", default="specd"
    )
    push_relay_key: str = setting(
        "Key of this server at the push relay.", default="", minimum=8, secret=True
    )
    push_relay_timeout_s: float = setting(
        "Timeout of one response from the push relay.", default=3.0, minimum=0.05, maximum=60
    )
    video_vendor_url: str = setting(
        "Vendor of video calls, where users authorize this server; if empty, calls are disabled.",
        default="",
        parse=parse_service_url,
    )
    video_vendor_api_url: str = setting(
        "Address of the vendor's API, which creates meetings.",
        default="",
        parse=parse_service_url,
        shown="{SPECD_VIDEO_VENDOR_URL}",
    )
    video_vendor_client_id: str = setting(
        "Client id of this server's OAuth client at the vendor.", default=""
    )
    video_vendor_client_secret: str = setting(
        "Secret of this server's OAuth client at the vendor.", default="", minimum=8, secret=True
    )
    video_vendor_notice_token: str = setting(
        "Shared token that authenticates the vendor's deauthorization webhooks.",
        default="",
        minimum=8,
        secret=True,
    )
    video_vendor_timeout_s: float = setting(
        "Timeout of one response from the vendor.", default=5.0, minimum=0.05, maximum=60
    )
    payment_secret: str = setting(
        "Secret that encrypts the signing secrets of webhooks; the same on every machine.",
        default="",
        minimum=32,
        shown="kept in {SPECD_DATA_DIR}/payment-secret",
        secret=True,
    )
    payment_secret_previous: str = setting(
        "Secret used before `SPECD_PAYMENT_SECRET`, required until `specd payment reseal` has run.",
        default="",
        minimum=32,
        secret=True,
    )
    webhook_networks: tuple[str, ...] = setting(
        "Networks other than the Internet to which webhooks can be posted, also with `http`.",
        default=(),
        parse=parse_networks,
    )
    webhook_endpoints_per_project: int = setting(
        "Maximum number of webhook endpoints per payment project.",
        default=20,
        minimum=1,
        maximum=100,
    )
    payment_test_helpers: Literal["off", "on", "public"] = setting(
        "Serve `/v1/test-helpers`, which simulates payments, reorganizations and faults on test"
        " chains: `off`, `on` (rejected unless all RPC endpoints are on this machine) or `public`.",
        default="off",
    )
    invoice_lifetime_s: int = setting(
        "Time from an invoice's creation to its expiry.",
        default=1800,
        minimum=1,
        maximum=31_536_000,
    )
    invoice_monitoring_s: int = setting(
        "Time after an invoice's expiry during which its address is watched.",
        default=86_400,
        minimum=1,
        maximum=315_360_000,
    )
    checkout_lifetime_s: int = setting(
        "Maximum lifetime of a checkout session.", default=1800, minimum=1, maximum=31_536_000
    )
    chat_detached_upload_retention_s: int = setting(
        "Retention of uploaded files that no message shows.",
        default=35 * DAY_S,
        minimum=1,
        maximum=MAX_RETENTION_S,
    )
    chat_export_retention_s: int = setting(
        "Retention of export archives.", default=30 * DAY_S, minimum=1, maximum=MAX_RETENTION_S
    )
    chat_quotas: Mapping[str, int] = setting_for_each(
        {
            name: setting(
                f"Maximum number of {quota.what}.",
                default=quota.default,
                minimum=1,
                maximum=quota.most,
            )
            for name, quota in CHAT_QUOTAS.items()
        },
        variable="chat_{}",
    )
    scheduled_late_window_s: int = setting(
        "Maximum delay after which a scheduled chat message can still be sent.",
        default=600,
        minimum=1,
        maximum=31_536_000,
    )
    chain_rpc_urls: tuple[str, ...] = setting(
        "JSON-RPC endpoints in order of preference: `URL` or `CHAINID=URL`, comma-separated.",
        default=(),
        parse=parse_rpc_urls,
        secret=True,
    )
    wallet_rpc_urls: tuple[str, ...] = setting(
        "Public JSON-RPC endpoints, `CHAINID=URL`, comma-separated: the checkout page gives them to"
        " wallets that do not know the chain.",
        default=(),
        parse=parse_wallet_urls,
    )
    chain_rpc_timeout_s: float = setting(
        "Timeout of one response from a JSON-RPC endpoint.", default=3.0, minimum=0.05, maximum=120
    )
    chain_log_range: int = setting(
        "Maximum number of blocks per `eth_getLogs` request.",
        default=1000,
        minimum=1,
        maximum=100_000,
    )
    chain_poll_s: float = setting(
        "Shortest interval between polls of a chain while a payment is awaited; slow chains are"
        " polled twice per block.",
        default=1.0,
        minimum=0.05,
        maximum=600,
    )
    chain_idle_poll_s: float = setting(
        "Interval between polls of a chain while no payment is awaited.",
        default=25.0,
        minimum=0.05,
        maximum=3600,
    )
    chain_port: int = setting(
        "Port of the embedded test chain of `specd demo` and `specd chain`.",
        default=8545,
        minimum=1,
        maximum=65_535,
    )
    anvil: str = setting(
        "Path of the embedded chain's `anvil` binary; `none` selects py-evm.",
        default="",
        shown="found on PATH, else py-evm",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self._derive(
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
