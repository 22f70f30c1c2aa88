"""`specd outside`: simulates the external services and a phone on this machine."""

from contextlib import ExitStack

import click
import httpx

from demo.local_server import FAULTS, LocalServer
from demo.phone import Phone
from demo.push_relay import LocalRelay
from demo.stopping import stopping_on_signals
from demo.video_vendor import LocalVendor
from settings import Settings
from specd.commands import answer, json_option

RELAY_PORT, VENDOR_PORT = 8601, 8602
PORT = click.IntRange(0, 65_535)
TIMEOUT_S = 15.0


@click.group(invoke_without_command=True)
@click.option(
    "--relay-port", type=PORT, default=RELAY_PORT, show_default=True, help="0 picks a free port."
)
@click.option(
    "--vendor-port", type=PORT, default=VENDOR_PORT, show_default=True, help="0 picks a free port."
)
@click.option(
    "--fault",
    type=click.Choice(FAULTS),
    default="none",
    show_default=True,
    help="Fault that both services simulate.",
)
@json_option
@click.pass_context
def outside(
    context: click.Context, relay_port: int, vendor_port: int, fault: str, as_json: bool
) -> None:
    """Run a local push relay and video call vendor.

    They run until interrupted. Both authenticate this server by its settings:
    SPECD_PUSH_RELAY_ORGANIZATION and _KEY, SPECD_VIDEO_VENDOR_CLIENT_ID and _CLIENT_SECRET. They
    keep no state between runs.
    """
    if context.invoked_subcommand is not None:
        return
    settings = Settings.from_env()
    relay = LocalRelay(organization=settings.push_relay_organization, key=settings.push_relay_key)
    vendor = LocalVendor(
        client_id=settings.video_vendor_client_id,
        client_secret=settings.video_vendor_client_secret,
    )
    with stopping_on_signals() as stopping, ExitStack() as running:
        servers = []
        for name, counterpart, port in (
            ("push relay", relay, relay_port),
            ("video vendor", vendor, vendor_port),
        ):
            try:
                server = LocalServer(counterpart, port, fault=fault)
            except OSError as error:
                raise click.ClickException(
                    f"The {name} cannot listen on port {port} ({error.strerror})"
                ) from None
            server.start()
            running.callback(server.close)
            servers.append(server)
        urls = [server.url for server in servers]
        answer(
            {"push_relay_url": urls[0], "video_vendor_url": urls[1]},
            as_json=as_json,
            text=f"The push relay is at {urls[0]}, the video vendor at {urls[1]}. Ctrl-C stops"
            " them.",
        )
        stopping.wait()


@outside.command()
@click.option("--api", required=True, metavar="URL", help="URL of the chat service, with /api/v1.")
@click.option("--relay", required=True, metavar="URL", help="URL of the local push relay.")
@click.option(
    "--user", required=True, metavar="EMAIL:KEY", help="API email and key of the phone's user."
)
@json_option
def push(api: str, relay: str, user: str, as_json: bool) -> None:
    """Act as a phone: register, request a test notification and decrypt it."""
    email, _, key = user.rpartition(":")
    phone = Phone()
    with httpx.Client(trust_env=False, timeout=TIMEOUT_S) as client:

        def post(path: str, **form: object) -> dict[str, object]:
            response = client.post(f"{api.rstrip('/')}{path}", data=form, auth=(email, key))
            body: dict[str, object] = response.json()
            if body.get("result") != "success":
                raise click.ClickException(f"{path} returned: {body.get('msg')}")
            return body

        try:
            public_key = client.get(relay).json()["bouncer_public_key"]
            device_id = post("/register_client_device")["device_id"]
            fields = phone.key_fields() | phone.token_fields(public_key)
            post("/mobile_push/register", device_id=device_id, **fields)
            post("/mobile_push/e2ee/test_notification", device_id=device_id)
            query = {"token": phone.token}
            (payload,) = client.get(f"{relay}/delivered", params=query).json()["delivered"]
        except (httpx.HTTPError, ValueError, KeyError) as error:
            raise click.ClickException(
                f"The phone could not be simulated ({type(error).__name__})"
            ) from None
    notification = phone.read(payload)
    answer(
        {"device_id": device_id, "delivered": payload, "said": notification},
        as_json=as_json,
        text=f"Device {device_id} received {payload}\nand decrypted {notification}",
    )
