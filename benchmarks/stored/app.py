"""Our engine serving tasks.yaml, with the library's database support."""

from pathlib import Path

import yaml
from connexion import ConnexionMiddleware

from benchmarks.engine.handlers import errors
from benchmarks.stored.tables import url_of_server
from specd._engine.openapi.union import Document
from specd._engine.service import Service
from specd._engine.serving.app import build_app
from specd._logs import configure
from specd.db import Database

DOCUMENT = Path(__file__).with_name("tasks.yaml")


def build_tasks(url: str) -> ConnexionMiddleware:
    text = DOCUMENT.read_bytes()
    service = Service(
        name="tasks",
        documents=[Document("tasks", yaml.safe_load(text), text)],
        handlers="benchmarks.stored.handlers",
        base_path="/v1",
        respond=errors.respond,
        database=Database(url),
    )
    return build_app([service])


def app() -> ConnexionMiddleware:
    configure()
    return build_tasks(url_of_server())
