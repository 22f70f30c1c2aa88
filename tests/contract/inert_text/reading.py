"""How a user reads a message."""

from html.parser import HTMLParser


class Reading(HTMLParser):
    """The active content of some HTML: its tags, classes and URLs, and its text."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.mentions: list[tuple[str, str | None]] = []
        self.addresses: list[str] = []
        self.text = ""
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        said = dict(attrs)
        classes = said.get("class") or ""
        if "mention" in classes:
            self.mentions.append((classes, said.get("data-user-id")))
        self.addresses += [said[name] or "" for name in ("href", "src") if name in said]

    def handle_data(self, data: str) -> None:
        self.text += data
