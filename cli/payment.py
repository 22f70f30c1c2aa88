"""`specd payment ...`: the operator's commands for projects, keys and payment methods."""

from typing import Any

import click

from cli.payment_addresses import addresses
from cli.payment_events import events, listen
from cli.payment_export import export
from cli.payment_methods import create_method, disable_method, enable_method, list_methods
from cli.payment_pay import pay
from cli.payment_rescan import rescan
from cli.payment_scenario import scenario
from cli.payment_webhooks import create_endpoint, list_endpoints, reseal
from cli.restored import after_restore_of_payment
from models.payment import keys, projects
from settings import Settings
from specd.commands import answer, json_option, open_database
from specd.db import Clock


@click.group()
def payment() -> None:
    """Administer the payment service."""


for command in (
    create_method,
    list_methods,
    disable_method,
    enable_method,
    addresses,
    pay,
    events,
    listen,
    scenario,
    export,
    create_endpoint,
    list_endpoints,
    rescan,
    reseal,
    after_restore_of_payment,
):
    payment.add_command(command)


@payment.command("create-project")
@click.option("--name", required=True, help="Display name of the merchant.")
@click.option("--xpub", required=True, help="Account-level extended public key (m/44'/60'/0').")
@json_option
def create_project(name: str, xpub: str, as_json: bool) -> None:
    """Create a project of a merchant.

    Each invoice gets the next child address 0/i of the xpub.
    """
    now = Clock().now()
    with open_database("payment", Settings.from_env()) as database:
        project_id = database.run(
            lambda session: projects.create_project(session, name=name, xpub=xpub, now=now).id
        )
    answer({"project_id": project_id}, as_json=as_json, text=f"Project {project_id} created.")


@payment.command("set-project")
@click.option("--project", "project_id", required=True, help="Project id.")
@click.option(
    "--tolerance",
    required=True,
    help="Part of an amount that may be missing, such as 0.1% for the fees of exchanges, or none. "
    "Applies to new invoices.",
)
@json_option
def set_project(project_id: str, tolerance: str, as_json: bool) -> None:
    """Change the settings of a project."""
    ppm = projects.check_tolerance(tolerance)
    with open_database("payment", Settings.from_env()) as database:
        database.run(
            lambda session: projects.set_tolerance(session, project_id=project_id, ppm=ppm)
        )
    written = projects.write_tolerance(ppm)
    answer(
        {"project_id": project_id, "tolerance": written},
        as_json=as_json,
        text=f"Project {project_id} has the tolerance {written}.",
    )


@payment.command("list-projects")
@json_option
def list_projects(as_json: bool) -> None:
    """List all projects, oldest first."""
    with (
        open_database("payment", Settings.from_env()) as database,
        database.reading() as reader,
    ):
        found = projects.list_projects(reader)
    listed = [
        {
            "project_id": row.id,
            "name": row.name,
            "created_at": row.created_at.isoformat(),
            "methods": row.methods,
            "next_address_index": row.next_address_index,
            "tolerance": projects.write_tolerance(row.tolerance_ppm),
        }
        for row in found
    ]
    answer(
        {"projects": listed},
        as_json=as_json,
        columns=("project", "name", "created", "methods", "next address", "tolerance"),
        rows=[tuple(str(value) for value in line.values()) for line in listed],
    )


@payment.command("create-key")
@click.option("--project", "project_id", required=True, help="Project id.")
@click.option(
    "--scope",
    type=click.Choice(keys.SCOPES),
    default=keys.WRITE,
    show_default=True,
    help="Permission of the key: read-only, which is enough for the dashboard, or everything.",
)
@json_option
def create_key(project_id: str, scope: str, as_json: bool) -> None:
    """Create an API key and show it once.

    Only the hash of the key is stored.
    """
    now = Clock().now()
    with open_database("payment", Settings.from_env()) as database:
        key, plaintext = database.run(
            lambda session: keys.create_key(session, project_id=project_id, scope=scope, now=now)
        )
    use = "keep it on the merchant's backend" if scope == keys.WRITE else "it is read-only"
    answer(
        {"key_id": key.id, "scope": scope, "key": plaintext},
        as_json=as_json,
        text=f"Key {key.id}, shown once; {use}:\n{plaintext}",
    )


@payment.command("list-keys")
@click.option("--project", "project_id", required=True, help="Project id.")
@json_option
def list_keys(project_id: str, as_json: bool) -> None:
    """List a project's API keys without their secrets."""
    with open_database("payment", Settings.from_env()) as database:
        found = database.run(lambda session: keys.list_keys(session, project_id=project_id))
    listed: list[dict[str, Any]] = [
        {
            "key_id": key.id,
            "scope": key.scope,
            "created_at": key.created_at.isoformat(),
            "last_used_at": key.last_used_at.isoformat() if key.last_used_at else None,
            "revoked_at": key.revoked_at.isoformat() if key.revoked_at else None,
        }
        for key in found
    ]
    answer(
        {"keys": listed},
        as_json=as_json,
        columns=("key", "scope", "created", "last used", "revoked"),
        rows=[tuple(value or "-" for value in line.values()) for line in listed],
    )


@payment.command("revoke-key")
@click.option("--key", "key_id", required=True, help="Key id: 8 hex digits.")
@json_option
def revoke_key(key_id: str, as_json: bool) -> None:
    """Revoke an API key.

    The server rejects it from the next request on.
    """
    now = Clock().now()
    with open_database("payment", Settings.from_env()) as database:
        database.run(lambda session: keys.revoke_key(session, key_id=key_id, now=now))
    answer({"key_id": key_id, "revoked": True}, as_json=as_json, text=f"Key {key_id} revoked.")
