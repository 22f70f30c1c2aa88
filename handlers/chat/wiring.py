"""Puts the chat service together: document, handlers, database, adapters."""

from dataclasses import replace
from functools import partial

from adapters.file_store.wiring import ARRIVING
from handlers.chat.wire import auth
from handlers.chat.wire.context import ChatAdapters
from handlers.chat.wire.gauges import find_gauges
from handlers.chat.wire.idempotency import IDEMPOTENCY
from handlers.chat.wire.limits import make_rate_limit
from models.chat.uploads.errors import UploadStoreUnavailable, UploadTooLarge
from settings import Settings
from specd import (
    ComposedService,
    FileIntake,
    service_from_settings,
)
from specd.db import Clock, Database
from specd.errors import SettingsError

BODY_LIMIT = 1024 * 1024
POLLS_WRITTEN_EVERY_S = 1.0


def compose(settings: Settings) -> ComposedService:
    """Return the chat service for production."""
    adapters = ChatAdapters.from_settings(settings)
    return build_service(settings, clock=Clock(), adapters=adapters)


def build_service(settings: Settings, *, clock: Clock, adapters: ChatAdapters) -> ComposedService:
    """Return the chat service, for `specd._engine.serving.app.build_app`. Raise `SettingsError` if
    the public address has a path.
    """
    if settings.path_prefix:
        raise SettingsError(
            f"SPECD_PUBLIC_URL must have no path such as {settings.path_prefix}, because clients"
            " of the chat service look for files at the root of a host."
        )
    database = Database.for_service("chat", settings)
    limiter = make_rate_limit(settings)
    adapters = replace(adapters, limiter=limiter)
    service = service_from_settings(
        settings,
        "chat",
        base_path="/api/v1",
        public_url=None,  # each organization has a host of its own
        refuse=auth.refuse,
        require_role=auth.require_role,
        database=database,
        idempotency=IDEMPOTENCY,
        adapters=adapters,
        clock=clock,
        rate_limit=limiter,
        body_limit=BODY_LIMIT,
        leniency=frozenset(
            ("foreign_bodies", "form_in_query", "malformed_paths", "method_override", "slashes")
        ),
        files=FileIntake(
            settings.chat_upload_dir / ARRIVING,
            settings.chat_max_file_upload_size_mib << 20,
            lambda: UploadTooLarge(limit_mib=settings.chat_max_file_upload_size_mib),
            fail=UploadStoreUnavailable,
        ),
        gauges=partial(find_gauges, settings.data_dir),
        needs_folders=(settings.chat_upload_dir,),
        chores={"polls": (POLLS_WRITTEN_EVERY_S, adapters.polls.write_down)},
    )
    adapters.polls.tail.database = database
    adapters.polls.clock = clock
    return service
