"""Pages of the site that are no files in docs/: pages of other folders, and the API references.

mkdocs calls `on_files` and `on_page_markdown` (https://www.mkdocs.org/user-guide/configuration/#hooks).
"""

import asyncio
import os
import posixpath
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "reporting.md",
    "benchmarks/README.md": "benchmarks.md",
    "examples/todo/README.md": "example.md",
}
"""Pages outside of docs/, and where they are on the site."""
REFERENCES = {"specs/chat.yaml": "api/chat.html", "specs/payment.yaml": "api/payment.html"}
REFERENCES |= {
    f"specs/payment-{name}.yaml": f"api/payment-{name}.html" for name in ("events", "test")
}
_FROM = {place: page for page, place in PAGES.items()}
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s]+)\)")
_SOURCE = re.compile(r'\b((?:src|srcset|href)=")([^":#?]+)(")')
_ADDRESS = re.compile(r'\b(href|src|data-document|data-script|data-style)="(/[^"]*)"')
_STATIC = ROOT / "specd/_pages/static"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of other folders and the API references."""
    for page, place in PAGES.items():
        files.append(File.generated(config, place, content=(ROOT / page).read_text()))
    for place, content in asyncio.run(_snapshot()).items():
        files.append(File.generated(config, f"api/{place}", content=content))
    for asset in sorted(_STATIC.rglob("*")):
        if asset.is_file() and asset.suffix != ".md":
            place = f"api/static/{asset.relative_to(_STATIC)}"
            files.append(File.generated(config, place, content=asset.read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Return a page whose links lead to pages of the site. A link to any other file of the
    repository becomes its text.
    """
    place = page.file.src_uri
    source = _FROM.get(place, f"docs/{place}")

    def moved(link: str) -> str | None:
        target, mark, anchor = link.partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return link
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        found = {**PAGES, **REFERENCES}.get(path)
        if found is None and path.startswith("docs/") and (ROOT / path).is_file():
            found = path.removeprefix("docs/")
        if found is None:
            return None
        return posixpath.relpath(found, posixpath.dirname(place) or ".") + mark + anchor

    def relinked(match: re.Match[str]) -> str:
        link = moved(match[2])
        return match[1] if link is None else f"[{match[1]}]({link})"

    def resourced(match: re.Match[str]) -> str:
        return match[1] + (moved(match[2]) or match[2]) + match[3]

    return _outside_code(markdown, lambda text: _SOURCE.sub(resourced, _LINK.sub(relinked, text)))


def _outside_code(markdown: str, change: Callable[[str], str]) -> str:
    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else change(part) for part in parts)


async def _snapshot() -> dict[str, bytes]:
    """Return the API references as a server has them, by their places below api/."""
    sys.path.insert(0, str(ROOT))
    found: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"SPECD_DATA_DIR": folder, "SPECD_LOG_LEVEL": "warning"}
        os.environ["SPECD_PAYMENT_TEST_HELPERS"] = "on"
        import wsgi

        transport = httpx.ASGITransport(app=wsgi.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://site.test") as client:
            due = ["/docs"]
            while due:
                address = due.pop()
                if _place_of(address) in found:
                    continue
                response = await client.get(address)
                response.raise_for_status()
                content = response.content
                if response.headers["Content-Type"].startswith("text/html"):
                    page = response.text
                    due += [
                        each
                        for _, each in _ADDRESS.findall(page)
                        if _place_of(each) and not each.startswith("/static/")
                    ]
                    content = _ADDRESS.sub(_relative, page).encode()
                found[_place_of(address)] = content
    return found


def _place_of(address: str) -> str:
    """Return where a path of the server is below api/; nowhere: an empty text."""
    path = re.split("[?#]", address)[0]
    if path == "/docs":
        return "index.html"
    if path.startswith("/docs/"):
        return path.removeprefix("/docs/").replace("/", "-") + ".html"
    if path.startswith("/static/"):
        return path.removeprefix("/")
    if path.endswith((".yaml", ".json")):
        return path.strip("/").replace("/", "-")
    return ""


def _relative(match: re.Match[str]) -> str:
    place = _place_of(match[2])
    anchor = match[2].partition("#")[2]
    return f'{match[1]}="{place or "#"}{"#" + anchor if anchor and place else ""}"'
