"""Wrong settings are reported before the first request, by every command or `specd doctor`."""

import sys
from pathlib import Path

import pytest

from tests.cli.runner import Specd
from tests.cli.test_doctor import broken
from tests.live.running_server import free_port
from tests.support.databases import place_migrated
from wsgi import project

REFUSED = {
    "a name with a typing error": ({"SPECD_WORKRES": "2"}, "did you mean SPECD_WORKERS"),
    "no server process": ({"SPECD_WORKERS": "0"}, "SPECD_WORKERS must be a whole number from 1"),
    "a word for a number": ({"SPECD_DATABASE_POOL_SIZE": "many"}, "SPECD_DATABASE_POOL_SIZE must"),
    "an address without a port": ({"SPECD_BIND": "127.0.0.1"}, "SPECD_BIND must be HOST:PORT"),
    "a public address without a scheme": ({"SPECD_PUBLIC_URL": "pay.example"}, "SPECD_PUBLIC_URL"),
    "no network": ({"SPECD_TRUSTED_PROXIES": "10.0.0.0/40"}, "SPECD_TRUSTED_PROXIES must be"),
    "a short secret": ({"SPECD_CHAT_SECRET": "short"}, "SPECD_CHAT_SECRET must have at least 32"),
    "a file of a secret that is not there": (
        {"SPECD_CHAT_SECRET_FILE": "/nowhere/secret"},
        "SPECD_CHAT_SECRET_FILE",
    ),
    "a file and a text of a secret": (
        {"SPECD_CHAT_SECRET_FILE": "/nowhere/secret", "SPECD_CHAT_SECRET": "s" * 32},
        "SPECD_CHAT_SECRET",
    ),
    "development on a public address": (
        {"SPECD_DEVELOPMENT": "true", "SPECD_BIND": "0.0.0.0:8080"},
        "SPECD_DEVELOPMENT",
    ),
    "no level of a log": ({"SPECD_LOG_LEVEL": "loud"}, "SPECD_LOG_LEVEL must be one of"),
    "a negative drain": ({"SPECD_DRAIN_S": "-1"}, "SPECD_DRAIN_S must be a number of seconds"),
    "another kind of database": (
        {"SPECD_CHAT_DATABASE_URL": "mysql://a:hush-word@b/c"},
        "SPECD_CHAT_DATABASE_URL must be",
    ),
    "no mail server": ({"SPECD_MAIL_URL": "mail.example"}, "SPECD_MAIL_URL must be"),
    "no store of limits": ({"SPECD_LIMITS_URL": "memcached://a"}, "SPECD_LIMITS_URL must be"),
    "an endpoint in clear": (
        {"SPECD_CHAIN_RPC_URLS": "http://rpc.example/hush-word"},
        "SPECD_CHAIN_RPC_URLS must be an https URL",
    ),
    "no endpoint": ({"SPECD_CHAIN_RPC_URLS": "rpc.example"}, "SPECD_CHAIN_RPC_URLS must be"),
    "a mail server without a port": ({"SPECD_MAIL_URL": "smtp://a:x"}, "SPECD_MAIL_URL must be"),
}
"""Case -> settings, and the error of every command before it does anything."""


@pytest.mark.parametrize("command", [("config", "check"), ("doctor",), ("serve",), ("worker",)])
@pytest.mark.parametrize("what", REFUSED)
def test_invalid_setting_is_rejected(
    specd: Specd, monkeypatch: pytest.MonkeyPatch, what: str, command: tuple[str, ...]
) -> None:
    settings, message = REFUSED[what]
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    refused = specd.refusal(*command)
    assert message in refused
    assert "hush-word" not in refused


DEAD = "127.0.0.1:{port}"
FOUND = {
    "a database that is not there": (
        {"SPECD_CHAT_DATABASE_URL": f"postgresql://specd:hush-word@{DEAD}/specd"},
        "chat database",
        "refused",
    ),
    "a name of a database without an address": (
        {"SPECD_CHAT_DATABASE_URL": "postgresql://specd:hush-word@nowhere.invalid/specd"},
        "chat database",
        "nowhere.invalid",
    ),
    "a file of SQLite in a folder that is not there": (
        {"SPECD_CHAT_DATABASE_URL": "sqlite:////nowhere/chat.db"},
        "chat database",
        "does not exist yet",
    ),
    "an address of another machine": ({"SPECD_BIND": "192.0.2.1:80"}, "server", "cannot listen"),
    "a name of this machine without an address": (
        {"SPECD_BIND": "nowhere.invalid:8080"},
        "server",
        "cannot listen",
    ),
    "a store of limits that is away": (
        {"SPECD_LIMITS_URL": f"redis://x:hush-word@{DEAD}/0"},
        "limits",
        "SPECD_LIMITS_URL",
    ),
    "a chain whose endpoint is away": (
        {"SPECD_CHAIN_RPC_URLS": f"11155111=http://{DEAD}/hush-word"},
        "endpoint 1 ({dead})",
        "cannot connect",
    ),
    "a mail server that is away": ({"SPECD_MAIL_URL": f"smtp://{DEAD}"}, "mail", "refused"),
    "a name of a mail server with a typing error": (
        {"SPECD_MAIL_URL": "smtp://a:hush-word@nowhere.invalid:587"},
        "mail",
        "SPECD_MAIL_URL",
    ),
    "all addresses as proxies": (
        {"SPECD_TRUSTED_PROXIES": "0.0.0.0/0"},
        "proxies",
        "every client can claim any address",
    ),
    "a folder of uploads that cannot be made": (
        {"SPECD_CHAT_UPLOAD_DIR": "/dev/null/uploads"},
        "folders",
        "SPECD_CHAT_UPLOAD_DIR",
    ),
    "a folder of exports that cannot be made": (
        {"SPECD_CHAT_EXPORT_DIR": "/dev/null/exports"},
        "folders",
        "SPECD_CHAT_EXPORT_DIR",
    ),
    "a folder of counters that cannot be made": (
        {"SPECD_METRICS_DIR": "/dev/null/metrics"},
        "folders",
        "SPECD_METRICS_DIR",
    ),
    "a folder of mail that cannot be made": (
        {"SPECD_MAIL_URL": "file:///dev/null/mail"},
        "folders",
        "SPECD_MAIL_URL",
    ),
    "a bucket without the library": (
        {"SPECD_CHAT_UPLOAD_BUCKET": "files"},
        "uploads",
        "extra s3",
    ),
}
"""Case -> settings, the check of `specd doctor`, and its message."""


@pytest.mark.parametrize("what", FOUND)
def test_setting_that_does_not_match_the_environment_is_reported(
    specd: Specd, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, what: str
) -> None:
    settings, check, message = FOUND[what]
    for service in project.names:
        place_migrated(tmp_path / "var" / f"{service}.db", service)
    monkeypatch.setenv("SPECD_BIND", f"127.0.0.1:{free_port()}")
    monkeypatch.setitem(sys.modules, "boto3", None)
    monkeypatch.delitem(sys.modules, "adapters.file_store.s3", raising=False)
    dead = DEAD.format(port=free_port())
    for name, value in settings.items():
        monkeypatch.setenv(name, value.replace(DEAD, dead))
    found = broken(specd)
    assert list(found) == [check.format(dead=dead)], "there must be no other problem"
    assert message in found[check.format(dead=dead)]
    assert "hush-word" not in str(found)
