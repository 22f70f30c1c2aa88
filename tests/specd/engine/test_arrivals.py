"""Forms with files are written to the disk while they are received, at any speed of the client."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from specd import Context, File, FileIntake, Response
from specd.errors import RateLimited
from tests.specd.engine.arrivals import (
    LIMIT,
    MEDIA,
    MULTIPART,
    TooLarge,
    a_file,
    make_thing,
    taking,
)
from tests.specd.engine.client import Answer, Client
from tests.specd.engine.services import post, respond


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "arriving"


@pytest.fixture
def client(folder: Path) -> Client:
    return taking(folder, make_thing)


def part(name: str, content: bytes, more: str = "") -> bytes:
    return (
        f'--x\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n'.encode()
        + content
        + b"\r\n"
    )


def send(client: Client, *parts: bytes, end: bytes = b"--x--\r\n", **more: Any) -> Answer:
    raw = b"".join(parts) + end
    return client.post("/things", body=raw, content_type=f"{MULTIPART}; boundary=x", **more)


def left(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.exists() else []


def test_file_is_on_the_disk_during_the_request(client: Client, folder: Path) -> None:
    content = bytes(range(250)) * 4
    answer = send(client, a_file(content), part("text", b"t"))
    assert answer.json == {
        "name": "f.bin", "type": "image/png", "bytes": list(content), "text": "t", "size": LIMIT,
    }  # fmt: skip
    assert left(folder) == []


def test_moved_file_is_kept(folder: Path, tmp_path: Path) -> None:
    def keep(ctx: Context, *, file: File, text: str = "") -> dict[str, Any]:
        file.path.replace(tmp_path / "kept")
        return {}

    assert send(taking(folder, keep), a_file(b"x")).status == 200
    assert (tmp_path / "kept").read_bytes() == b"x"
    assert left(folder) == []


def test_file_in_any_field_is_accepted(client: Client) -> None:
    assert send(client, a_file(b"x", "/tmp/f.bin")).json["bytes"] == [120]


@pytest.mark.parametrize("named", [None, "OnlyOne"])
def test_second_file_gives_the_error_of_the_form(folder: Path, named: str | None) -> None:
    [(media_type, media)] = MEDIA.items()
    more = {} if named is None else {"x-errors": {"oneFile": named}}
    seen: list[Any] = []

    def keep(error: Exception, request_id: str) -> Response:
        seen.extend(getattr(error, "violations", ()))
        return respond(error, request_id)

    form = {media_type: {"schema": {**media["schema"], **more}}}
    intake = FileIntake(folder, LIMIT, TooLarge)
    client = post(form, make_thing, files=intake, respond=keep)
    assert send(client, a_file(b"x"), a_file(b"y", "other")).status == 422
    [violation] = seen
    assert (violation.path, violation.rule) == ("/body/file", "oneFile")
    assert violation.facts.get("error") == named


def test_rejected_request_leaves_no_files(client: Client, folder: Path) -> None:
    many = [part(f"f{n}", b"x") for n in range(1001)]
    for parts, end, status, code in (
        ([a_file(b"x"), a_file(b"y")], b"--x--", 422, "InvalidRequest"),
        ([part("text", b"t")], b"--x--", 422, "InvalidRequest"),
        ([a_file(b"x"), part("text", b"t" * 21)], b"--x--", 422, "InvalidRequest"),
        ([a_file(b"x"), part("text", b"\0")], b"--x--", 422, "InvalidRequest"),
        ([a_file(b"x"), part("other", bytes(65537))], b"--x--", 413, "BodyTooLarge"),
        ([a_file(b"x" * (LIMIT + 1))], b"--x--", 400, "TooLarge"),
        ([a_file(b"x" * 100_000)], b"--x--", 400, "TooLarge"),
        ([a_file(b"x")], b"", 422, "InvalidRequest"),
        ([a_file(b"x"), *many], b"--x--", 422, "InvalidRequest"),
    ):
        answer = send(client, *parts, end=end)
        assert (answer.status, answer.json.get("code")) == (status, code), parts[0][:80]
        assert left(folder) == []


def test_file_field_without_a_filename_is_a_file(client: Client) -> None:
    assert send(client, part("file", b"\0")).json["name"] == ""
    raw = part("text", b"t") + b"--x--"
    type_ = f"{MULTIPART}; boundary=x"
    answer = client.post("/things?file=text", body=raw, content_type=type_)
    assert answer.status == 422, "text in the query is not a file"


def test_length_over_the_limit_is_rejected_before_the_body_is_read(
    client: Client, folder: Path
) -> None:
    answer = client.post(
        "/things",
        headers=[("Content-Length", "70000")],
        body=b"",
        content_type=f"{MULTIPART}; boundary=x",
    )
    assert (answer.status, answer.json["code"]) == (400, "TooLarge")
    assert not folder.exists()


def test_files_of_unauthenticated_requests_are_not_kept(folder: Path) -> None:
    class Refusing:
        def take(self, ctx: Context) -> tuple[tuple[str, str], ...]:
            raise RateLimited(limit=1, retry_after_s=1)

    answer = send(taking(folder, make_thing, rate_limit=Refusing()), a_file(b"x"))
    assert answer.status == 429
    assert not folder.exists()


def test_request_counts_once(folder: Path) -> None:
    class Counting:
        taken = 0

        def take(self, ctx: Context) -> tuple[tuple[str, str], ...]:
            self.taken += 1
            return ()

    counting = Counting()
    assert send(taking(folder, make_thing, rate_limit=counting), a_file(b"x")).status == 200
    assert counting.taken == 1


@pytest.mark.parametrize(("ending", "status"), [("hangs", 408), ("goes", 0)])
def test_incomplete_body_times_out(folder: Path, ending: str, status: int) -> None:
    client = taking(folder, make_thing, body_timeout_s=0.05)
    pieces = [{"type": "http.request", "body": a_file(b"x")[:-2], "more_body": True}]
    if ending == "goes":
        pieces.append({"type": "http.disconnect"})

    async def receive() -> dict[str, Any]:
        if pieces:
            return pieces.pop(0)
        await asyncio.sleep(60)
        raise AssertionError("waited too long")

    answer = client.post(
        "/things", headers=[("Transfer-Encoding", "chunked")], receive=receive,
        content_type=f"{MULTIPART}; boundary=x",
    )  # fmt: skip
    assert answer.status == status
    assert left(folder) == []


def test_body_in_many_chunks_is_accepted(client: Client) -> None:
    raw = a_file(bytes(range(250))) + part("text", b"t") + b"--x--\r\n"
    chunks = [raw[at : at + 7] for at in range(0, len(raw), 7)]
    answer = client.post("/things", chunks=chunks, content_type=f"{MULTIPART}; boundary=x")
    assert answer.json["bytes"] == list(range(250))


def test_unwritable_folder_gives_the_error_of_the_intake(tmp_path: Path) -> None:
    """A file replaces the folder, because root can write to any folder."""
    (tmp_path / "file").touch()
    intake = FileIntake(tmp_path / "file" / "folder", LIMIT, TooLarge, fail=TooLarge)
    answer = send(post(MEDIA, make_thing, files=intake), a_file(b"x"))
    assert (answer.status, answer.json["code"]) == (400, "TooLarge")
