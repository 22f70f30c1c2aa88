"""No secret is written to a log, by any process and at any depth of a line."""

import base64
import io
import logging
import re
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jwt
import orjson
import pytest
import structlog

from models.chat.common.vault import Vault
from models.chat.identity.api_keys import KeyMaker
from models.secret_shapes import SHAPES
from models.webhooks import signing
from specd import _logs as logs

SECRET = b"a secret of more than thirty-two bytes"


def secrets_of_each_kind() -> dict[str, str]:
    """Return one secret of each kind, as the services create them."""
    key = KeyMaker._derive(secrets.token_hex(16), SECRET)
    basic = base64.b64encode(f"hamlet@acme.example:{key}".encode()).decode()
    return {
        "payment key": f"prk_test_{secrets.token_hex(4)}_{secrets.token_urlsafe(32)}",
        "chat key": key,
        "checkout or confirmation": secrets.token_urlsafe(32),
        "link of an export": Vault(SECRET).seal("1795262400", purpose="export:1"),
        "secret of a webhook": signing.new_secret(),
        "jwt": jwt.encode({"email": "hamlet@acme.example"}, SECRET, algorithm="HS256"),
        "basic": f"Basic {basic}",
        "bearer": f"bearer {secrets.token_hex(8)}",
    }


@pytest.fixture
def stream() -> Iterator[io.BytesIO]:
    before = structlog.get_config()
    root, handlers, level = logging.getLogger(), logging.getLogger().handlers, None
    level = root.level
    stream = io.BytesIO()
    logs.configure("info", secrets=SHAPES, stream=stream)
    structlog.configure(cache_logger_on_first_use=False)
    yield stream
    structlog.configure(**before)
    root.handlers, root.level = handlers, level


@pytest.mark.parametrize("kind", secrets_of_each_kind())
def test_every_secret_is_redacted_at_any_place(kind: str, stream: io.BytesIO) -> None:
    for _ in range(50):  # they are random
        secret = secrets_of_each_kind()[kind]
        told = secret.rpartition(" ")[2]
        log = structlog.get_logger("x")
        log.warning(f"said {secret}", reason=f"GET /x/{secret}?key={secret}", deep={"a": [secret]})
        try:
            raise ValueError(f"headers: {{'authorization': '{secret}'}}")
        except ValueError:
            log.exception("failed", error=f'"{secret}"')
        assert told.encode() not in stream.getvalue()
        assert b"[secret]" in stream.getvalue()
        stream.seek(0)
        stream.truncate()


@pytest.mark.parametrize("start", ["0x", "0xAb", "-", "_", "--"])
def test_token_may_begin_with_any_character(start: str, stream: io.BytesIO) -> None:
    secret = start + ("aB3_xyz-" * 6)[: 43 - len(start)]
    structlog.get_logger("x").warning(f"GET /x/{secret}?key={secret}")
    assert secret.encode() not in stream.getvalue()


def test_other_texts_are_unchanged(stream: io.BytesIO) -> None:
    facts = {
        "id": "0123456789abcdef01234567",
        "key": "01ab23cd",
        "address": "2001:db8::1",
        "operation": "receive_vendor_notice",
        "reason": "EndpointsUnavailable: http://127.0.0.1:8545 does not answer",
        "traceback": "models/chat/sending/reports.py::check_may_report_messages_of_people_there",
        "number": 1795262400123,
        "none": None,
        "flag": True,
    }
    structlog.get_logger("x").info("what_happened", **facts)
    line = orjson.loads(stream.getvalue())
    line.pop("timestamp")
    assert line == {"event": "what_happened", "level": "info", **facts}


def test_servers_and_workers_configure_logging_alike() -> None:
    """Including the log of the standard library."""
    key = secrets_of_each_kind()["payment key"]
    program = (
        "import logging; from specd import _logs as logs; from models.secret_shapes import SHAPES;"
        "logs.configure('info', secrets=SHAPES);"
        f"logging.getLogger('urllib3').warning('retrying %s', {key!r})"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    line = orjson.loads(ran.stderr)
    assert (line["event"], line["level"]) == ("retrying [secret]", "warning")


@pytest.mark.parametrize(
    "module", ["specd/_applications.py", "specd/_cli/serve.py", "specd/_workers/registry.py"]
)
def test_every_long_running_process_knows_all_patterns(module: str) -> None:

    source = (Path(logs.__file__).parents[1] / module).read_text()
    call = r"logs\.configure\(settings\.log_level, secrets=[\w.()]+\.secret_patterns\(\)\)"
    assert re.search(call, source)
