"""Another checkout is measured with its own modules, on separate databases. Without load."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from benchmarks.chat.databases import databases, filled_for
from benchmarks.chat.measures import check, serve
from benchmarks.chat.realm import LEAST_MESSAGES
from benchmarks.engine.__main__ import ask, start
from benchmarks.engine.agreement import disagreements
from benchmarks.engine.peers import ours_of
from benchmarks.load.checkout import HERE, Checkout, checkout_at
from benchmarks.load.figures import Figures, figures_beside
from benchmarks.load.processes import Server, free_port
from benchmarks.payment.contestants import CONTESTANTS, contestants
from benchmarks.payment.story import tell

SERVE = """
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"another")
if __name__ == "__main__":
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def test_another_checkout_runs_its_own_modules(tmp_path: Path) -> None:
    (tmp_path / "wsgi.py").write_text(SERVE)
    another = checkout_at(str(tmp_path))
    assert another.name == f"specd at {tmp_path.name}", "its commit must be unknown"
    assert another.run("import wsgi, sys; print(1); print(wsgi.__file__, sys.argv[1])", "2") == (
        f"{tmp_path}/wsgi.py 2"
    )
    port = free_port()
    command = [sys.executable, "-P", "-m", "wsgi", str(port)]
    log = tmp_path / "server.log"
    with Server(another.name, command, port=port, log=log, checkout=another) as server:
        assert httpx.get(server.url).text == "another"


def test_commit_identifies_its_checkout() -> None:
    here = checkout_at(HERE.root)
    assert here.root == HERE.root
    assert here.name.startswith("specd at ")


def test_directory_without_a_checkout_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not a checkout"):
        checkout_at(tmp_path)


def test_engines_of_both_checkouts_give_the_same_answers(tmp_path: Path) -> None:
    another = replace(ours_of(checkout_at(HERE.root)), port=free_port())
    with start(another, tmp_path) as server, httpx.Client(base_url=server.url) as client:
        assert disagreements(another, lambda request: ask(client, request)) == []


def test_service_of_another_checkout_passes_the_payment_scenario(tmp_path: Path) -> None:
    assert contestants(None) == CONTESTANTS
    checkout = checkout_at(HERE.root)
    ours, another, peer = contestants(checkout)
    assert (ours, peer) == CONTESTANTS
    assert another.name == checkout.name
    url = f"sqlite:///{tmp_path}/{another.database}.db"
    bearer = another.prepare(url)
    with another.serve(url, tmp_path, port=free_port(), workers=1, core=None) as server:
        assert server.name == checkout.name
        with httpx.Client(base_url=server.url) as client:
            assert tell(client.request, bearer).idempotency_key == "story-create-1"


@pytest.mark.usefixtures("few_people")
def test_both_checkouts_have_the_same_realm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = checkout_at(HERE.root)
    with databases("sqlite", tmp_path, stays=False) as where:
        stage, urls = filled_for(where, tmp_path, checkout, LEAST_MESSAGES)
        assert list(urls) == [checkout, HERE]
        for each, url in urls.items():
            with serve(url, tmp_path, each) as server:
                assert server.name == each.name
                check(server, stage, LEAST_MESSAGES)
        monkeypatch.setattr(Checkout, "run", lambda *_: pytest.fail("what is there is not filled"))
        assert filled_for(where, tmp_path, checkout, LEAST_MESSAGES) == (stage, urls)


def test_table_has_both_checkouts_and_their_ratio() -> None:
    before, now = Figures(1000, 2.0, 3.0, 400, 1), Figures(2500, 0.5, 3.0, 100, 1)
    table = figures_beside("SQLite", {"GET": {"old": before, "new": now}}, "old", "new")
    assert table.splitlines() == [
        "| SQLite, old and now | requests/s: before | now | ratio | p50 ms: before | now | ratio |"
        " CPU us/request: before | now | ratio |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
        "| GET | 1,000 | 2,500 | 2.50 | 2.00 | 0.50 | 0.25 | 400 | 100 | 0.25 |",
    ]
