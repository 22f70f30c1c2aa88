"""The text that `specd demo` prints when it is ready: URLs, keys and example commands."""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from demo.chat import ChatUser


@dataclass(frozen=True, slots=True)
class Ready:
    """The values of the running demo that the text contains."""

    base_url: str
    chain_url: str
    key: str
    invoice_id: str
    amount: str
    checkout_url: str
    data_dir: str
    chat_url: str
    chat_users: tuple[ChatUser, ...]
    chat_channel_id: int
    push_relay_url: str


def announce(ready: Ready, *, as_json: bool) -> None:
    """Print the text, or with `as_json` a JSON object in one line."""
    if as_json:
        print(json.dumps(asdict(ready)), flush=True)
        return
    click.echo(guide(ready, specd=specd_command(ready, os.environ)))
    sys.stdout.flush()


def specd_command(ready: Ready, environ: Mapping[str, str]) -> str:
    """Return the command line prefix that runs `specd` for this demo from any directory."""
    own = Path(sys.argv[0]).absolute()
    on_path = shutil.which("specd")
    if own.suffix == ".py":
        program = f"{shlex.quote(sys.executable)} -m specd._cli.main"
    elif on_path is not None and Path(on_path).samefile(own):
        program = "specd"
    else:
        program = shlex.quote(str(own))
    variables = {
        "SPECD_DATA_DIR": ready.data_dir,
        # A database URL may contain a password, so the text contains only the variable's name.
        "SPECD_PAYMENT_DATABASE_URL": "$SPECD_PAYMENT_DATABASE_URL",
        "SPECD_CHAT_DATABASE_URL": "$SPECD_CHAT_DATABASE_URL",
        "SPECD_CHAIN_PORT": environ.get("SPECD_CHAIN_PORT", ""),
    }
    assignments = [
        f"{name}={value if value.startswith('$') else shlex.quote(value)}"
        for name, value in variables.items()
        if name in environ or name == "SPECD_DATA_DIR"
    ]
    return " ".join([*assignments, program])


def guide(ready: Ready, *, specd: str) -> str:
    """Return the complete text. The indented commands can be pasted into a shell."""
    curl = f'curl -s -H "Authorization: Bearer {ready.key}"'
    return f"""
specd is ready. Ctrl-C stops everything.

  API       {ready.base_url}/v1   (document: {ready.base_url}/v1/openapi.yaml)
  Try it    {ready.base_url}/docs
  Checkout  {ready.checkout_url}
  Dashboard {ready.base_url}/dashboard   (sign in with the API key below)
  Chain     {ready.chain_url}   (id 31337, a local test chain)
  API key   {ready.key}
  Invoice   {ready.invoice_id}   ({ready.amount} TUSD)
  Logs      {ready.data_dir}/logs

Paste these lines into another terminal. List the project's payment methods:

  {curl} {ready.base_url}/v1/payment-methods

Read the demo invoice and pay it; its status becomes processing, then paid within seconds:

  {curl} {ready.base_url}/v1/invoices/{ready.invoice_id}

  {specd} payment pay {ready.invoice_id}

Create an invoice:

  {curl} -X POST {ready.base_url}/v1/invoices \\
    -H "Idempotency-Key: order-$RANDOM$RANDOM" -H "Content-Type: application/json" \\
    -d '{{"external_order_id": "order-'$RANDOM$RANDOM'", "attempt_no": 1,
         "amount": "1.5", "payment_method_id": "tusd-local"}}'
{chat_guide(ready)}{outside_guide(ready, specd=specd)}"""


def chat_guide(ready: Ready) -> str:
    """Return the text about the chat organization: its users and example commands."""
    people = "\n".join(
        f"  {user.name:<10}{user.what:<15}{user.email}:{user.api_key}" for user in ready.chat_users
    )
    by_name = {user.name: f"{user.email}:{user.api_key}" for user in ready.chat_users}
    hamlet, owner = f"curl -s -u {by_name['Hamlet']}", f"curl -s -u {by_name['Cordelia']}"
    url, general = ready.chat_url, ready.chat_channel_id
    return f"""
The chat organization Acme is at {url}   (document: {url}/openapi.yaml)

Talk in a browser: open {ready.base_url}/chat and sign in with an email and its API key

{people}

Read your own user and create a channel:

  {hamlet} {url}/users/me

  {hamlet} {url}/users/me/subscriptions -d 'subscriptions=[{{"name": "stage"}}]'

Schedule a message for five seconds from now, then list the channel's topics and star the message:

  {hamlet} {url}/scheduled_messages \\
    -d type=channel -d to={general} -d topic=castle -d "content=Who is there?" \\
    -d scheduled_delivery_timestamp=$(($(date +%s) + 5))

  {hamlet} {url}/users/me/{general}/topics

  {hamlet} {url}/messages/flags/narrow \\
    -d anchor=newest -d num_before=100 -d num_after=0 -d op=add -d flag=starred \\
    -d 'narrow=[["channel", "general"], ["topic", "castle"]]'

Send a message, edit it, read its history, report it to the moderators and delete it:

  ID=$({hamlet} {url}/messages -d type=channel -d to={general} \\
    -d topic=castle -d "content=To be, or not to be" | grep -o '"id":[0-9]*' | cut -d: -f2)
  {hamlet} -X PATCH {url}/messages/$ID -d "content=To be"
  {hamlet} {url}/messages/$ID/history
  {hamlet} {url}/messages/$ID/report -d report_type=other -d "description=Too gloomy"
  {hamlet} -X DELETE {url}/messages/$ID

Change the organization as an owner; the change takes effect with the next request:

  {owner} -X PATCH {url}/realm -d message_content_delete_limit_seconds=3600
"""


def outside_guide(ready: Ready, *, specd: str) -> str:
    """Return example commands for the local push relay and the local video call vendor."""
    if not ready.push_relay_url:
        return ""
    (hamlet,) = (user for user in ready.chat_users if user.name == "Hamlet")
    who, url = f"{hamlet.email}:{hamlet.api_key}", ready.chat_url
    return f"""
Act as Hamlet's phone: register it, send it an encrypted notification and decrypt it:

  {specd} outside push --api {url} --relay {ready.push_relay_url} --user {who}

Authorize video calls: request a link, open it in a browser and consent. Then create a call:

  curl -s -u {who} {url}/calls/vendor/register

  curl -s -u {who} -X POST {url}/calls/vendor/create
"""
