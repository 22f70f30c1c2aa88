"""The pages of the payment service."""

from __future__ import annotations

from flask import Flask

from pages import checkout
from pages.clients import add_client
from pages.explorers import EXPLORERS
from pages.served import Served
from specd.pages import add_entrance


def install_for(app: Flask, service: Served) -> None:
    checkout.install_for(app, service)
    about = "Each session has a page of its own, whose address the shop gets as `checkout_url`."
    add_entrance(app, "Checkout", None, about)
    if service.settings.dashboard_page:
        add_dashboard(app)


def add_dashboard(app: Flask) -> None:
    """Add GET /dashboard, a live view of a project's invoices, events and webhooks. It prompts for
    the project's key.
    """
    about = "Watch the invoices, events and webhooks of a project. Sign in with its key."
    add_client(app, "dashboard", about=about, document="payment-events", explorers=dict(EXPLORERS))
