"""The pages of the services: the library's application with their templates."""

from pathlib import Path
from typing import Any

from flask import Flask

import pages
from specd._pages import app

FOLDER = Path(pages.__file__).parent


def build_pages(**options: Any) -> Flask:
    """Return the application with the services' templates and static files."""
    return app.build_pages(folders=[FOLDER], **options)
