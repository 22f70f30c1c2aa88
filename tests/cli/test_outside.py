"""`specd outside`: stand-ins of external services, run as a separate process."""

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx

from tests.cli.runner import Specd

ROOT = Path(__file__).parent.parent.parent


def test_runs_both_until_stopped(tmp_path: Path) -> None:
    words = ["outside", "--relay-port", "0", "--vendor-port", "0", "--json"]
    env = {
        "PYTHONPATH": str(ROOT),
        "SPECD_PUSH_RELAY_KEY": "the relay's key",
        "SPECD_VIDEO_VENDOR_CLIENT_ID": "acme",
    }
    with subprocess.Popen(
        [sys.executable, "-m", "specd._cli.main", *words],
        cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            announced = json.loads(process.stdout.readline() or "{}")
            relay = httpx.get(announced["push_relay_url"], trust_env=False).json()
            assert len(relay["bouncer_public_key"]) == 44
            page = f"{announced['video_vendor_url']}/oauth/authorize?response_type=code&client_id="
            assert httpx.get(f"{page}acme", trust_env=False).status_code == 200
            assert httpx.get(f"{page}other", trust_env=False).status_code == 400
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0
        finally:
            process.kill()


def test_reports_a_used_port(specd: Specd) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        sentence = specd.refusal("outside", "--relay-port", str(port), "--vendor-port", "0")
    assert sentence == f"The push relay cannot listen on port {port} (Address already in use)."


def test_simulates_a_phone_only_with_a_server(specd: Specd) -> None:
    nowhere = ("--api", "http://127.0.0.1:9/api/v1", "--relay", "http://127.0.0.1:9")
    sentence = specd.refusal("outside", "push", *nowhere, "--user", "hamlet@acme.example:x")
    assert sentence == "The phone could not be simulated (ConnectError)."
