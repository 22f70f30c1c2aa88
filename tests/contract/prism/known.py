"""Incorrect objections of Prism with reasons. Decision 23 has a summary."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tests.contract.prism.exchanges import Exchange


def known(service: str, exchange: Exchange, violation: Mapping[str, Any]) -> str | None:
    """Return why a violation of a request is incorrect, or None. There are no known violations of
    responses.
    """
    location, path = violation["location"], exchange.target.partition("?")[0]
    if location[0] != "request":
        return None
    if violation["message"].endswith(" is deprecated"):
        return "deprecated, which is not an error"
    if violation["message"] == "Invalid security scheme used":
        return "the scheme's name in other letters than `Bearer`, which RFC 9110 allows"
    if violation["message"].startswith("No supported content types"):
        return "an unexpected body, which the service ignores"
    if service != "chat":
        return None
    if location == ["request", "path", "user_id"] and re.fullmatch(r"/api/v1/users/[^/]+", path):
        return "an email, interpreted as the user id of a similar path"
    if "//" in path:
        return "doubled slashes, which the service merges"
    if location[:2] == ["request", "body"] or violation["message"].startswith("Body parameter"):
        if "?" in exchange.target:
            return "form fields sent in the query, which the service reads too"
        headers = {name.lower(): value for name, value in exchange.request_headers}
        if headers.get("content-type", "").startswith("multipart/"):
            return "a multipart form, whose JSON fields Prism takes for texts"
        if path.endswith("/realm/playgrounds") and "syntax_language" in violation["message"]:
            return "sent under its other name (`x-alias-of`)"
    return None
