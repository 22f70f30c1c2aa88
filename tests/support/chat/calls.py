"""A vendor of video calls, and the steps by which a user connects an account with it."""

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl

import httpx

from adapters.video_vendor.vendor import HttpVideoVendor
from demo.local_server import LocalServer, Reply, Request
from demo.video_vendor import LocalVendor
from tests.support.chat.answers import DONE
from tests.support.chat.app import ChatApp, ChatClient

REGISTER, COMPLETE = "/calls/vendor/register", "/calls/vendor/complete"
TOKEN, NOTICE = "/calls/vendor/token", "/calls/vendor/deauthorize"
SECRET = "canary: the client's secret"
NOTICE_TOKEN = "canary: the notices' token"


class Vendor(LocalVendor):
    """A vendor that counts refreshes, and whose state can be changed."""

    refreshes = 0

    def _give_tokens(self, request: Request) -> Reply:
        reply = super()._give_tokens(request)
        if reply.status == 200 and request.form["grant_type"] == "refresh_token":
            self.refreshes += 1
        return reply

    def expire_access_tokens(self) -> None:
        """Expire all access tokens. Refresh tokens stay valid."""
        with self._turn:
            for grant in self._grants:
                grant.expires_at = 0.0

    def forget_users(self) -> None:
        """Withdraw the consent of every user at the vendor."""
        with self._turn:
            self._grants.clear()

    @property
    def grants(self) -> int:
        """Return the number of current consents."""
        return len(self._grants)


@dataclass
class Stage:
    """The vendor, its server, and the application that calls it."""

    vendor: Vendor
    server: LocalServer
    app: ChatApp

    def connect(self, url: str | None = None, *, timeout_s: float = 10) -> None:
        self.app.vendor.target = HttpVideoVendor(
            self.server.url if url is None else url,
            "",
            client_id="acme",
            client_secret=SECRET,
            timeout_s=timeout_s,
        )

    def play(self, fault: str) -> None:
        """Make the vendor fail in the given way from now on, or not at all."""
        self.server.fault = "none"
        self.connect()
        match fault:
            case "refused":
                self.connect("http://127.0.0.1:9")
            case "hang":
                self.connect(timeout_s=0.1)
                self.server.fault = fault
            case _:
                self.server.fault = fault

    def consent(self, url: str, *, login: str = "hamlet", consent: str = "yes") -> httpx.URL:
        """Log in and consent on the vendor's page. Return the URL to which it redirects the
        browser.
        """
        page = httpx.get(url, trust_env=False)
        form = dict(re.findall(r'type="hidden" name="([^"]*)" value="([^"]*)"', page.text))
        form = {name: value.replace("&amp;", "&") for name, value in form.items()}
        target = f"{self.server.url}/oauth/authorize"
        form |= {"login": login, "consent": consent}
        back = httpx.post(target, data=form, trust_env=False)
        assert back.status_code == 302
        return httpx.URL(back.headers["Location"])


def begin(client: ChatClient) -> tuple[str, str]:
    """Return the URL of the vendor's page, and the cookie as the browser sends it back."""
    response = open_link(client, link_of(client))
    return response.json()["url"], response.headers["Set-Cookie"].partition(";")[0]


def link_of(client: ChatClient) -> str:
    """Return the parameter `link` of the link that a user gets."""
    answer = client.get(REGISTER)
    assert answer == {**DONE, "url": answer["url"]}
    start, _, link = answer["url"].partition("?link=")
    assert start == f"http://{client.member.host if client.member else ''}/api/v1{REGISTER}"
    return str(link)


def open_link(client: ChatClient, link: str, **headers: str) -> httpx.Response:
    """Return the response to a browser, which has no key."""
    return client.acting_as(None).request("GET", REGISTER, {"link": link}, headers=headers)


def complete(client: ChatClient, back: httpx.URL, cookie: str | None) -> httpx.Response:
    headers = {} if cookie is None else {"Cookie": f"other=1; {cookie}"}
    return client.acting_as(None).request(
        "GET", COMPLETE, dict(parse_qsl(back.query.decode())), headers=headers
    )


def authorize(client: ChatClient, stage: Stage, login: str = "hamlet") -> None:
    url, cookie = begin(client)
    assert complete(client, stage.consent(url, login=login), cookie).json() == DONE
