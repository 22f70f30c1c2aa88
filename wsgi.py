"""The applications that gunicorn serves: `wsgi:app` (everything), `wsgi:payment`, `wsgi:chat`.

Built on first access, in the worker, from the environment's `SPECD_*` settings. The name of this
module is the custom; the applications speak ASGI.
"""

from __future__ import annotations

from typing import Any

import logs
from adapters.chain.gateway import RpcChainGateway
from handlers.chat import wiring as chat_wiring
from handlers.chat.wire import failures as chat_failures
from handlers.chat.wire.context import ChatAdapters
from handlers.payment import wiring as payment_wiring
from handlers.payment.wire import failures as payment_failures
from handlers.payment.wire.context import PaymentAdapters
from models.chat.exports.requests import Archive, access_archive
from models.chat.ground.hosts import parse_host
from models.chat.identity.links import Link, try_spend
from models.clock import SystemClock
from models.payment.checkout_sessions import CheckoutView, find_checkout
from models.secret_shapes import SHAPES
from pages.app import build_pages
from server.service import Service
from server.serving.app import build_app
from settings import Settings

NAMES = {"app": ("payment", "chat"), "payment": ("payment",), "chat": ("chat",)}


def _payment_service(settings: Settings) -> Service:
    chain = RpcChainGateway(settings.chain_rpc_urls, timeout_s=settings.chain_rpc_timeout_s)
    adapters = PaymentAdapters(chain=chain)
    return payment_wiring.build_service(settings, clock=SystemClock(), adapters=adapters)


def _chat_service(settings: Settings) -> Service:
    adapters = ChatAdapters.from_settings(settings)
    return chat_wiring.build_service(settings, clock=SystemClock(), adapters=adapters)


BUILDERS = {"payment": _payment_service, "chat": _chat_service}
FAILURES = {"payment": payment_failures.list_failures, "chat": chat_failures.list_failures}


def _build(names: tuple[str, ...]) -> Any:
    settings = Settings.from_env()
    services = {name: BUILDERS[name](settings) for name in names}
    logs.configure(settings.log_level, secrets=SHAPES)
    payment = services.get("payment")

    def look_up(token: str) -> CheckoutView | None:
        if payment is None:
            return None
        assert payment.database is not None
        with payment.database.reading() as connection:
            return find_checkout(connection, token, payment.clock.now())

    chat = services.get("chat")

    def look_up_archive(
        export_id: int, host: str, token: str | None, key: tuple[str, str] | None
    ) -> Archive | None:
        if chat is None:
            return None
        assert chat.database is not None
        with chat.database.reading() as connection:
            return access_archive(
                connection,
                chat.adapters.vault,
                export_id,
                host=parse_host(host),
                token=token,
                key=key,
                now=chat.clock.now(),
            )

    def spend_link(link: Link) -> bool:
        assert chat is not None
        assert chat.database is not None
        now = chat.clock.now()
        return chat.database.run(lambda session: try_spend(session, link, now=now))

    documents = {name: service.base_path for name, service in services.items()}
    pages = build_pages(
        find_checkout=look_up,
        documents=documents,
        failures={name: FAILURES[name]() for name in services},
        find_archive=look_up_archive,
        spend_link=spend_link,
        archives=settings.chat_export_dir,
        is_https=settings.public_url.startswith("https://"),
    )
    return build_app(services.values(), pages=pages, trusted_proxies=settings.trusted_proxies)


def __getattr__(name: str) -> Any:
    if name in NAMES:
        application = globals()[name] = _build(NAMES[name])
        return application
    raise AttributeError(name)
