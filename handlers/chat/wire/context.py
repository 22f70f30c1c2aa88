"""The context of chat's handlers: a request whose actor, adapters and settings have types."""

import time
from dataclasses import dataclass, field
from ipaddress import ip_network

import specd
from adapters.file_store.store import FileStore
from adapters.file_store.wiring import build_file_store
from adapters.push_relay.relay import HttpPushRelay, PushRelay
from adapters.video_vendor.vendor import HttpVideoVendor, VideoVendor
from adapters.webhooks.sender import WebhookSender
from models.chat.common.vault import Vault
from models.chat.identity.actors import Actor
from models.chat.identity.api_keys import KeyMaker, load_secrets
from models.chat.queues.polls import Polls
from settings import Settings
from specd import RateLimiter


@dataclass(frozen=True, slots=True)
class ChatAdapters:
    """What handlers use besides the database. `started_at`: when the process started, in Unix
    seconds.
    """

    keys: KeyMaker
    vault: Vault
    push: PushRelay
    vendor: VideoVendor
    files: FileStore
    webhooks: WebhookSender = field(default_factory=lambda: WebhookSender(()))
    polls: Polls = field(default_factory=Polls)
    limiter: RateLimiter | None = None
    """The limits of requests, for handlers that find out themselves who asks; None if off."""
    started_at: int = field(default_factory=lambda: int(time.time()))

    @classmethod
    def from_settings(cls, settings: Settings) -> "ChatAdapters":
        secrets = load_secrets(
            settings.data_dir, settings.chat_secret, settings.chat_secret_previous
        )
        return cls(
            keys=KeyMaker(*secrets),
            vault=Vault(*secrets),
            push=HttpPushRelay(
                settings.push_relay_url,
                organization=settings.push_relay_organization,
                key=settings.push_relay_key,
                timeout_s=settings.push_relay_timeout_s,
            ),
            vendor=HttpVideoVendor(
                settings.video_vendor_url,
                settings.video_vendor_api_url,
                client_id=settings.video_vendor_client_id,
                client_secret=settings.video_vendor_client_secret,
                timeout_s=settings.video_vendor_timeout_s,
            ),
            files=build_file_store(settings),
            webhooks=WebhookSender([ip_network(each) for each in settings.webhook_networks]),
        )


Context = specd.Context[ChatAdapters, Actor, Settings]
"""One request of the chat service."""


def find_caller(ctx: Context) -> Actor | None:
    """Return the actor, or None if the operation accepts requests without credentials and this is
    one.
    """
    return ctx.actor
