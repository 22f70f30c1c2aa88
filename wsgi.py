"""The applications that gunicorn serves: `wsgi:app` (everything) and `wsgi:payment`.

Built on first access, in the worker, from the environment's `SPECD_*` settings. The name of this
module is the custom; the applications speak ASGI.
"""

from __future__ import annotations

from typing import Any

from adapters.chain.gateway import RpcChainGateway
from handlers.payment.wiring import PaymentAdapters, build_service
from models.clock import SystemClock
from models.payment.checkout_sessions import CheckoutView, find_checkout
from pages.app import build_pages
from server import logs
from server.app import build_app
from server.service import Service
from settings import Settings


def _payment_service(settings: Settings) -> Service:
    chain = RpcChainGateway(settings.chain_rpc_urls, timeout_s=settings.chain_rpc_timeout_s)
    return build_service(settings, clock=SystemClock(), adapters=PaymentAdapters(chain=chain))


def _build() -> Any:
    settings = Settings.from_env()
    payment = _payment_service(settings)
    logs.configure(settings.log_level, secrets=payment.secrets)

    def look_up(token: str) -> CheckoutView | None:
        assert payment.database is not None
        with payment.database.reading() as connection:
            return find_checkout(connection, token, payment.clock.now())

    pages = build_pages(find_checkout=look_up, documents={"payment": payment.base_path})
    return build_app([payment], pages=pages)


def __getattr__(name: str) -> Any:
    if name in ("app", "payment"):
        application = globals()[name] = _build()
        return application
    raise AttributeError(name)
