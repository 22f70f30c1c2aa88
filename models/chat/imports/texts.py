"""Rewrite references in texts: links to channels, topics and messages, addresses of files and
custom emoji, and mentions with an id.

Both Markdown and HTML contain them. Addresses of other hosts are not changed.
"""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from models.chat.imports.ids import Ids

# The start of an address on the organization's host, with or without the host. An address without a
# host must not be part of a longer address.
_OWN = r"(?P<{0}>https?://[^\s/\"'<>()\[\]]+/|(?<![\w./:-])/|(?<![\w./:-]))"
_REFERENCE = re.compile(
    rf"{_OWN.format('at')}\#narrow/(?P<narrow>[^\s\"'<>()\[\]]*)"
    rf"|{_OWN.format('on')}(?P<files>user_uploads|user_avatars)/(?P<small>thumbnail/)?"
    r"(?P<realm>[0-9]+)/(?P<images>emoji/images/(?:still/)?)?(?P<handle>[0-9a-f]{32})"
    r"|data-(?P<kind>user|user-group|stream)-id=\"(?P<data>[0-9]+)\""
    r"|(?P<name>@_?\*\*[^*\n|]*(?:\|[^*\n|]*)*?\|)(?P<user>[0-9]{1,10})(?=\*\*)"
    r"|(?P<topic>\#\*\*[^*\n]{1,250}>[^*\n]{0,250}@)(?P<message>[0-9]+)(?=\*\*)"
)
_OPERAND = re.compile(
    r"(?P<place>(?:^|/)(?:channels?|streams?)/)(?P<channel>[0-9]+)"
    r"|(?P<people>(?:^|/)(?:dm|pm-with|dm-including|group-pm-with|sender)/)"
    r"(?P<users>[0-9]+(?:,[0-9]+)*)"
    r"|(?P<by>(?:^|/)(?:near|with|id)/)(?P<message>[0-9]+)"
)
_TABLES = {"user": "user", "user-group": "user_group", "stream": "channel"}


@dataclass(frozen=True, slots=True)
class Texts:
    """Rewrites the references in texts. Both hosts are the organization's."""

    ids: Ids
    old_host: str
    new_host: str
    realm_id: int

    def rewrite(self, text: str) -> str:
        """Return the text with the new ids. A reference to a missing row gets an id that no row
        has.
        """
        if not ("#" in text or "user_" in text or "data-" in text or "|" in text):
            return text  # every reference contains at least one of them
        return _REFERENCE.sub(self._new, text)

    def rewrite_fragment(self, fragment: str) -> str:
        """Return the part of an address after `#`, with the new ids."""
        if not fragment.startswith("narrow/"):
            return fragment
        return "narrow/" + self._narrow(fragment.removeprefix("narrow/"))

    def _new(self, match: re.Match[str]) -> str:
        kind = match.lastgroup
        if match["narrow"] is not None:
            base = self._base(match["at"])
            return match[0] if base is None else f"{base}#narrow/{self._narrow(match['narrow'])}"
        if match["handle"] is not None:
            base = self._base(match["on"])
            if base is None:
                return match[0]
            folder = f"{match['files']}/{match['small'] or ''}{self.realm_id}/"
            return f"{base}{folder}{match['images'] or ''}{self.ids.handle(match['handle'])}"
        if match["kind"] is not None:
            new = self._find(_TABLES[match["kind"]], match["data"])
            return f'data-{match["kind"]}-id="{new}"'
        if kind == "user":
            return f"{match['name']}{self._find('user', match['user'])}"
        return f"{match['topic']}{self._nearest(match['message'])}"

    def _base(self, base: str) -> str | None:
        """Return the beginning of the address at the new host, or None if it is on another host."""
        if not base.startswith("http"):
            return base
        parts = urlsplit(base)
        if parts.netloc.rpartition(":")[0] != self.old_host and parts.netloc != self.old_host:
            return None
        return base.replace(self.old_host, self.new_host, 1)

    def _narrow(self, narrow: str) -> str:
        return _OPERAND.sub(self._new_operand, narrow)

    def _new_operand(self, match: re.Match[str]) -> str:
        if match["channel"] is not None:
            return f"{match['place']}{self._find('channel', match['channel'])}"
        if match["users"] is not None:
            users = (str(self._find("user", each)) for each in match["users"].split(","))
            return f"{match['people']}{','.join(users)}"
        return f"{match['by']}{self._nearest(match['message'])}"

    def _find(self, table: str, digits: str) -> int:
        return self.ids.find_or_nobody(table, _number(digits))

    def _nearest(self, digits: str) -> int:
        return self.ids.nearest("message", _number(digits))


def _number(digits: str) -> int:
    return int(digits[:20])
