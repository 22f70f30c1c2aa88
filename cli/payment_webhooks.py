"""`specd payment create-endpoint`, `list-endpoints` and `reseal`: manage webhooks."""

import asyncio
from ipaddress import ip_network

import click
from sqlalchemy.orm import Session

from adapters.webhooks.sender import WebhookSender
from cli.shared_secrets import PAYMENT, payment_vault, without_previous
from models.payment.errors import InvalidWebhookUrl
from models.payment.events import KINDS
from models.payment.projects import access_project
from models.payment.webhooks import endpoints, signing_secrets
from models.payment.webhooks.events import render_endpoint
from models.webhooks.addresses import AddressRefused
from settings import Settings
from specd.commands import answer, json_option, open_database
from specd.db import Clock


@click.command("create-endpoint")
@click.option("--project", "project_id", required=True, help="Project id.")
@click.option("--url", required=True, help="URL that events are posted to.")
@click.option(
    "--type",
    "event_types",
    multiple=True,
    type=click.Choice([endpoints.ALL, *KINDS]),
    default=[endpoints.ALL],
    help="Event type; repeat it for several.  [default: all]",
)
@click.option("--description", default="", help="A note for the list of endpoints.")
@json_option
def create_endpoint(
    project_id: str, url: str, event_types: tuple[str, ...], description: str, as_json: bool
) -> None:
    """Create a webhook endpoint and show its secret once."""
    settings, now = Settings.from_env(), Clock().now()
    opened = [ip_network(network) for network in settings.webhook_networks]
    try:
        asyncio.run(WebhookSender(opened).check(url))
    except AddressRefused as refusal:
        raise InvalidWebhookUrl(problem=str(refusal)) from None
    vault = payment_vault(settings)
    with open_database("payment", settings, needs_secret=True) as database:
        database.run(lambda session: access_project(session, project_id))
        endpoint, sealed = database.run(
            lambda session: endpoints.create_endpoint(
                session,
                vault,
                project_id=project_id,
                url=url,
                event_types=event_types,
                description=description,
                quota=settings.webhook_endpoints_per_project,
                now=now,
            )
        )
    (secret,) = signing_secrets.open_sealed(vault, endpoint.id, [sealed])
    answer(
        {"id": endpoint.id, "url": endpoint.url, "secret": secret},
        as_json=as_json,
        text=f"Endpoint {endpoint.id}; its secret, shown once:\n{secret}",
    )


@click.command("list-endpoints")
@click.option("--project", "project_id", required=True, help="Project id.")
@json_option
def list_endpoints(project_id: str, as_json: bool) -> None:
    """List a project's webhook endpoints without their secrets."""
    with open_database("payment", Settings.from_env()) as database:
        database.run(lambda session: access_project(session, project_id))
        with database.reading() as reader:
            found = endpoints.list_endpoints(reader, project_id=project_id)
    answer(
        {"endpoints": [render_endpoint(endpoint) for endpoint in found]},
        as_json=as_json,
        columns=("endpoint", "url", "status", "types"),
        rows=[(row.id, row.url, row.status, " ".join(row.event_types)) for row in found],
    )


@click.command("reseal")
@without_previous
@json_option
def reseal(without_previous: bool, as_json: bool) -> None:
    """Encrypt webhook secrets with SPECD_PAYMENT_SECRET.

    SPECD_PAYMENT_SECRET_PREVIOUS decrypts them. Afterwards no machine starts without the current
    secret. If the previous one is lost, deliveries wait until merchants rotate their secrets.
    """
    settings = Settings.from_env()
    vault = payment_vault(settings)

    def work(session: Session) -> int:
        PAYMENT.renew(session, settings)
        return signing_secrets.reseal(session, vault)

    with open_database("payment", settings, needs_secret=not without_previous) as database:
        count = database.run(work)
    answer({"resealed": count}, as_json=as_json, text=f"Resealed {count} secrets.")
