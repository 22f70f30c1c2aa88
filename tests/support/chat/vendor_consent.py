"""A user's consent at the local vendor of video calls, given through its web pages."""

from __future__ import annotations

import re
from collections.abc import Mapping

import httpx


def consent(url: str, vendor_url: str, headers: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of the vendor's redirect, `code` and `state`, and the `cookie` that the
    service at `url` set for the browser of the user whom `headers` authenticate.
    """
    begun = httpx.get(f"{url}/api/v1/calls/vendor/register", headers=dict(headers))
    link = begun.json()["url"].partition("?link=")[2]
    host = {name: text for name, text in headers.items() if name.lower() == "host"}
    register = f"{url}/api/v1/calls/vendor/register"
    begun = httpx.get(register, params={"link": link}, headers=host)
    page = httpx.get(begun.json()["url"])
    form = dict(re.findall(r'type="hidden" name="([^"]*)" value="([^"]*)"', page.text))
    form = {name: value.replace("&amp;", "&") for name, value in form.items()}
    form |= {"login": "hamlet", "consent": "yes"}
    back = httpx.post(f"{vendor_url}/oauth/authorize", data=form)
    query = httpx.URL(back.headers["Location"]).params
    cookie = begun.headers["Set-Cookie"].partition(";")[0]
    return {"code": query["code"], "state": query["state"], "cookie": cookie}
