"""A service is ready if it can store the data of requests."""

from dataclasses import replace
from pathlib import Path

import pytest

from settings import Settings
from specd import service_from_settings
from specd._composition import NotWritable
from specd.db import Clock, Database


def test_service_is_ready_if_its_folders_are_writable(
    chat_database: Database, tmp_path: Path
) -> None:
    folder = tmp_path / "uploads"
    settings = replace(Settings(), data_dir=tmp_path)
    service = service_from_settings(
        settings,
        "chat",
        database=chat_database,
        clock=Clock(),
        needs_folders=(folder,),
        base_path="/api/v1",
        respond=None,
        adapters=None,
    )
    assert service.ready is not None
    service.ready()
    folder.mkdir()
    service.ready()
    assert list(folder.iterdir()) == []
    folder.rmdir()
    folder.touch()
    with pytest.raises(NotWritable, match="uploads cannot be written"):
        service.ready()
