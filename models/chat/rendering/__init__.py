"""Render Markdown to HTML that is safe in every browser.

`find_names` reads the names in a text with at most four statements; `render` needs no database.
"""

from models.chat.rendering.diff import coarse_html_diff as coarse_html_diff
from models.chat.rendering.diff import content_html_diff as content_html_diff
from models.chat.rendering.links import Link as Link
from models.chat.rendering.links import topic_links as topic_links
from models.chat.rendering.markdown import Rendered as Rendered
from models.chat.rendering.markdown import render as render
from models.chat.rendering.names import Names as Names
from models.chat.rendering.names import find_linkifiers as find_linkifiers
from models.chat.rendering.names import find_names as find_names
from models.chat.rendering.sanitising import plain_text as plain_text
from models.chat.rendering.sanitising import sanitise as sanitise
