"""Every `SPECD_*` environment variable: name, default, parser and help text, each in one place.

Imports the project and the parsers of values, nothing else of ours. `SPECD_TEST_*`
belongs to the test suite and is not read here.
"""

import difflib
import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import project
from setting_values import (
    one_of,
    parse_bind,
    parse_bool,
    parse_database_url,
    parse_domain,
    parse_limits_url,
    parse_mail_url,
    parse_networks,
    parse_origins,
    parse_proxies,
    parse_public_url,
    parse_rpc_urls,
    parse_sender,
    parse_service_url,
    parse_wallet_urls,
    seconds,
    secret_text,
    whole,
)

PREFIX = "SPECD_"
TEST_PREFIX = "SPECD_TEST_"
FILE = "_FILE"

REMOVED: Mapping[str, str] = {}
"""Variables of earlier releases without an effect now -> what to do instead, as a sentence. During
a rolling upgrade servers of both releases read one environment, so they are reported and ignored.
"""

T = TypeVar("T")


class SettingsError(Exception):
    """A variable is unknown or has a bad value; the message is one sentence, without secrets."""


@dataclass(frozen=True, slots=True)
class Described:
    """One setting as people see it; secrets in `value` are masked."""

    variable: str
    value: str
    default: str
    origin: str
    help: str


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the environment. It sets `field`, or the entry `key` of the mapping there.

    `name` is the variable's where it is not that of the field; `default` is how people see it.
    """

    parse: Callable[[str], Any]
    help: str
    default: str
    is_secret: bool = False
    name: str = ""
    field: str = ""
    key: str = ""

    def put(self, values: dict[str, Any], value: Any) -> None:
        """Add a parsed value to the keywords that make `Settings`."""
        if self.key:
            values.setdefault(self.field, {})[self.key] = value
        else:
            values[self.field] = value

    def value_in(self, settings: "Settings") -> Any:
        value = getattr(settings, self.field)
        return value[self.key] if self.key else value


def _written(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    return ",".join(value) if isinstance(value, tuple) else str(value)


def setting(
    default: T,
    parse: Callable[[str], T],
    help: str,
    *,
    shown: str | None = None,
    secret: bool = False,
) -> T:
    """Return a dataclass field with its parser, its help text and how its default is written."""
    its = Variable(parse, help, _written(default) if shown is None else shown, secret)
    return field(default=default, repr=not secret, metadata={"variables": (its,)})


def setting_for_each(variables: Iterable[Variable]) -> Mapping[str, Any]:
    """Return a dataclass field with a mapping whose entries have a variable each."""
    return field(default_factory=dict, repr=False, metadata={"variables": tuple(variables)})


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


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of one process, parsed and checked; `_s` are seconds."""

    data_dir: Path = setting(
        Path("./var"), Path, "Directory of the SQLite files and the run-time state.", shown="./var"
    )
    database_urls: Mapping[str, str] = setting_for_each(
        Variable(
            parse_database_url,
            f"Database of the {service} service.",
            f"sqlite:///{{SPECD_DATA_DIR}}/{service}.db",
            is_secret=True,
            name=f"{service}_database_url",
            key=service,
        )
        for service in project.current().names
    )
    database_direct_urls: Mapping[str, str] = setting_for_each(
        Variable(
            parse_database_url,
            f"PostgreSQL of the {service} service past a pooler (`pooling=transaction` in the URL"
            " above), for notifications. Without it, they are polled.",
            "",
            is_secret=True,
            name=f"{service}_database_direct_url",
            key=service,
        )
        for service in project.current().names
    )
    database_pool_size: int = setting(
        8,
        whole(1, 200),
        "PostgreSQL connections per process: this many for reads and as many for writes.",
    )
    lock_timeout_s: float = setting(
        3.0, seconds(0.05, 60), "Longest wait for a database lock before the request fails."
    )
    bind: str = setting("127.0.0.1:8080", parse_bind, "Address that the HTTP server listens on.")
    public_url: str = setting(
        "",
        parse_public_url,
        "Public address of the server, in checkout URLs and published documents.",
        shown="http://{SPECD_BIND}",
    )
    allowed_origins: tuple[str, ...] = setting(
        (),
        parse_origins,
        "Origins, besides the server's own, whose pages can read answers and change things (CORS).",
        shown="",
    )
    trusted_proxies: tuple[str, ...] = setting(
        (),
        parse_proxies,
        "Proxies whose `X-Forwarded-For` is trusted: addresses, networks, `unix`.",
        shown="",
    )
    workers: int = setting(2, whole(1, 128), "Number of HTTP server processes.")
    drain_s: float = setting(
        0.0,
        seconds(0, 60),
        "How long a server goes on after SIGTERM, not ready, so that a balancer leaves it first.",
    )
    body_read_timeout_s: float = setting(
        15.0, seconds(0.1, 600), "Deadline for a client to send the whole request body."
    )
    answer_read_timeout_s: float = setting(
        20.0,
        seconds(0.1, 600),
        "Longest time a client can stop reading a response before the connection closes.",
    )
    rate_limits: bool = setting(
        True, parse_bool, "Enable rate limits (`specd demo` runs without limits)."
    )
    limits_url: str = setting(
        "",
        parse_limits_url,
        "Redis or Valkey in which all machines count requests together:"
        " `redis://USER:PASSWORD@HOST:PORT/NUMBER`, or `rediss://` for TLS. If empty, each machine"
        " counts by itself.",
        secret=True,
    )
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
        Variable(
            whole(1, 315_360_000), help, str(days * DAY_S), name=f"{name}_retention_s", key=name
        )
        for name, (days, help) in RETENTIONS.items()
    )
    chat_quotas: Mapping[str, int] = setting_for_each(
        Variable(
            whole(1, quota.most),
            f"Maximum number of {quota.what}.",
            str(quota.default),
            name=f"chat_{name}",
            key=name,
        )
        for name, quota in CHAT_QUOTAS.items()
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
    log_level: str = setting(
        "info", one_of("debug", "info", "warning", "error"), "Minimum log level."
    )
    metrics_dir: Path = setting(
        Path(),
        Path,
        "Directory of the counters that server processes share.",
        shown="{SPECD_DATA_DIR}/metrics",
    )
    validate_responses: bool = setting(
        False, parse_bool, "Validate each response against the document; a mismatch becomes a 500."
    )
    allow_plain_http: bool = setting(
        False,
        parse_bool,
        "Allow `http://` addresses of external services on other machines.",
    )
    development: bool = setting(
        False,
        parse_bool,
        "Enable development features; rejected on an address that other machines can reach.",
    )

    def __post_init__(self) -> None:
        data_dir = Path(self.data_dir)
        derived: dict[str, Any] = {"data_dir": data_dir}
        derived["database_urls"] = {
            name: self.database_urls.get(name) or f"sqlite:///{data_dir}/{name}.db"
            for name in project.current().names
        }
        derived["database_direct_urls"] = {
            name: self.database_direct_urls.get(name, "") for name in project.current().names
        }
        quotas = {name: quota.default for name, quota in CHAT_QUOTAS.items()}
        derived["chat_quotas"] = quotas | dict(self.chat_quotas)
        retentions = {name: days * DAY_S for name, (days, _) in RETENTIONS.items()}
        derived["retention_s"] = retentions | dict(self.retention_s)
        derived["mail_url"] = self.mail_url or f"file://{data_dir}/outbox"
        derived["public_url"] = self.public_url or _url_of(self.bind)
        folders = {
            "metrics_dir": "metrics",
            "chat_export_dir": "exports",
            "chat_upload_dir": "uploads",
        }
        for name, folder in folders.items():
            directory = Path(getattr(self, name))
            derived[name] = data_dir / folder if directory == Path() else directory
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    @property
    def has_test_helpers(self) -> bool:
        """Whether the payment service serves its test helpers."""
        return self.payment_test_helpers != "off"

    @property
    def published_url(self) -> str | None:
        """The public address, if the operator has set one."""
        return None if self.public_url == _url_of(self.bind) else self.public_url

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None) -> "Settings":
        """Return the settings of the environment; an empty variable counts as unset.

        For a secret NAME, NAME_FILE may be the path of a file with the secret. Raise
        `SettingsError` for an unknown variable, a bad value, and one that is unsafe with the
        others.
        """
        environ = with_secret_files(os.environ if env is None else env)
        by_name = variables()
        for name in sorted(environ):
            if not name.startswith(PREFIX) or name.startswith(TEST_PREFIX) or name in REMOVED:
                continue
            if name not in by_name:
                raise SettingsError(f"{name} is not a setting: {_hint(name, by_name)}.")
        values: dict[str, Any] = {}
        for name, definition in by_name.items():
            if text := environ.get(name, "").strip():
                try:
                    definition.put(values, definition.parse(text))
                except ValueError as problem:
                    raise SettingsError(f"{name} {problem}.") from None
        settings = cls(**values)
        _check_exposure(settings)
        return settings

    def describe(self, env: Mapping[str, str] | None = None) -> list[Described]:
        """Return every setting with its value, secrets masked, and its origin."""
        environ = with_secret_files(os.environ if env is None else env)
        return [
            Described(
                variable=name,
                value=_shown(definition.value_in(self), secret=definition.is_secret),
                default=definition.default,
                origin="environment" if environ.get(name, "").strip() else "default",
                help=definition.help,
            )
            for name, definition in variables().items()
        ]


def find_removed(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of an environment that no longer have an effect, with what to do."""
    return {name: REMOVED[name] for name in sorted(env) if name in REMOVED}


def variables() -> dict[str, Variable]:
    """Return name -> variable, in the order of the fields and of their entries."""
    return {
        variable(its.name or f.name): replace(its, field=f.name)
        for f in fields(Settings)
        for its in f.metadata["variables"]
    }


def variable(field_name: str) -> str:
    return PREFIX + field_name.upper()


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a host: a name or an address."""
    with suppress(ValueError):
        return ip_address(host.strip("[]")).is_loopback
    return host == "localhost" or host.endswith(".localhost")


def with_secret_files(environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return the environment with the contents of the files NAME_FILE. Raise `SettingsError`."""
    values = dict(environ)
    for name in (name for name, definition in variables().items() if definition.is_secret):
        path = values.pop(f"{name}{FILE}", "").strip()
        if not path:
            continue
        if values.get(name, "").strip():
            raise SettingsError(f"{name} and {name}{FILE} are both set; keep one.")
        try:
            values[name] = Path(path).read_text().strip()
        except (OSError, UnicodeDecodeError) as problem:
            raise SettingsError(
                f"{name}{FILE} cannot be read ({type(problem).__name__})."
            ) from None
        if not values[name]:
            raise SettingsError(f"{name}{FILE} names an empty file.")
    return values


def _check_exposure(settings: "Settings") -> None:
    """Raise `SettingsError` for settings that would expose development features or secrets."""
    host = settings.bind.rpartition(":")[0]
    if settings.development and not is_loopback(host):
        raise SettingsError(
            f"SPECD_DEVELOPMENT allows sign-in without a password and requires a SPECD_BIND"
            f" that only this machine can reach, such as 127.0.0.1:8080, not {settings.bind}."
        )
    endpoints = [entry.partition("=")[2] if "=" in entry.partition("://")[0] else entry
                 for entry in settings.chain_rpc_urls]  # fmt: skip
    hosts = [urlsplit(url).hostname or "" for url in endpoints]
    if settings.payment_test_helpers == "on" and not all(map(is_loopback, hosts)):
        raise SettingsError(
            "SPECD_PAYMENT_TEST_HELPERS=on lets API keys act on chains and requires that all"
            " SPECD_CHAIN_RPC_URLS are on this machine; SPECD_PAYMENT_TEST_HELPERS=public allows"
            " others."
        )
    if settings.allow_plain_http:
        return
    for name, urls in (
        ("push_relay_url", (settings.push_relay_url,)),
        ("chat_upload_s3_url", (settings.chat_upload_s3_url,)),
        ("video_vendor_url", (settings.video_vendor_url,)),
        ("video_vendor_api_url", (settings.video_vendor_api_url,)),
        ("chain_rpc_urls", tuple(endpoints)),
    ):
        for url in urls:
            parts = urlsplit(url)
            if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
                raise SettingsError(
                    f"{variable(name)} must be an https URL, because http exposes secrets to the"
                    " network; SPECD_ALLOW_PLAIN_HTTP=true allows http."
                )


def mask(text: str) -> str:
    """Return the text without the secrets of its URLs: passwords, queries, paths of http URLs."""
    text = re.sub(r"(postgres[^:]*://[^:/@\s]*):\S*@", r"\1:***@", text)
    text = re.sub(r"(smtps?://[^:/@\s]*):\S*@", r"\1:***@", text)
    text = re.sub(r"(rediss?://[^:/@\s]*):\S*@", r"\1:***@", text)
    text = re.sub(r"(https?://)[^/\s,]*@", r"\1***@", text)
    text = re.sub(r"(https?://[^/?\s,]+)[/?][^\s,]+", r"\1/***", text)
    return re.sub(r"(postgres[^?\s]*)\?\S+", r"\1?***", text)


def _url_of(bind: str) -> str:
    host, _, port = bind.rpartition(":")
    return f"http://{'127.0.0.1' if host in {'0.0.0.0', '[::]'} else host}:{port}"


def _hint(name: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(names), n=1)
    return f"did you mean {near[0]}" if near else "`specd config check` lists all settings"


def _shown(value: object, *, secret: bool) -> str:
    text = _written(value)
    if not secret:
        return text
    return mask(text) if "://" in text or not text else "***"
