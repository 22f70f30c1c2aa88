"""`specd demo`: runs all services on one machine under a supervisor, with example data."""

import asyncio
import os
import secrets
import socket
import sys
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import click
import httpx
from sqlalchemy.orm import Session

from adapters.chain.json_rpc import parse_endpoints
from cli.shared_secrets import chat_vault, key_maker, payment_vault
from demo.chain.testnet import CHAIN_ID, TOKEN, Testnet, TestnetError
from demo.chat import ChatAccess, seed_chat
from demo.chat_examples import play_examples, seed_secrets
from demo.seed import (
    Access,
    OpenInvoice,
    seed,
    seed_examples,
    store_access,
    stored_access,
    try_open,
)
from demo.supervisor import Program, Supervisor, print_status, supervise
from demo.text import Ready, announce
from models.payment.checkpoints import find_checkpoint_blocks
from settings import Settings
from specd.commands import json_option, open_database
from specd.db import Clock
from specd.settings import is_loopback
from wsgi import project

READY_WITHIN_S = 90.0
VENDOR_CLIENT = "specd-demo"


@dataclass(frozen=True, slots=True)
class Demo:
    """The settings of a demo. Child processes get the same settings through `env`."""

    settings: Settings
    env: Mapping[str, str]

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> "Demo":
        """Complete the given settings for a demo on one machine. Raise SettingsError."""
        given = Settings.from_env(environ)
        url = f"http://127.0.0.1:{given.chain_port}"
        # If other machines can reach the address, passwords and rate limits are required.
        alone = _is_alone(given)
        env = {
            "SPECD_RATE_LIMITS": str(not alone).lower(),
            "SPECD_DEVELOPMENT": str(alone).lower(),
            **({"SPECD_WEBHOOK_NETWORKS": "127.0.0.0/8,::1/128"} if alone else {}),
            "SPECD_PAYMENT_TEST_HELPERS": "on" if _has_local_chains(given) else "off",
            **outside_services(given),
            "SPECD_CHAT_MAIL_DOMAIN": "acme.example",
            **({"SPECD_WALLET_RPC_URLS": f"{CHAIN_ID}={url}"} if alone else {}),
            **environ,
            "SPECD_DATA_DIR": str(given.data_dir.absolute()),
            "SPECD_CHAIN_RPC_URLS": ",".join((f"{CHAIN_ID}={url}", *given.chain_rpc_urls)),
        }
        return cls(Settings.from_env(env), env)

    @property
    def is_alone(self) -> bool:
        """Whether only this machine can reach the demo."""
        return _is_alone(self.settings)

    @property
    def has_local_services(self) -> bool:
        """Whether the push relay and the video vendor are simulated on this machine."""
        return self.settings.video_vendor_client_id == VENDOR_CLIENT

    @property
    def local_urls(self) -> tuple[str, str]:
        """The URLs of the simulated video vendor and push relay, empty if they are not used."""
        if not self.has_local_services:
            return "", ""
        return self.settings.video_vendor_url, self.settings.push_relay_url

    @property
    def chain_url(self) -> str:
        return f"http://127.0.0.1:{self.settings.chain_port}"

    def program(self, name: str, *arguments: str) -> Program:
        return Program(
            name=name,
            argv=[sys.executable, "-P", "-m", "specd._cli.main", *arguments],
            env=self.env,
            log=self.settings.data_dir / "logs" / f"{name}.log",
        )


def outside_services(given: Settings) -> dict[str, str]:
    """Return the variables for a simulated push relay and video vendor on free ports, or nothing if
    one of them is already configured.
    """
    if given.push_relay_url or given.video_vendor_url:
        return {}
    with socket.socket() as relay, socket.socket() as vendor:
        for probe in (relay, vendor):
            probe.bind(("127.0.0.1", 0))
        urls = [f"http://127.0.0.1:{probe.getsockname()[1]}" for probe in (relay, vendor)]
    return {
        "SPECD_PUSH_RELAY_URL": urls[0],
        "SPECD_PUSH_RELAY_KEY": secrets.token_hex(16),
        "SPECD_VIDEO_VENDOR_URL": urls[1],
        "SPECD_VIDEO_VENDOR_CLIENT_ID": VENDOR_CLIENT,
        "SPECD_VIDEO_VENDOR_CLIENT_SECRET": secrets.token_hex(16),
    }


@click.command()
@json_option
def demo(as_json: bool) -> None:
    """Run a demo of all services until Ctrl-C.

    Migrates and seeds the databases, and starts a test chain, the server and the workers.
    """
    setup = Demo.from_env(os.environ)
    require_free("SPECD_BIND", *_host_and_port(setup.settings.bind))
    require_free("SPECD_CHAIN_PORT", "127.0.0.1", setup.settings.chain_port)
    setup.settings.data_dir.mkdir(parents=True, exist_ok=True)
    project.migrate(setup.settings)
    sys.exit(
        asyncio.run(supervise(partial(run_demo, setup, as_json=as_json), Supervisor(print_status)))
    )


def require_free(variable: str, host: str, port: int) -> None:
    """Raise ClickException if this process cannot listen on the port."""
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


async def run_demo(setup: Demo, supervisor: Supervisor, *, as_json: bool) -> int:
    """Run the demo until it is stopped. Return the exit status."""
    settings = setup.settings
    host, port = _host_and_port(settings.bind)
    reached = "127.0.0.1" if host in ("0.0.0.0", "") else host
    base_url = f"http://{f'[{reached}]' if ':' in reached else reached}:{port}"
    access, genesis = prepare(setup)
    chat = prepare_chat(setup, httpx.URL(base_url).netloc.decode().rpartition(":")[0])
    supervisor.say(
        f"starting chain, server and workers; their output is in {settings.data_dir}/logs"
    )
    await supervisor.start(setup.program("chain", "chain", "--port", str(settings.chain_port)))
    if setup.has_local_services:
        urls = [settings.push_relay_url, settings.video_vendor_url]
        relay_port, vendor_port = (str(httpx.URL(url).port) for url in urls)
        arguments = ("outside", "--relay-port", relay_port, "--vendor-port", vendor_port)
        await supervisor.start(setup.program("outside", *arguments))
    await supervisor.start(setup.program("server", "serve"))
    await supervisor.start(setup.program("workers", "worker"))

    invoice: OpenInvoice | None = None
    outside_client = partial(httpx.Client, base_url=base_url, timeout=15, trust_env=False)

    def try_open_invoice() -> bool:
        nonlocal invoice
        with outside_client() as client:
            invoice = try_open(client, access, settings.data_dir / "demo-invoice")
        return invoice is not None

    for what, is_done in (
        ("The chain's start", partial(_chain_is_ready, setup.chain_url)),
        ("The server's readiness", partial(_is_ready, base_url)),
        ("The demo invoice", try_open_invoice),
    ):
        if not await supervisor.until(what, partial(asyncio.to_thread, is_done), READY_WITHIN_S):
            return 0 if supervisor.stopping.is_set() else 1
    assert invoice is not None
    vendor_url, relay_url = setup.local_urls
    with outside_client() as client:
        await asyncio.to_thread(
            play_examples, client, chat, vendor_url=vendor_url, relay_url=relay_url
        )
    if genesis not in (None, _genesis_hash(setup.chain_url)):
        supervisor.say("the embedded chain is new; payments on the earlier chain are lost")
    announce(
        Ready(
            base_url=base_url,
            chain_url=setup.chain_url,
            key=access.key,
            invoice_id=invoice.id,
            amount=invoice.amount,
            checkout_url=invoice.checkout_url,
            data_dir=str(settings.data_dir),
            chat_url=f"{base_url}/api/v1",
            chat_users=chat.users,
            chat_channel_id=chat.channel_id,
            push_relay_url=relay_url,
        ),
        as_json=as_json,
    )
    await supervisor.stopping.wait()
    return 0


def prepare(setup: Demo) -> tuple[Access, str | None]:
    """Seed the payment database. Return the access to its project, and the stored hash of the
    chain's block 0, if there is one.
    """
    settings = setup.settings
    file = settings.data_dir / "demo.json"
    vault, now = payment_vault(settings), Clock().now()

    def work(session: Session) -> Access:
        access = seed(session, stored=stored_access(file), now=now)
        lifetime = timedelta(seconds=settings.invoice_lifetime_s)
        seed_examples(session, vault, access.project_id, lifetime=lifetime, now=now)
        return access

    with open_database("payment", settings, needs_secret=True) as database:
        access = database.run(work)
        with database.reading() as reader:
            known = find_checkpoint_blocks(reader, CHAIN_ID, up_to=0)
    store_access(file, access)
    return access, known[0].hash if known else None


def prepare_chat(setup: Demo, host: str) -> ChatAccess:
    """Seed the chat database with an organization at the demo's host."""
    settings = setup.settings
    keys, vault, now = key_maker(settings), chat_vault(settings), Clock().now()

    def work(session: Session) -> ChatAccess:
        access = seed_chat(session, keys, host=host, now=now)
        if setup.is_alone:
            seed_secrets(session, vault, access, now)
        return access

    with open_database("chat", settings, needs_secret=True) as database:
        return database.run(work)


def _is_alone(settings: Settings) -> bool:
    return is_loopback(settings.bind.rpartition(":")[0])


def _has_local_chains(given: Settings) -> bool:
    """Return whether all configured chain endpoints are on this machine."""
    return all(endpoint.is_loopback for _, endpoint in parse_endpoints(given.chain_rpc_urls))


def _genesis_hash(chain_url: str) -> str:
    with closing(Testnet(chain_url)) as chain:
        return str(chain.call("eth_getBlockByNumber", "0x0", False)["hash"])


def _chain_is_ready(chain_url: str) -> bool:
    """Return whether the chain answers and has the test token."""
    with closing(Testnet(chain_url, timeout_s=2)) as chain, suppress(TestnetError):
        return chain.has_code(TOKEN)
    return False


def _is_ready(base_url: str) -> bool:
    with suppress(httpx.TransportError):
        return httpx.get(f"{base_url}/readyz", timeout=5, trust_env=False).status_code == 200
    return False


def _host_and_port(bind: str) -> tuple[str, int]:
    host, _, port = bind.rpartition(":")
    return host.strip("[]"), int(port)
