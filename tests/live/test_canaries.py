"""No secret is in a log, a metric, an error, an event or a table where it does not belong."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.live.canaries import Canaries, forms_of
from tests.live.canary_stage import Stage, open_stage
from tests.live.canary_story import (
    API,
    auth,
    call,
    change_email,
    check_out,
    export,
    fail_inside,
    push,
    sign_in,
)

LEAST = 20


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_no_secret_leaves_its_place(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    chat_url, cast = request.getfixturevalue(f"chat_{kind.removesuffix('ql')}")
    payment_url = request.getfixturevalue(f"{kind.removesuffix('ql')}_url")
    with open_stage(tmp_path, chat_url, payment_url, cast) as stage:
        sign_in(stage)
        change_email(stage)
        push(stage)
        call(stage)
        check_out(stage)
        export(stage)
        fail_inside(stage)
        assert len(stage.canaries.values) >= LEAST
        misplace(stage)
        look_around(stage)
        stage.stop()
        written = stage.written()
    leaks = {place: stage.canaries.found_in(content) for place, content in written.items()}
    leaks["answers"] = stage.judge.told()
    assert {place: found for place, found in leaks.items() if found} == {}
    # The searched places have contents: an empty place would prove nothing.
    assert b'"request failed"' in written["server.log"]
    assert b'"mail_sent"' in written["worker.log"]
    for table in ("chat.event", "chat.audit_log", "chat.outbox", "payment.checkout_session"):
        assert written[table], table


def test_a_canary_is_found_however_it_is_written() -> None:
    canaries = Canaries()
    canaries.plant("it", 'a "secret" & more ü+/')
    for form in forms_of('a "secret" & more ü+/'):
        assert canaries.found_in(b"before" + form + b"after") == ["it"]
    for before in ("", "u:", "us:", "user:"):
        credentials = httpx.BasicAuth(before, 'a "secret" & more ü+/')
        sent = next(credentials.auth_flow(httpx.Request("GET", "http://x")))
        assert canaries.found_in(sent.headers["Authorization"].encode()) == ["it"]


def misplace(stage: Stage) -> None:
    """Send every secret to places where it does not belong."""
    judge, hamlet = stage.judge, stage.cast.hamlet
    chat, bearer = auth(hamlet), {"Authorization": f"Bearer {stage.merchant.key}"}
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    json = {"Content-Type": "application/json"}
    order = {"external_order_id": "order-2", "attempt_no": 1, "amount": "1",
             "payment_method_id": "tusd-local"}  # fmt: skip
    for value in stage.canaries.one_of_each():
        encoded = quote(value, safe="")
        requests: list[tuple[str, str, dict[str, Any]]] = [
            ("GET", f"{API}/users/me?api_key={encoded}", {"auth": chat}),
            ("GET", f"{API}/users/me?api_key={encoded}", {}),
            ("GET", f"{API}/users/{encoded}", {"auth": chat}),
            ("GET", f"{API}/{encoded}", {}),
            ("GET", f"/{encoded}", {}),
            ("GET", f"/v1/{encoded}", {"headers": bearer}),
            ("GET", f"/v1/invoices/{encoded}", {"headers": bearer}),
            ("GET", f"/checkout/{encoded}x", {}),
            ("GET", f"{API}/messages", {"auth": chat, "params": {
                "anchor": value, "num_before": value, "narrow": value}}),
            ("PATCH", f"{API}/settings", {"auth": chat, "data": {
                "timezone": value, "color_scheme": value, "email": value}}),
            ("POST", f"{API}/jwt/fetch_api_key", {
                "data": {"token": value}, "shows": [hamlet.key]}),
            ("POST", f"{API}/mobile_push/register", {"auth": chat, "data": {
                "device_id": value, "push_key": value, "push_key_id": value}}),
            ("POST", f"{API}/calls/vendor/create", {"auth": chat, "data": {
                "is_video_call": value}}),
            ("GET", f"{API}/calls/vendor/complete", {"params": {"code": value, "state": value}}),
            ("POST", f"{API}/calls/vendor/deauthorize", {
                "content": f'{{"event": "{value}', "headers": json}),
            ("POST", f"{API}/calls/vendor/deauthorize", {"json": {"event": value}}),
            ("POST", f"{API}/fetch_api_key", {
                "content": f"password={encoded}&username=%ff%fe{encoded}", "headers": form}),
            ("POST", f"{API}/fetch_api_key", {"headers": {
                "Content-Type": "multipart/form-data; boundary=x"},
                "content": f'--x\r\nContent-Disposition: form-data; name="password"\r\n{value}'}),
            ("GET", f"{API}/users/me", {"auth": ("hamlet@acme.example", value + "x")}),
            ("GET", f"{API}/users/me", {"headers": {"Authorization": f"Bearer {value}"}}),
            ("GET", f"{API}/users/me", {"headers": {"Authorization": f"Basic {value}"}}),
            ("GET", "/v1/payment-methods", {"headers": {"Authorization": f"Basic {value}"}}),
            ("GET", "/v1/payment-methods", {"headers": {"Authorization": f"Bearer {value}x"}}),
            ("GET", "/v1/payment-methods", {"headers": bearer, "params": {"key": value}}),
            ("GET", "/healthz", {"headers": {"User-Agent": value, "Request-Id": value}}),
            ("POST", "/v1/invoices", {"headers": bearer, "json": order}),
            ("POST", "/v1/invoices", {"headers": bearer | json, "content": f'{{"key": "{value}'}),
        ]  # fmt: skip
        for wrong in ({"amount": value}, {"attempt_no": value}, {"key": value},
                      {"payment_method_id": value}):  # fmt: skip
            headers = bearer | {"Idempotency-Key": "a-wrong-order"}
            requests.append(("POST", "/v1/invoices", {"headers": headers, "json": order | wrong}))
        # An unknown name is returned to the caller who sent it, because the response is about it.
        named = {"headers": headers, "json": order | {value: 1}, "shows": [value]}
        requests.append(("POST", "/v1/invoices", named))
        for method, path, options in requests:
            answer = judge.send(method, path, **options)
            assert answer.status_code < 500, (method, path, answer.text)
    large = "&".join(["x" * 1000, *stage.canaries.values.values()]) * 2000
    for path in ("/api/v1/fetch_api_key", "/v1/invoices"):
        assert judge.send("POST", path, content=large, headers=form | bearer).status_code == 413


def look_around(stage: Stage) -> None:
    """Read all public responses and the output of operator commands."""
    judge = stage.judge
    for path in ("/metrics", "/readyz", "/healthz", "/docs", "/v1/openapi.json"):
        judge.send("GET", path)
    for path in ("/server_settings", "/users", "/realm/profile_fields", "/users/me"):
        judge.send("GET", f"{API}{path}", auth=auth(stage.cast.cordelia))
    for words in (["config", "check"], ["doctor"], ["payment", "keys", "list"]):
        stage.specd(*words)
