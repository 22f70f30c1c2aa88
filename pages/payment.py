"""The pages of the payment service."""

from __future__ import annotations

from flask import Flask

from pages import checkout
from pages.clients import add_client
from pages.served import Served


def install_for(app: Flask, service: Served) -> None:
    checkout.install_for(app, service)
    if service.settings.dashboard_page:
        add_dashboard(app)


def add_dashboard(app: Flask) -> None:
    """Add GET /dashboard: invoices, events and webhooks of a project, live. It prompts for
    the project's key.
    """
    add_client(app, "dashboard", document="payment-events")
