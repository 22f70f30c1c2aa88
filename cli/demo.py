"""`specd demo`: everything on one machine under one supervisor, ready for the first request."""

import asyncio
import os
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import click
import httpx

from adapters.chain.playground import CHAIN_ID, TOKEN, Playground, PlaygroundError
from cli.databases import payment_database
from cli.demo_seed import Access, open_invoice, seed, store_access, stored_access
from cli.demo_text import Ready, announce
from cli.migrate import migrate_all
from cli.output import json_option
from cli.supervisor import Program, Supervisor, say_loudly, supervise
from models.clock import SystemClock
from models.payment.checkpoints import find_known_blocks
from settings import Settings

READY_WITHIN_S = 90.0


@dataclass(frozen=True, slots=True)
class Demo:
    """One demo: its settings, as its children get them through `env`."""

    settings: Settings
    env: Mapping[str, str]

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> "Demo":
        """The caller's settings, completed for a machine of one's own. Raises SettingsError."""
        given = Settings.from_env(environ)
        url = f"http://127.0.0.1:{given.chain_port}"
        env = {
            "SPECD_RATE_LIMITS": "false",
            "SPECD_DEVELOPMENT": "true",
            **environ,
            "SPECD_DATA_DIR": str(given.data_dir.absolute()),
            "SPECD_CHAIN_RPC_URLS": ",".join((f"{CHAIN_ID}={url}", *given.chain_rpc_urls)),
        }
        return cls(Settings.from_env(env), env)

    @property
    def chain_url(self) -> str:
        return f"http://127.0.0.1:{self.settings.chain_port}"

    def program(self, name: str, *arguments: str) -> Program:
        return Program(
            name=name,
            argv=[sys.executable, "-P", "-m", "cli.main", *arguments],
            env=self.env,
            log=self.settings.data_dir / "logs" / f"{name}.log",
        )


@click.command()
@json_option
def demo(as_json: bool) -> None:
    """Migrate, seed, and run the embedded chain, the server and the workers until Ctrl-C."""
    one = Demo.from_env(os.environ)
    require_free("SPECD_BIND", *_host_and_port(one.settings.bind))
    require_free("SPECD_CHAIN_PORT", "127.0.0.1", one.settings.chain_port)
    one.settings.data_dir.mkdir(parents=True, exist_ok=True)
    migrate_all(one.settings)
    sys.exit(asyncio.run(supervise(partial(run, one, as_json=as_json), Supervisor(say_loudly))))


def require_free(variable: str, host: str, port: int) -> None:
    """Raise one sentence unless we could listen there."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise click.ClickException(
                f"Cannot listen on {host}:{port} ({error.strerror}); stop what uses it or choose"
                f" another with {variable}"
            ) from None


async def run(one: Demo, supervisor: Supervisor, *, as_json: bool) -> int:
    """The demo's life under the supervisor; the exit status."""
    settings = one.settings
    chain_port = str(settings.chain_port)
    await supervisor.start(one.program("chain", "chain", "--port", chain_port))
    chain_ready = partial(_chain_is_ready, one.chain_url)
    if not await supervisor.until("The chain's start", chain_ready, READY_WITHIN_S):
        return 1
    access = await asyncio.to_thread(prepare, one)
    await supervisor.start(one.program("server", "serve"))
    await supervisor.start(one.program("workers", "worker"))
    host, port = _host_and_port(settings.bind)
    base_url = f"http://{'127.0.0.1' if host in ('0.0.0.0', '') else host}:{port}"
    async with httpx.AsyncClient(base_url=base_url, timeout=5) as client:
        if not await supervisor.until("Readiness", partial(_answers, client), READY_WITHIN_S):
            return 1
    with httpx.Client(base_url=base_url, timeout=15) as client:
        invoice = await asyncio.to_thread(
            open_invoice, client, access, settings.data_dir / "demo-invoice"
        )
    announce(
        Ready(
            base_url=base_url,
            chain_url=one.chain_url,
            key=access.key,
            invoice_id=invoice.id,
            amount=invoice.amount,
            checkout_url=invoice.checkout_url,
            data_dir=str(settings.data_dir),
        ),
        as_json=as_json,
    )
    await supervisor.stopping.wait()
    return 0


def prepare(one: Demo) -> Access:
    """Seed the database; say when the embedded chain is not the one its books are about."""
    file = one.settings.data_dir / "demo.json"
    now = SystemClock().now()
    with payment_database(one.settings) as database:
        access = database.run(partial(seed, stored=stored_access(file), now=now))
        with database.reading() as reader:
            known = find_known_blocks(reader, CHAIN_ID, up_to=0)
    store_access(file, access)
    if known and known[0].hash != _block_hash(one.chain_url, 0):
        say_loudly("the embedded chain is new: payments on the earlier one are gone with it")
    return access


def _block_hash(chain_url: str, number: int) -> str:
    chain = Playground(chain_url)
    try:
        return str(chain.call("eth_getBlockByNumber", hex(number), False)["hash"])
    finally:
        chain.close()


async def _chain_is_ready(chain_url: str) -> bool:
    """Whether the chain answers and the token lives on it."""

    def ask() -> bool:
        chain = Playground(chain_url, timeout_s=2)
        try:
            return chain.has_code(TOKEN)
        except PlaygroundError:
            return False
        finally:
            chain.close()

    return await asyncio.to_thread(ask)


async def _answers(client: httpx.AsyncClient) -> bool:
    with suppress(httpx.TransportError):
        return (await client.get("/readyz")).status_code == 200
    return False


def _host_and_port(bind: str) -> tuple[str, int]:
    host, _, port = bind.rpartition(":")
    return host.strip("[]"), int(port)
