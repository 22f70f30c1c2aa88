"""Uses of secrets: each operation that handles a secret, with valid and invalid requests."""

from __future__ import annotations

import re
import time
from urllib.parse import parse_qsl, urlsplit

import httpx
import jwt

from tests.live.canary_stage import NOTICE_TOKEN, Stage
from tests.support.chat.people import PASSWORD, Member

API = "/api/v1"
JWT_KEY = "canary: the key that tokens are signed with"
HIRED, MADE, CHANGED = "canary of a hired user", "canary by the operator", "canary, changed"
MISTYPED = "canary-mistyped"
FAULTS = ("forbidden", "down", "garbage", "break", "flood")


def auth(member: Member) -> tuple[str, str]:
    return member.email, member.key


def sign_in(stage: Stage) -> None:
    """Keys for passwords and tokens; users with new and changed passwords."""
    judge, cast, canaries = stage.judge, stage.cast, stage.canaries
    stage.specd("chat", "grant", "--realm", "acme.example", "--email", cast.iago.email,
                "--create-users")  # fmt: skip
    told = stage.specd(
        "chat", "create-user", "--realm", "acme.example", "--email", "operated@acme.example",
        "--name", "Operated", "--password-file", "-",
        "--json",
        typed=canaries.plant("password by the operator", MADE),
    )  # fmt: skip
    key = re.search(r'"api_key": ?"(\w+)"', told)
    assert key is not None
    stage.judge.answers.pop()  # it returns this key, which was unknown before
    canaries.plant("API key of the operator's user", key[1])
    stage.specd("chat", "set-realm", "--realm", "acme.example", "jwt_algorithms=HS256",
                "jwt_audience=",
                "jwt_key=@-", typed=canaries.plant("JWT key", JWT_KEY))  # fmt: skip
    hired = {"email": "hired@acme.example", "password": canaries.plant("first password", HIRED),
             "full_name": "Hired"}  # fmt: skip
    made = judge.send("POST", f"{API}/users", data=hired, auth=auth(cast.iago))
    assert made.status_code == 200, made.text
    for name, password in (
        ("hired", HIRED), ("operated", MADE), ("hamlet", PASSWORD),
    ):  # fmt: skip
        given = {"username": f"{name}@acme.example", "password": password}
        answer = judge.client.post(
            f"{API}/fetch_api_key", data=given, headers={"Host": judge.host}
        ).json()
        canaries.plant(f"API key of {name}", answer["api_key"])
        judge.send("POST", f"{API}/fetch_api_key", data=given, shows=[answer["api_key"]])
        judge.send("POST", f"{API}/fetch_api_key", params=given, shows=[answer["api_key"]])
    change = {"old_password": PASSWORD, "new_password": canaries.plant("new password", CHANGED)}
    canaries.plant("mistyped password", MISTYPED)
    for form in (change | {"old_password": MISTYPED}, change, change):
        judge.send("PATCH", f"{API}/settings", data=form, auth=auth(cast.hamlet))
    token = jwt.encode(
        {"email": cast.hamlet.email, "exp": int(time.time()) + 3600}, JWT_KEY, algorithm="HS256"
    )
    canaries.plant("JWT", token)
    answer = judge.send(
        "POST", f"{API}/jwt/fetch_api_key", data={"token": token}, shows=[cast.hamlet.key]
    )
    assert answer.json()["api_key"] == cast.hamlet.key
    judge.send("POST", f"{API}/jwt/fetch_api_key", data={"token": token + "x"})
    judge.send("POST", f"{API}/dev_fetch_api_key", data={"username": cast.hamlet.email})


def change_email(stage: Stage) -> None:
    """A link that is used, and a link that no mail server accepts."""
    judge, othello, office = stage.judge, stage.cast.othello, stage.office
    asked = {"email": "moor@acme.example"}
    answer = judge.send("PATCH", f"{API}/settings", data=asked, auth=auth(othello))
    assert answer.status_code == 200, answer.text
    stage.wait_for(lambda: bool(office.received), "no mail came")
    text = office.received[-1].get_payload(decode=True)
    assert isinstance(text, bytes)
    link = re.search(rb"(/api/v1/accounts/confirm_new_email/)(\S+)", text)
    assert link is not None
    token = stage.canaries.plant("confirmation token", link[2].decode())
    path = f"{API}/accounts/confirm_new_email/{token}"
    for method in ("GET", "POST", "POST", "DELETE"):
        judge.send(method, path, headers={"Accept": "text/html"})
    office.rcpt_answer = "550 nobody of that name"
    judge.send(
        "PATCH",
        f"{API}/settings",
        data={"email": "general@acme.example"},
        auth=("moor@acme.example", othello.key),
    )

    def is_dead() -> bool:
        return "mail_dead" in (stage.data_dir / "worker.log").read_text()

    stage.wait_for(is_dead, "no mail died")
    office.rcpt_answer = ""
    stage.specd("chat", "dead-mail")


def push(stage: Stage) -> None:
    """A device that is registered and notified, whatever the relay does."""
    judge, hamlet = stage.judge, stage.cast.hamlet
    told = judge.send("POST", f"{API}/register_client_device", auth=auth(hamlet))
    device_id = told.json()["device_id"]
    for fault in (*FAULTS, "hang", "none"):
        stage.relay_server.fault = fault
        keys = stage.phone.key_fields()
        fields = {"device_id": device_id} | keys | stage.phone.token_fields(stage.relay.public_key)
        done = judge.send("POST", f"{API}/mobile_push/register", data=fields, auth=auth(hamlet))
        assert (done.status_code == 200) is (fault == "none"), done.text
    for fault in (*FAULTS, "none"):
        stage.relay_server.fault = fault
        judge.send("POST", f"{API}/mobile_push/e2ee/test_notification", auth=auth(hamlet))
    assert stage.relay.delivered(stage.phone.token)
    wrong = {"device_id": device_id, "push_key_id": 1, "push_key": keys["push_key"] + "A"}
    judge.send("POST", f"{API}/mobile_push/register", data=wrong, auth=auth(hamlet))
    judge.send("GET", f"{API}/users/me/devices", auth=auth(hamlet))


def call(stage: Stage) -> None:
    """An authorization at the vendor with all possible failures, refreshed and revoked."""
    judge, hamlet = stage.judge, stage.cast.hamlet
    page = f"{API}/calls/vendor/register"
    for fault in (*FAULTS, "none"):
        given = judge.send("GET", page, auth=auth(hamlet))
        link = given.json()["url"].partition("?link=")[2]
        stage.canaries.plant("link to an authorization", link)
        judge.answers.pop()  # it returns this link to the user
        begun = judge.send("GET", page, params={"link": link})
        cookie = begun.headers["Set-Cookie"].partition(";")[0]
        stage.canaries.plant("browser of an authorization", cookie.partition("=")[2])
        judge.answers.pop()  # it sets this cookie in the browser
        url = urlsplit(begun.json()["url"])
        form = dict(parse_qsl(url.query)) | {"login": "hamlet", "consent": "yes"}
        back = httpx.post(f"{stage.vendor_server.url}/oauth/authorize", data=form, trust_env=False)
        answer = dict(parse_qsl(urlsplit(back.headers["Location"]).query))
        stage.canaries.plant("OAuth code", answer["code"])
        stage.vendor_server.fault = fault
        complete = f"{API}/calls/vendor/complete"
        for sent in (cookie, "specd_vendor_session=" + MISTYPED):
            judge.send("GET", complete, params=answer, headers={"Cookie": sent})
        stage.vendor_server.fault = "none"
    for fault in ("none", *FAULTS, "hang", "none"):
        stage.vendor_server.fault = fault
        judge.send("POST", f"{API}/calls/vendor/create", auth=auth(hamlet))
    time_out = time.monotonic() + 10
    known = refresh_tokens(stage)
    while refresh_tokens(stage) == known:
        judge.send("POST", f"{API}/calls/zoom/create", auth=auth(hamlet))
        assert time.monotonic() < time_out, "nothing was refreshed"
        time.sleep(0.05)
    judge.send("GET", f"{API}/calls/vendor/token", auth=auth(hamlet))
    for token in (NOTICE_TOKEN, NOTICE_TOKEN + "x"):
        notice = {"event": "app_deauthorized", "payload": {"user_id": "user-nobody"}}
        judge.send("POST", f"{API}/calls/vendor/deauthorize", json=notice,
                   headers={"Authorization": token})  # fmt: skip
    assert "OAuth code_verifier" in stage.canaries.values


def refresh_tokens(stage: Stage) -> int:
    return sum(name.startswith("OAuth refresh_token") for name in stage.canaries.values)


def check_out(stage: Stage) -> None:
    """A checkout session, whose URL contains its token, also while no chain responds."""
    judge, key = stage.judge, stage.merchant.key
    bearer = {"Authorization": f"Bearer {key}"}
    order = {"external_order_id": "order-1", "attempt_no": 1, "amount": "12.5",
             "payment_method_id": "tusd-local"}  # fmt: skip
    headers = bearer | {"Idempotency-Key": "the-first-order"}
    made = judge.send("POST", "/v1/invoices", json=order, headers=headers)
    assert made.status_code == 201, made.text
    path = f"/v1/invoices/{made.json()['id']}"
    for fault in (*FAULTS, "none"):
        stage.chain_server.fault = fault
        headers = bearer | {"Idempotency-Key": f"session-while-{fault}"}
        session = judge.send("POST", f"{path}/checkout-sessions", headers=headers)
    assert session.status_code == 201, session.text
    judge.answers.pop()  # it returns this URL
    url = str(session.json()["checkout_url"])
    token = stage.canaries.plant("checkout token", url.rpartition("/")[2])
    again = judge.send("POST", f"{path}/checkout-sessions", headers=headers, shows=[token])
    assert again.status_code == 201
    for end in ("", "/status", "/nothing"):
        judge.send("GET", f"/checkout/{token}{end}", shows=[token] if not end else [])
    judge.send("GET", path, headers=bearer)


def export(stage: Stage) -> None:
    """All kinds of archives, one with consent, and the links for downloading them."""
    judge, owner = stage.judge, auth(stage.cast.cordelia)
    consent = {"allow_private_data_export": "true"}
    judge.send("PATCH", f"{API}/settings", data=consent, auth=auth(stage.cast.hamlet))
    for kind in ("public", "full_with_consent"):
        asked = judge.send("POST", f"{API}/export/realm", data={"export_type": kind}, auth=owner)
        assert asked.status_code == 200, asked.text
    urls: list[str] = []

    def are_made() -> bool:
        told = judge.client.get(f"{API}/export/realm", auth=owner, headers={"Host": judge.host})
        urls[:] = [found["export_url"] for found in told.json()["exports"] if found["export_url"]]
        return len(urls) == 2

    stage.wait_for(are_made, "no archives were made")
    for url in urls:
        path = urlsplit(url).path
        stage.canaries.plant("token of a download", path.rpartition("/")[2])
        assert judge.send("GET", path).status_code == 200
        judge.send("GET", path.rpartition("/")[0], auth=owner)
        assert judge.send("GET", path + "x").status_code == 404


def fail_inside(stage: Stage) -> None:
    """Unforeseen faults while secrets are handled."""
    judge, cast = stage.judge, stage.cast
    failed = []
    with stage.without(stage.chat_url, "audit_log"):
        change = {"old_password": CHANGED, "new_password": PASSWORD}
        hired = {"email": "other@acme.example", "password": HIRED, "full_name": "Other"}
        failed += [
            judge.send("PATCH", f"{API}/settings", data=change, auth=auth(cast.hamlet)),
            judge.send("POST", f"{API}/users", data=hired, auth=auth(cast.iago)),
        ]
    with stage.without(stage.chat_url, "user"):
        failed += [
            judge.send("GET", f"{API}/users/me", auth=auth(cast.cordelia)),
            judge.send("POST", f"{API}/fetch_api_key",
                       data={"username": cast.hamlet.email, "password": CHANGED}),
        ]  # fmt: skip
    with stage.without(stage.chat_url, "outbox"):
        wanted = {"email": "ghost@acme.example"}
        failed.append(judge.send("PATCH", f"{API}/settings", data=wanted, auth=auth(cast.hamlet)))
    bearer = {"Authorization": f"Bearer {stage.merchant.key}"}
    with stage.without(stage.payment_url, "api_key"):
        failed.append(judge.send("GET", "/v1/payment-methods", headers=bearer))
    assert {response.status_code for response in failed} <= {500, 503}
    assert 500 in {response.status_code for response in failed}
