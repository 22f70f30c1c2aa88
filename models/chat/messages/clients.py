"""Which program speaks: by what it says of itself, else by its User-Agent."""

NAME_MAX = 30
_PEOPLE_SIT_BEFORE = frozenset(
    (
        *("zulipandroid", "zulipios", "zulipdesktop", "zulipmobile", "zulipelectron"),
        *("zulipterminal", "zulipflutter", "snipe", "website", "ios", "android"),
    )
)


def client_name(client: str | None, user_agent: str | None) -> str:
    """`client` as it was sent, else the User-Agent's text before its slash; at most 30 signs."""
    name = client or (user_agent or "").partition("/")[0]
    return "".join(sign for sign in name if sign.isprintable()).strip()[:NAME_MAX]


def reads_own_messages(client: str) -> bool:
    """Does somebody see what this client sends while it sends it? Bots and scripts do not."""
    name = client.lower()
    return name in _PEOPLE_SIT_BEFORE or "desktop app" in name
