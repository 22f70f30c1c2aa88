"""Our engine serving echo.yaml with all features: guard, authentication, validation, request id,
metrics, and one JSON log line for each request (to standard error, which the run writes to a file).
"""

from pathlib import Path

import yaml
from connexion import ConnexionMiddleware

from benchmarks.engine.handlers import errors
from specd._engine.openapi.union import Document
from specd._engine.service import Service
from specd._engine.serving.app import build_app
from specd._logs import configure

DOCUMENT = Path(__file__).with_name("echo.yaml")


def build_echo() -> ConnexionMiddleware:
    text = DOCUMENT.read_bytes()
    echo = Service(
        name="echo",
        documents=[Document("echo", yaml.safe_load(text), text)],
        handlers="benchmarks.engine.handlers",
        base_path="/v1",
        respond=errors.respond,
    )
    return build_app([echo])


configure()
app = build_echo()
