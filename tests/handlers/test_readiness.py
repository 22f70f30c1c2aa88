"""A service is ready while it can keep what requests bring."""

from dataclasses import replace
from pathlib import Path

import pytest

from settings import Settings
from specd import service_from_settings
from specd._composition import NotWritable
from specd.db import Clock, Database


def test_a_service_is_ready_while_its_folders_can_be_written(
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
