"""`specd serve` as an operator runs it: gunicorn with our configuration, started and stopped."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.live.running_server import free_port
from tests.support import warm
from tests.support.databases import place_migrated
from wsgi import project

ROOT = Path(__file__).parent.parent.parent
START_WITHIN_S = 180.0
STOP_WITHIN_S = 60.0
GONE_WITHIN_S = 60.0


def environment(directory: Path, **settings: str) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if "SPECD_" not in name}
    return {
        **plain,
        "PYTHONPATH": str(ROOT),
        "SPECD_DATA_DIR": str(directory),
        "SPECD_BIND": f"127.0.0.1:{free_port()}",
        **settings,
    }


def specd(
    env: dict[str, str], *words: str, popen: type[subprocess.Popen[str]] = subprocess.Popen
) -> subprocess.Popen[str]:
    return popen(
        [sys.executable, "-m", "specd._cli.main", *words],
        env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/",
    )  # fmt: skip


COLD = pytest.mark.parametrize("server", [{"cold": "yes"}], indirect=True)


@pytest.fixture
def server(
    tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    """A ready server of two workers, started with the counters of an earlier run, and with further
    settings as parameters. `COLD` starts a new Python.
    """
    settings = dict(getattr(request, "param", {}))
    popen = subprocess.Popen if settings.pop("cold", "") else warm.Popen
    env = environment(tmp_path, SPECD_WORKERS="2", **settings)
    for service in project.names:
        place_migrated(tmp_path / f"{service}.db", service)
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics" / "counter_1.db").write_bytes(b"left behind")
    process = specd(env, "serve", popen=popen)
    with httpx.Client(base_url=f"http://{env['SPECD_BIND']}", timeout=10) as client:
        deadline = time.monotonic() + START_WITHIN_S
        while True:
            try:
                ready = client.get("/readyz").status_code == 200
                if ready and len(children_of(process.pid)) == 2:
                    break
            except httpx.TransportError:
                pass
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield process, client
    if process.poll() is None:
        process.terminate()
        process.wait(STOP_WITHIN_S)
    process.communicate()


def test_counts_the_requests_of_all_workers_and_forgets_the_last_run(
    server: tuple[subprocess.Popen[str], httpx.Client], tmp_path: Path
) -> None:
    _, client = server
    assert not (tmp_path / "metrics" / "counter_1.db").exists()
    url = str(client.base_url.join("/v1/payment-methods"))
    for _ in range(40):  # a separate connection each, so that both workers receive some
        assert httpx.get(url, timeout=10).status_code == 401
    counted = [
        line
        for line in client.get("/metrics").text.splitlines()
        if line.startswith("specd_requests_total{") and 'operation="list_payment_methods"' in line
    ]
    assert sum(float(line.rpartition(" ")[2]) for line in counted) == 40
    written_by = {file.stem.rpartition("_")[2] for file in (tmp_path / "metrics").glob("*.db")}
    assert len(written_by) == 2


@COLD
def test_stops_on_sigterm_and_leaves_no_socket(
    server: tuple[subprocess.Popen[str], httpx.Client], tmp_path: Path
) -> None:
    process, client = server
    assert not [path for path in tmp_path.rglob("*") if path.is_socket()]
    process.send_signal(signal.SIGTERM)
    assert process.wait(STOP_WITHIN_S) == 0
    with pytest.raises(httpx.TransportError):
        client.get("/healthz")


@pytest.mark.parametrize("server", [{"SPECD_DRAIN_S": "5"}], indirect=True)
def test_goes_on_for_a_while_after_sigterm_and_is_not_ready(
    server: tuple[subprocess.Popen[str], httpx.Client],
) -> None:
    """New connections are served too, because the balancer has not reacted yet."""
    process, client = server
    process.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + STOP_WITHIN_S
    address = str(client.base_url)
    while (ready := httpx.get(f"{address}/readyz")).status_code == 200:
        assert time.monotonic() < deadline
    assert (ready.status_code, ready.json()) == (503, {"status": "stopping"})
    assert httpx.get(f"{address}/healthz").status_code == 200
    assert httpx.get(f"{address}/v1/payment-methods").status_code == 401
    assert process.wait(STOP_WITHIN_S) == 0


def children_of(pid: int) -> dict[int, str]:
    """Return process id and command line of each child."""
    found = {}
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        found[int(child)] = Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ")
    return found


@COLD
def test_sigusr2_starts_it_again_beside_itself(
    server: tuple[subprocess.Popen[str], httpx.Client],
) -> None:
    process, client = server
    process.send_signal(signal.SIGUSR2)
    deadline = time.monotonic() + START_WITHIN_S
    while True:
        again = [pid for pid, line in children_of(process.pid).items() if "gunicorn" in line]
        if again and children_of(again[0]):
            break
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert client.get("/readyz").status_code == 200
    os.kill(again[0], signal.SIGTERM)
    while children_of(process.pid).get(again[0], ""):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert client.get("/readyz").status_code == 200


def test_a_start_that_fails_in_the_workers_ends_the_server(tmp_path: Path) -> None:
    env = environment(tmp_path, SPECD_WORKERS="1")
    for service in project.names:
        place_migrated(tmp_path / f"{service}.db", service)
    (tmp_path / "wsgi.py").write_text(
        "project = None\nraise RuntimeError('a document that does not compile')\n"
    )
    env["PYTHONPATH"] = f"{tmp_path}{os.pathsep}{ROOT}"
    process = specd(env, "serve")
    _, err = process.communicate(timeout=START_WITHIN_S)
    assert process.returncode != 0
    assert "a document that does not compile" in err


def test_no_process_outlives_a_master_that_was_killed(
    server: tuple[subprocess.Popen[str], httpx.Client], tmp_path: Path
) -> None:
    process, client = server
    workers = list(children_of(process.pid))
    assert client.get("/healthz").status_code == 200  # a connection that stays open
    process.kill()
    deadline = time.monotonic() + GONE_WITHIN_S
    while any(Path(f"/proc/{pid}/stat").exists() and state_of(pid) != "Z" for pid in workers):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    with pytest.raises(httpx.TransportError):
        client.get("/healthz")


def state_of(pid: int) -> str:
    """Return the state of a process. Z means that it has ended."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
