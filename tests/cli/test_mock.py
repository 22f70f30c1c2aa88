"""`specd mock`, as a process: it serves a file or reports why it cannot."""

import socket
import subprocess
import sys
from pathlib import Path

import httpx

from tests.cli.runner import Specd
from tests.live.running_server import ROOT, free_port, until_it_answers

DOCUMENT = """
openapi: 3.1.0
info: {title: Greetings, version: "1"}
servers: [{url: /v1}]
paths:
  /greeting:
    get:
      responses:
        "200":
          description: A greeting.
          content: {application/json: {schema: {type: object, properties: {text: {const: Hello}}}}}
"""


def test_serves_a_document(tmp_path: Path) -> None:
    document = tmp_path / "greetings.yaml"
    document.write_text(DOCUMENT)
    address = f"127.0.0.1:{free_port()}"
    log = tmp_path / "mock.log"
    words = [sys.executable, "-m", "specd._cli.main", "mock", str(document), "--bind", address]
    with log.open("wb") as out:
        mock = subprocess.Popen(words, cwd=ROOT, stdout=out, stderr=out)
    try:
        until_it_answers(f"http://{address}/greeting", mock, log)
        answer = httpx.get(f"http://{address}/v1/greeting", headers={"Prefer": "dynamic=true"})
        assert answer.json() in ({}, {"text": "Hello"})
        assert answer.headers["Preference-Applied"] == "dynamic=true"
    finally:
        mock.terminate()
        mock.wait(20)
    assert f"Mocking http://{address}/v1. Ctrl-C stops it." in log.read_text()


def test_reports_an_error_in_a_document(specd: Specd, tmp_path: Path) -> None:
    document = tmp_path / "greetings.yaml"
    document.write_text(DOCUMENT.replace("type: object", "type: objekt"))
    status, out, err = specd("mock", str(document))
    assert (status, out) == (1, "")
    assert "paths./greeting.get" in err
    assert "Traceback" not in err


def test_reports_all_errors_of_an_unreadable_document(specd: Specd, tmp_path: Path) -> None:
    document = tmp_path / "greetings.yaml"
    nowhere = DOCUMENT.replace("{type: object", "{$ref: absent.yaml, type: object")
    document.write_text(f"{nowhere}  /other: {{$ref: gone.yaml}}\n")
    status, _, err = specd("mock", str(document))
    assert status == 1
    assert "absent.yaml" in err
    assert "gone.yaml" in err
    assert not (tmp_path / "__pycache__").exists()


def test_reports_an_unusable_address(specd: Specd, tmp_path: Path) -> None:
    document = tmp_path / "greetings.yaml"
    document.write_text(DOCUMENT)
    assert "must be HOST:PORT" in specd.refusal("mock", str(document), "--bind", "8080")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        bind = f"127.0.0.1:{taken.getsockname()[1]}"
        refusal = specd.refusal("mock", str(document), "--bind", bind)
    assert refusal.startswith(f"Cannot listen on {bind} (Address already in use")
