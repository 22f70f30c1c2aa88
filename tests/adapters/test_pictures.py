"""Images of any kind are shrunk in a separate process."""

import resource
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from PIL import Image

from adapters.images.pictures import NotAPicture, make_small, make_square
from adapters.images.shrinking import CPU_S
from tests.support.cpu import cost_of
from tests.support.pictures import (
    SCRIPT,
    black_png,
    endless_jpeg,
    endless_mpo,
    endless_tiff,
    picture,
)

pytestmark = pytest.mark.usefixtures("cold_pictures")

KINDS = ("AVIF", "BMP", "GIF", "JPEG", "MPO", "PNG", "TIFF", "WEBP")


def small(tmp_path: Path, content: bytes, width: int = 100, height: int = 80) -> Path:
    source = tmp_path / "source"
    source.write_bytes(content)
    return make_small(source, tmp_path / "small", width, height).small


@pytest.mark.parametrize("kind", KINDS)
def test_supported_formats(kind: str, tmp_path: Path) -> None:
    with Image.open(small(tmp_path, picture(kind, 400, 200))) as made:
        assert (made.format, made.size) == ("WEBP", (100, 50))


def test_small_image_keeps_its_size(tmp_path: Path) -> None:
    with Image.open(small(tmp_path, picture("PNG", 30, 20))) as made:
        assert made.size == (30, 20)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [(400, 200), (30, 90)])
def test_squares(kind: str, size: tuple[int, int], tmp_path: Path) -> None:
    """Squares have exactly the requested size, smaller or larger than the image."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(picture(kind, *size))
    make_square(source, target, 100)
    with Image.open(target) as made:
        assert (made.format, made.size, made.info) == ("PNG", (100, 100), {})


def test_no_square_of_an_invalid_image(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for content in (b"", SCRIPT, picture("PNG", 300, 300)[:200], black_png(10_000, 10_000)):
        source.write_bytes(content)
        with pytest.raises(NotAPicture):
            make_square(source, tmp_path / "target", 100)
        assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_image_of_a_hundred_megapixels(tmp_path: Path) -> None:
    """A JPEG is decoded at an eighth of its size, so it fits. A PNG is not."""
    jpeg = tmp_path / "large"
    # In a separate process, because it needs 100 MB.
    cost_of(lambda: Image.new("L", (10_000, 10_000), 90).save(jpeg, "JPEG"))
    made = make_small(jpeg, tmp_path / "small", 100, 80)
    assert (made.width, made.height) == (10_000, 10_000)
    with pytest.raises(NotAPicture):
        small(tmp_path, black_png(10_000, 10_000))


@pytest.mark.parametrize(
    "make",
    [
        lambda: b"",
        lambda: b"\x89PNG\r\n\x1a\n",
        lambda: SCRIPT,
        lambda: b"<html><script>alert(1)</script>",
        lambda: b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
        lambda: picture("PNG", 300, 300)[:200],
        lambda: black_png(60_000, 60_000),
        lambda: endless_jpeg(1500),
        lambda: endless_mpo(1500),
        lambda: endless_tiff(1500),
    ],
    ids=["nothing", "head", "svg", "html", "eps", "half", "bomb", "scans", "MPO", "TIFF"],
)
def test_invalid_images_are_rejected(make: Callable[[], bytes], tmp_path: Path) -> None:
    # In a separate process, because the large images need 100 MB.
    cost_of(lambda: (tmp_path / "content").write_bytes(make()))
    content = (tmp_path / "content").read_bytes()
    (tmp_path / "content").unlink()
    began = time.monotonic()
    with pytest.raises(NotAPicture):
        small(tmp_path, content)
    assert time.monotonic() - began < 10
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_slow_decoding_is_aborted(tmp_path: Path) -> None:
    """The image is within all other limits: as large and with as many scans as allowed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with suppress(NotAPicture):
        small(tmp_path, endless_jpeg(85, 8_000))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert 0.1 < spent_s < CPU_S + 1
