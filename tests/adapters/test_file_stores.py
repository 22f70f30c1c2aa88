"""All file stores behave alike: a directory, and an S3 service."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from adapters.file_store.directory import DirectoryStore
from adapters.file_store.store import FileMissing, FileStore, StoreUnavailable
from adapters.file_store.wiring import build_file_store
from settings import Settings

MIB = 1 << 20
BUCKET = "uploads"
SECRETS = {"key_id": "acme", "secret": "acme-secret", "region": "us-east-1", "timeout_s": 5.0}


@pytest.fixture(scope="session")
def s3_url() -> Iterator[str]:
    """A moto server in a separate process."""
    program = shutil.which("moto_server")
    if program is None:
        pytest.skip("NOT TESTED: no S3 server (pip install 'moto[server]')")
    pytest.importorskip("boto3", reason="NOT TESTED: the extra s3 is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [program, "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                httpx.get(url, trust_env=False)
                break
            except httpx.TransportError:
                assert server.poll() is None, "moto_server does not start"
                time.sleep(0.1)
        yield url
    finally:
        server.terminate()
        server.wait()


@pytest.fixture(params=["directory", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> FileStore:
    if request.param == "directory":
        return DirectoryStore(tmp_path / "files")
    url: str = request.getfixturevalue("s3_url")
    s3 = pytest.importorskip("adapters.file_store.s3")
    made: Any = s3.S3Store(BUCKET, url=url, **SECRETS)
    made._client.create_bucket(Bucket=BUCKET)
    return made  # type: ignore[no-any-return]


def put(store: FileStore, tmp_path: Path, key: str, content: bytes) -> None:
    path = tmp_path / "arriving"
    path.write_bytes(content)
    store.put(key, path)
    path.unlink(missing_ok=True)


def test_stored_file_is_returned(store: FileStore, tmp_path: Path) -> None:
    content = bytes(range(256)) * (9 * MIB // 256)  # S3 receives this in two parts
    put(store, tmp_path, "1/abc", content)
    pieces = list(store.read("1/abc"))
    assert b"".join(pieces) == content
    assert max(map(len, pieces)) <= MIB
    assert b"".join(store.read("1/abc", 255, 3)) == b"\xff\x00\x01"
    assert b"".join(store.read("1/abc", len(content) - 1, 1)) == b"\xff"
    assert b"".join(store.read("1/abc", len(content) - 2)) == b"\xfe\xff"
    put(store, tmp_path, "1/empty", b"")
    assert b"".join(store.read("1/empty")) == b"".join(store.read("1/empty", 0, 0)) == b""


def test_deleted_file_is_missing(store: FileStore, tmp_path: Path) -> None:
    put(store, tmp_path, "1/gone", b"x")
    put(store, tmp_path, "2/kept", b"y")
    store.delete("1/gone")
    store.delete("1/gone")
    with pytest.raises(FileMissing):
        store.read("1/gone")
    assert b"".join(store.read("2/kept")) == b"y"


def test_old_files_are_found(store: FileStore, tmp_path: Path) -> None:
    put(store, tmp_path, "3/old", b"x")
    now = datetime.now(UTC)
    assert "3/old" in set(store.find_older(now + timedelta(minutes=1)))
    assert list(store.find_older(now - timedelta(hours=1))) == []


def test_directory_that_is_not_writable(tmp_path: Path) -> None:
    (tmp_path / "files").write_text("not a folder")
    store = DirectoryStore(tmp_path / "files")
    (tmp_path / "new").write_bytes(b"x")
    with pytest.raises(StoreUnavailable):
        store.put("1/abc", tmp_path / "new")
    assert (tmp_path / "new").exists()


def test_store_that_does_not_respond(tmp_path: Path) -> None:
    pytest.importorskip("boto3", reason="NOT TESTED: the extra s3 is not installed")
    settings = Settings(
        data_dir=tmp_path,
        chat_upload_bucket=BUCKET,
        chat_upload_s3_url="http://127.0.0.1:1",
        chat_upload_s3_key_id="acme",
        chat_upload_s3_secret="acme-secret",
        chat_upload_s3_timeout_s=0.2,
    )
    store = build_file_store(settings)
    with pytest.raises(StoreUnavailable):
        store.delete("1/abc")


def test_directory_is_the_default_and_needs_no_extra(tmp_path: Path) -> None:
    assert isinstance(build_file_store(Settings(data_dir=tmp_path)), DirectoryStore)
    loads = "import handlers.chat.wiring, workers.chat, sys; print('boto3' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", loads], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"
