"""The payment service works below a path of a host, and the chat service refuses it."""

import re
from pathlib import Path

import httpx
import pytest

from handlers.chat.wiring import compose
from settings import Settings
from specd import _logs as logs
from specd._applications import build
from specd.errors import SettingsError
from tests.specd.sample import Transport
from wsgi import project

PUBLIC = "https://pay.example/shop"
LINK = re.compile(r'(?:href|src)="([^"#][^"]*)"')


def test_links_of_payment_contain_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "configure", lambda *_, **__: None)
    monkeypatch.setenv("SPECD_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("SPECD_PUBLIC_URL", PUBLIC)
    app = build(project, [project["payment"]])
    base = "http://127.0.0.1:8080"
    plain = {"Accept-Encoding": "identity"}
    with httpx.Client(transport=Transport(app), base_url=base, headers=plain) as client:
        for page in ("/", "/dashboard", "/docs", "/docs/payment", "/docs/payment/errors"):
            links = LINK.findall(client.get(page).text)
            assert links
            assert [link for link in links if not link.startswith("/shop/")] == []
            for link in {each.partition("#")[0] for each in links}:
                assert client.get(link.removeprefix("/shop")).status_code == 200, link


def test_chat_refuses_a_path(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="SPECD_PUBLIC_URL must have no path such as /shop"):
        compose(Settings(data_dir=tmp_path, public_url=PUBLIC))
    assert compose(Settings(data_dir=tmp_path, public_url="https://chat.example"))
