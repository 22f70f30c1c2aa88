"""/dashboard: invoices, events and webhooks of a project, live. It asks for the project's key."""

from __future__ import annotations

from flask import Flask

from pages.clients import add_client


def install(app: Flask) -> None:
    """Add the page, GET /dashboard."""
    add_client(app, "dashboard", document="payment-events")
