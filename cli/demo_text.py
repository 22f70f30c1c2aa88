"""What `specd demo` prints when it is ready: addresses, the key, and lines to paste."""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import click


@dataclass(frozen=True, slots=True)
class Ready:
    """What a newcomer needs to know of the running demo."""

    base_url: str
    chain_url: str
    key: str
    invoice_id: str
    amount: str
    checkout_url: str
    logs: str


def announce(ready: Ready, *, as_json: bool) -> None:
    """Print the guide, or with `as_json` one JSON object as the last line."""
    if as_json:
        print(json.dumps(asdict(ready)), flush=True)
        return
    click.echo(guide(ready, specd=specd_command(os.environ)))
    sys.stdout.flush()


def specd_command(environ: Mapping[str, str]) -> str:
    """How to call `specd` from another terminal so that it finds this demo."""
    own = Path(sys.argv[0]).absolute()
    on_path = shutil.which("specd")
    program = "specd" if on_path and Path(on_path).samefile(own) else shlex.quote(str(own))
    given = [f"{k}={shlex.quote(v)}" for k, v in sorted(environ.items()) if k.startswith("SPECD_")]
    if "SPECD_DATA_DIR" not in environ:
        given.append(f"SPECD_DATA_DIR={shlex.quote(str(Path('var').absolute()))}")
    return " ".join([*given, program])


def guide(ready: Ready, *, specd: str) -> str:
    """The text; each indented line under a heading can be pasted into a shell."""
    curl = f'curl -s -H "Authorization: Bearer {ready.key}"'
    return f"""
specd is ready. Ctrl-C stops everything.

  API       {ready.base_url}/v1   (document: {ready.base_url}/v1/openapi.yaml)
  Try it    {ready.base_url}/docs
  Checkout  {ready.checkout_url}
  Chain     {ready.chain_url}   (id 31337, a local test chain)
  API key   {ready.key}
  Invoice   {ready.invoice_id}   ({ready.amount} TUSD)
  Logs      {ready.logs}

Paste into another terminal. What the project accepts:

  {curl} {ready.base_url}/v1/payment-methods

The demo invoice, then pay it and look again: unpaid, processing, paid within seconds.

  {curl} {ready.base_url}/v1/invoices/{ready.invoice_id}

  {specd} payment pay {ready.invoice_id}

An invoice of your own:

  {curl} -X POST {ready.base_url}/v1/invoices \\
    -H "Idempotency-Key: order-$RANDOM$RANDOM" -H "Content-Type: application/json" \\
    -d '{{"external_order_id": "order-'$RANDOM$RANDOM'", "attempt_no": 1,
         "amount": "1.5", "payment_method_id": "tusd-test"}}'
"""
