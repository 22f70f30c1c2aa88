"""`specd payment ...`: the operator's commands for projects, keys and payment methods."""

from typing import Any

import click

from cli.databases import open_database
from cli.output import answer, answer_table, json_option
from cli.payment_events import events, listen
from cli.payment_pay import pay
from cli.payment_webhooks import create_endpoint, list_endpoints, reseal
from models.clock import SystemClock
from models.payment import keys, methods, projects
from settings import Settings


@click.group()
def payment() -> None:
    """Administer the payment service."""


for command in (pay, events, listen, create_endpoint, list_endpoints, reseal):
    payment.add_command(command)


@payment.command("create-project")
@click.option("--name", required=True, help="Display name of the merchant.")
@click.option("--xpub", required=True, help="Account-level extended public key (m/44'/60'/0').")
@json_option
def create_project(name: str, xpub: str, as_json: bool) -> None:
    """Create a project; each invoice gets the next child address 0/i of its xpub."""
    now = SystemClock().now()
    with open_database("payment", Settings.from_env()) as database:
        project_id = database.run(
            lambda session: projects.create_project(session, name=name, xpub=xpub, now=now).id
        )
    answer({"project_id": project_id}, as_json=as_json, text=f"Project {project_id} created.")


@payment.command("create-key")
@click.option("--project", "project_id", required=True, help="Project id.")
@json_option
def create_key(project_id: str, as_json: bool) -> None:
    """Create an API key and show it once; only its hash is stored."""
    now = SystemClock().now()
    with open_database("payment", Settings.from_env()) as database:
        key, plaintext = database.run(
            lambda session: keys.create_key(session, project_id=project_id, now=now)
        )
    answer(
        {"key_id": key.id, "key": plaintext},
        as_json=as_json,
        text=f"Key {key.id}, shown once; keep it on the merchant's backend:\n{plaintext}",
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
            "created_at": key.created_at.isoformat(),
            "last_used_at": key.last_used_at.isoformat() if key.last_used_at else None,
            "revoked_at": key.revoked_at.isoformat() if key.revoked_at else None,
        }
        for key in found
    ]
    answer_table(
        {"keys": listed},
        as_json=as_json,
        columns=("key", "created", "last used", "revoked"),
        rows=[tuple(value or "-" for value in line.values()) for line in listed],
    )


@payment.command("revoke-key")
@click.option("--key", "key_id", required=True, help="Key id: 8 hex digits.")
@json_option
def revoke_key(key_id: str, as_json: bool) -> None:
    """Revoke an API key; the server rejects it from its next request on."""
    now = SystemClock().now()
    with open_database("payment", Settings.from_env()) as database:
        database.run(lambda session: keys.revoke_key(session, key_id=key_id, now=now))
    answer({"key_id": key_id, "revoked": True}, as_json=as_json, text=f"Key {key_id} revoked.")


@payment.command("create-method")
@click.option("--project", "project_id", required=True, help="Project id.")
@click.option("--id", "method_id", required=True, help="Method id: 1-64 of A-Z a-z 0-9 . _ : -")
@click.option("--chain-id", type=int, required=True, help="EIP-155 id of the test chain.")
@click.option("--chain-name", help="Chain name shown to shoppers; default: chain <id>.")
@click.option("--token", required=True, help="Token contract address, 0x...")
@click.option("--symbol", required=True, help="Token symbol.")
@click.option("--confirmations", type=int, default=2, show_default=True)
@json_option
def create_method(
    project_id: str,
    method_id: str,
    chain_id: int,
    chain_name: str | None,
    token: str,
    symbol: str,
    confirmations: int,
    as_json: bool,
) -> None:
    """Allow a project to accept a 6-decimal token on a test chain; main networks are rejected."""
    now = SystemClock().now()
    with open_database("payment", Settings.from_env()) as database:
        method = database.run(
            lambda session: methods.create_method(
                session,
                project_id=project_id,
                method_id=method_id,
                chain_id=chain_id,
                chain_name=chain_name,
                token_address=token,
                token_symbol=symbol,
                confirmations_required=confirmations,
                now=now,
            )
        )
    answer(
        {
            "id": method.id,
            "chain_id": method.chain_id,
            "chain_name": method.chain_name,
            "token_symbol": method.token_symbol,
            "token_address": method.token_address,
            "decimals": method.decimals,
            "confirmations_required": method.confirmations_required,
        },
        as_json=as_json,
        text=f"Method {method.id} created: {method.token_symbol} at {method.token_address}"
        f" on {method.chain_name}.",
    )
