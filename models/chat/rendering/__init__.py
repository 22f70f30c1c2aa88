"""From a message's Markdown to HTML that is safe in anybody's browser.

`find_names` reads what a text may refer to, in at most four statements; `render` needs no database.
"""

from models.chat.rendering.diff import coarse_html_diff, content_html_diff
from models.chat.rendering.links import Link, topic_links
from models.chat.rendering.markdown import Rendered, render
from models.chat.rendering.names import Names, find_linkifiers, find_names
from models.chat.rendering.sanitising import plain_text, sanitise

__all__ = [
    "Link",
    "Names",
    "Rendered",
    "coarse_html_diff",
    "content_html_diff",
    "find_linkifiers",
    "find_names",
    "plain_text",
    "render",
    "sanitise",
    "topic_links",
]
