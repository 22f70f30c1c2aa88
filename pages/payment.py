"""The pages of the payment service."""

from __future__ import annotations

from flask import Flask

from pages import checkout, dashboard
from pages.served import Served


def install_for(app: Flask, service: Served) -> None:
    checkout.install_for(app, service)
    if service.settings.dashboard_page:
        dashboard.install(app)
