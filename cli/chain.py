"""`specd chain`: runs the local test chain, adds blocks and simulates reorganizations."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import click

from demo.chain.anvil import find_anvil
from demo.chain.embedded import EmbeddedChainFailed, keep_mining, start_embedded
from demo.chain.testnet import (
    CHAIN_ID,
    PAYER,
    TOKEN,
    Testnet,
    TestnetError,
    TestnetUnreachable,
)
from demo.stopping import stopping_on_signals
from models.payment import rescans
from settings import Settings
from specd.commands import answer, json_option, open_database

BLOCK_TIME_S = 3.0


@click.group(invoke_without_command=True)
@click.option(
    "--port", type=click.IntRange(1, 65535), help="Port on 127.0.0.1.  [default: SPECD_CHAIN_PORT]"
)
@click.option(
    "--block-time",
    "block_time_s",
    type=click.FloatRange(0.1, 3600),
    default=BLOCK_TIME_S,
    show_default=True,
    help="Block interval while recent payments await confirmation.",
)
@click.option(
    "--state",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File of anvil's chain state.  [default: SPECD_DATA_DIR/chain-PORT.json]",
)
@click.option("--fresh", is_flag=True, help="Discard the chain of the last run.")
@json_option
@click.pass_context
def chain(
    context: click.Context,
    port: int | None,
    block_time_s: float,
    state: Path | None,
    fresh: bool,
    as_json: bool,
) -> None:
    """Run a local test chain until interrupted.

    It has a test token with 6 decimals and a funded payer. The chain is anvil if found
    (SPECD_ANVIL, PATH, ./node_modules), otherwise py-evm. Anvil keeps its state between runs; a
    py-evm chain starts empty.
    """
    settings = Settings.from_env()
    context.obj = port or settings.chain_port
    if context.invoked_subcommand is None:
        state = state or settings.data_dir / f"chain-{context.obj}.json"
        if fresh:
            state.unlink(missing_ok=True)
        _run(settings, context.obj, block_time_s=block_time_s, state=state, as_json=as_json)


@chain.command()
@click.argument("count", metavar="N", type=click.IntRange(1, 100_000))
@json_option
@click.pass_obj
def mine(port: int, count: int, as_json: bool) -> None:
    """Mine N blocks now."""
    with _acting(port) as testnet:
        head = testnet.mine(count)
    answer(
        {"mined": count, "head": head}, as_json=as_json, text=f"Mined {count}; the head is {head}."
    )


@chain.command()
@click.option("--depth", type=click.IntRange(1, 10_000), required=True, help="Blocks to replace.")
@json_option
@click.pass_obj
def reorg(port: int, depth: int, as_json: bool) -> None:
    """Simulate a reorganization.

    Empty blocks replace the newest blocks and their payments.
    """
    with _acting(port) as testnet:
        head = testnet.reorg(depth)
    answer(
        {"depth": depth, "head": head},
        as_json=as_json,
        text=f"Replaced the newest {depth} blocks; the head is {head}.",
    )


@chain.command()
@click.argument("chain_id", metavar="CHAIN_ID", type=int)
@json_option
def forget(chain_id: int, as_json: bool) -> None:
    """Accept a new chain with the same CHAIN_ID.

    The watcher does not use endpoints whose block 0 differs from that of the chain it has read.
    This command drops the payments that open invoices received on the old chain, and reads the new
    one.
    """
    with open_database("payment", Settings.from_env()) as database:
        dropped = database.run(lambda session: rescans.forget_chain(session, chain_id))
    answer(
        {"chain_id": chain_id, "invoices": dropped},
        as_json=as_json,
        text=f"Chain {chain_id} is deleted; {dropped} invoices lose their payments on it.",
    )


@contextmanager
def _acting(port: int) -> Iterator[Testnet]:
    """Yield a `Testnet` on the local chain. Convert its errors to ClickExceptions."""
    with closing(Testnet(f"http://127.0.0.1:{port}", timeout_s=120)) as testnet:
        try:
            yield testnet
        except TestnetUnreachable as error:
            raise click.ClickException(
                f"{error}; start one with `specd chain`, or choose with `specd chain --port N ...`"
            ) from None
        except TestnetError as error:
            raise click.ClickException(str(error)) from None


def _run(settings: Settings, port: int, *, block_time_s: float, state: Path, as_json: bool) -> None:
    with stopping_on_signals() as stopping:
        try:
            running = start_embedded(
                port=port,
                anvil=find_anvil(settings.anvil),
                state=state,
                warn=lambda sentence: click.echo(sentence, err=True),
            )
        except (FileNotFoundError, EmbeddedChainFailed) as error:
            raise click.ClickException(str(error)) from None
        try:
            answer(
                {
                    "url": running.url,
                    "chain_id": CHAIN_ID,
                    "engine": running.engine,
                    "token": TOKEN,
                    "payer": PAYER,
                },
                as_json=as_json,
                text=(
                    f"{running.engine} serves chain {CHAIN_ID} at {running.url};"
                    f" token {TOKEN}, payer {PAYER}. Ctrl-C stops it."
                ),
            )
            keep_mining(running, block_time_s=block_time_s, stopping=stopping)
            # Ctrl-C also stops anvil, so it may end shortly before this process gets its signal.
            if not stopping.wait(1.0):
                raise click.ClickException(f"{running.engine} ended unexpectedly")
        finally:
            running.stop()
