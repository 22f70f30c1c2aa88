"""The embedded test chain: anvil as a child process, or py-evm served from this process.

Both mine each transaction immediately. `keep_mining` adds blocks to confirm payments: quickly after
a payment, slowly if nothing happens.
"""

from __future__ import annotations

import socket
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Protocol

from demo.chain.anvil import start_anvil
from demo.chain.testnet import Testnet, TestnetError

_START_S = 30.0
_STOP_S = 10.0
# The number of blocks to mine quickly after a transaction. Then one is mined every IDLE_S.
_BUSY_BLOCKS = 20
IDLE_S = 15.0
_LOOK_S = 0.2


class EmbeddedChainFailed(Exception):
    """The local chain cannot start. The message is a sentence that contains the fix."""


class EndedAtOnce(EmbeddedChainFailed):
    """The chain's process ended before it answered."""


class EmbeddedChain(Protocol):
    """A running local chain."""

    url: str
    engine: str

    def is_running(self) -> bool: ...

    def stop(self) -> None:
        """Stop the chain and save its state if it has a file for it. Repeated calls are allowed."""
        ...


def start_embedded(
    *, port: int, anvil: Path | None, state: Path | None, warn: Callable[[str], None]
) -> EmbeddedChain:
    """Start the chain on 127.0.0.1:`port` and wait until it answers and has its token.

    `state` is the file in which anvil saves its chain between runs. A py-evm chain is always new.
    If anvil cannot read the file (it is truncated or from another release), the file is renamed,
    `warn` is called, and the chain is new. Raise `EmbeddedChainFailed`.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            raise EmbeddedChainFailed(
                f"port {port} is in use; stop what listens there or choose another with --port"
            ) from None
    if anvil is None:
        return _ready(PyEvmServed(port))
    try:
        return _ready(AnvilChain(anvil, port, state))
    except EndedAtOnce:
        if state is None or not state.exists():
            raise
    aside = state.with_suffix(".unreadable")
    state.replace(aside)
    chain = _ready(AnvilChain(anvil, port, state))
    warn(f"the saved chain could not be read and is now {aside}; this chain is new")
    return chain


class AnvilChain:
    """Anvil as a child process, which ends with this process."""

    engine = "anvil"

    def __init__(self, binary: Path, port: int, state: Path | None) -> None:
        self.url = f"http://127.0.0.1:{port}"
        if state is not None:
            state.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._process = start_anvil(binary, port=port, state=state)
        except OSError as error:
            raise EmbeddedChainFailed(f"{binary} does not start: {error.strerror}") from None

    def is_running(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> None:
        if self.is_running():
            self._process.terminate()
        try:
            self._process.communicate(timeout=_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()


class PyEvmServed:
    """py-evm, served over HTTP by a thread of this process."""

    engine = "py-evm"

    def __init__(self, port: int) -> None:
        # These are an optional extra, and importing them takes 1.5 s.
        try:
            from demo.chain.pyevm import PyEvmChain
            from demo.chain.pyevm_server import serve
        except ImportError:
            raise EmbeddedChainFailed(
                "neither anvil nor py-evm is installed: set SPECD_ANVIL to an anvil binary, or"
                " install the extra named chain (pip install '.[chain]')"
            ) from None
        self.url = f"http://127.0.0.1:{port}"
        try:
            self._server = serve(PyEvmChain(), port)
        except OSError as error:
            raise EmbeddedChainFailed(f"cannot listen on port {port}: {error.strerror}") from None
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )
        self._thread.start()

    def is_running(self) -> bool:
        return self._thread.is_alive()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(_STOP_S)


def keep_mining(chain: EmbeddedChain, *, block_time_s: float, stopping: threading.Event) -> None:
    """Mine until `stopping` is set or the chain has ended.

    A block is mined `block_time_s` after the previous one, so that a payment always has one
    confirmation for that long. After some blocks without transactions, the interval is `IDLE_S`.
    """
    testnet = Testnet(chain.url)
    seen = ""
    seen_at = time.monotonic()
    quiet_blocks = 0
    while chain.is_running() and not stopping.wait(min(_LOOK_S, block_time_s / 4)):
        try:
            head = testnet.call("eth_getBlockByNumber", "latest", False)
            if head["hash"] != seen:
                seen, seen_at = head["hash"], time.monotonic()
                quiet_blocks = 0 if head["transactions"] else quiet_blocks + 1
            pace = block_time_s if quiet_blocks < _BUSY_BLOCKS else max(block_time_s, IDLE_S)
            if time.monotonic() - seen_at >= pace:
                testnet.call("evm_mine")
        except TestnetError:
            continue  # the chain is busy, or it has stopped and the loop ends
    testnet.close()


def _ready(chain: EmbeddedChain) -> EmbeddedChain:
    """Wait until the chain answers, deploy its token, and return it. Stop it if that fails."""
    try:
        with closing(Testnet(chain.url)) as testnet:
            _wait_for_answer(chain, testnet)
            testnet.ensure_token()
    except TestnetError as error:
        chain.stop()
        raise EmbeddedChainFailed(str(error)) from None
    except BaseException:
        chain.stop()
        raise
    return chain


def _wait_for_answer(chain: EmbeddedChain, testnet: Testnet) -> None:
    deadline = time.monotonic() + _START_S
    while True:
        with suppress(TestnetError):
            testnet.quantity("eth_chainId")
            return
        if not chain.is_running():
            raise EndedAtOnce(f"{chain.engine} ended at once; see whether it runs by itself")
        if time.monotonic() > deadline:
            raise EmbeddedChainFailed(f"{chain.engine} does not answer within {_START_S:g} s")
        time.sleep(0.02)
