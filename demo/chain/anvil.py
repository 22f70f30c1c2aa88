"""Finds and starts anvil, the preferred local chain: it starts fast and can save its state."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from demo.chain.testnet import CHAIN_ID, MNEMONIC
from demo.stopping import stop_with_parent


def find_anvil(named: str = "", *, directory: Path | None = None) -> Path | None:
    """Return the anvil binary `named`, or the one on PATH or in `directory`'s node_modules, or None
    if there is none.

    The name "none" selects the in-process chain. Raise `FileNotFoundError` if `named` is not
    executable.
    """
    if named.lower() == "none":
        return None
    if named:
        if not os.access(named, os.X_OK) or Path(named).is_dir():
            raise FileNotFoundError(f"SPECD_ANVIL names {named}, which is not an executable file")
        return Path(named)
    on_path = shutil.which("anvil")
    if on_path:
        return Path(on_path)
    # The npm package's launcher is a script. The binary is in a package for the platform.
    machine = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64"}.get(
        platform.machine(), platform.machine()
    )
    package = f"anvil-{'darwin' if sys.platform == 'darwin' else 'linux'}-{machine}"
    installed = (directory or Path()) / "node_modules" / "@foundry-rs" / package / "bin" / "anvil"
    return installed.absolute() if os.access(installed, os.X_OK) else None


def start_anvil(
    binary: Path, *, port: int, state: Path | None = None, chain_id: int = CHAIN_ID
) -> subprocess.Popen[bytes]:
    """Start anvil on 127.0.0.1:`port`. Return the process, which may not be listening yet.

    Every transaction is mined immediately, and other blocks only on request. `state` is loaded if
    it exists, and saved every 10 s and when SIGTERM stops anvil. Errors go to the pipe `stderr`.
    """
    command = [
        os.fspath(binary),
        *("--host", "127.0.0.1", "--port", str(port)),
        *("--chain-id", str(chain_id), "--mnemonic", MNEMONIC),
        *("--quiet", "--no-cors"),
    ]
    if state is not None:
        command += ["--state", os.fspath(state), "--state-interval", "10"]
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=stop_with_parent,
    )
