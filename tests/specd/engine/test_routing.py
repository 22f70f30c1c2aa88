"""Routing of raw paths."""

import pytest

from specd._engine.document.routing import Router
from specd._engine.errors import DocumentError
from specd.errors import InvalidRequest

PATHS = {
    "/a": frozenset(),
    "/a/fixed": frozenset(),
    "/a/{id}": frozenset({"id"}),
    "/a/{name}": frozenset(),
    "/a/{id}/deep": frozenset({"id"}),
    "/a/{name}/other": frozenset(),
    "/a/fixed/{x}/end": frozenset(),
    "/a/{name}/{y}/tail": frozenset(),
    "/b/{id}": frozenset({"id"}),
    "/{top}/z": frozenset(),
    "/slash/": frozenset(),
    "/text/{name}": frozenset(),
    "/either/{name}": frozenset(),
    "/either/{id}": frozenset({"id"}),
    "/deep/{id}/end": frozenset({"id"}),
    "/deep/{name}": frozenset(),
    "/twice/{x}/{y}": frozenset(),
    "/mixed/{name}.json": frozenset(),
    "/mixed/{name}": frozenset(),
    "/mixed/{id}-{to}": frozenset({"id"}),
    "/mixed/v{id}.{name}.json": frozenset({"id"}),
    "/mixed/fixed.json": frozenset(),
    "/mixed/({x})/end": frozenset(),
}


def router(*, strict: bool = False) -> Router[str]:
    made: Router[str] = Router(strict_integers=strict)
    for path, integers in PATHS.items():
        made.add(path, "GET", integers, path)
    return made


FOUND = [
    (b"/a", "/a", {}),
    (b"/%61", "/a", {}),
    (b"/a/fixed", "/a/fixed", {}),
    (b"/a/fi%78ed", "/a/fixed", {}),
    (b"/a/5", "/a/{id}", {"id": ["5"]}),
    (b"/a/007", "/a/{id}", {"id": ["007"]}),
    (b"/a/-5", "/a/{id}", {"id": ["-5"]}),
    (b"/a/-", "/a/{name}", {"name": ["-"]}),
    (b"/a/five", "/a/{name}", {"name": ["five"]}),
    ("/a/é".encode(), "/a/{name}", {"name": ["é"]}),
    (b"/a/%C3%A9", "/a/{name}", {"name": ["é"]}),
    ("/a/\u0665".encode(), "/a/{name}", {"name": ["\u0665"]}),
    (b"/a/x%2Fy", "/a/{name}", {"name": ["x/y"]}),
    (b"/a/%2E%2E", "/a/{name}", {"name": [".."]}),
    (b"/a/x%3Fy", "/a/{name}", {"name": ["x?y"]}),
    (b"/a/5/deep", "/a/{id}/deep", {"id": ["5"]}),
    (b"/a/5/other", "/a/{name}/other", {"name": ["5"]}),
    (b"/a/fixed/1/end", "/a/fixed/{x}/end", {"x": ["1"]}),
    (b"/a/fixed/1/tail", "/a/{name}/{y}/tail", {"name": ["fixed"], "y": ["1"]}),
    (b"/a/fixed/other", "/a/{name}/other", {"name": ["fixed"]}),
    (b"/b/x", "/b/{id}", {"id": ["x"]}),
    (b"/a/z", "/a/{name}", {"name": ["z"]}),
    (b"/q/z", "/{top}/z", {"top": ["q"]}),
    (b"/slash/", "/slash/", {}),
    (b"/text/5", "/text/{name}", {"name": ["5"]}),
    (b"/text/five", "/text/{name}", {"name": ["five"]}),
    (b"/text/x%2Fy", "/text/{name}", {"name": ["x/y"]}),
    (b"/either/5", "/either/{id}", {"id": ["5"]}),
    (b"/either/five", "/either/{name}", {"name": ["five"]}),
    (b"/deep/5", "/deep/{name}", {"name": ["5"]}),
    (b"/mixed/a.json", "/mixed/{name}.json", {"name": ["a"]}),
    (b"/mixed/a%2Fb.json", "/mixed/{name}.json", {"name": ["a/b"]}),
    (b"/mixed/.json", "/mixed/{name}", {"name": [".json"]}),
    (b"/mixed/v5.a.json", "/mixed/v{id}.{name}.json", {"id": ["5"], "name": ["a"]}),
    (b"/mixed/va.a.json", "/mixed/{name}.json", {"name": ["va.a"]}),
    (b"/mixed/fixed.json", "/mixed/fixed.json", {}),
    (b"/mixed/5-a-b", "/mixed/{id}-{to}", {"id": ["5"], "to": ["a-b"]}),
    (b"/mixed/5", "/mixed/{name}", {"name": ["5"]}),
    (b"/mixed/(a)/end", "/mixed/({x})/end", {"x": ["a"]}),
    (b"/twice/{x}/5", "/twice/{x}/{y}", {"x": ["{x}"], "y": ["5"]}),
]


@pytest.mark.parametrize(("raw", "path", "texts"), FOUND)
def test_finds_the_route(raw: bytes, path: str, texts: dict[str, list[str]]) -> None:
    found = router().find(raw)
    assert found is not None
    assert (found[0].path, dict(found[1])) == (path, texts)


@pytest.mark.parametrize(
    "raw",
    [
        b"/",
        b"",
        b"/a/",
        b"/a//",
        b"/A",
        b"/a/fixed/",
        b"/a/5/nope",
        b"/b",
        b"/a%2Ffixed",
        b"/slash",
        b"//a",
        b"/a/x/y/z",
        b"/text/",
    ],
)
def test_finds_no_route(raw: bytes) -> None:
    assert router().find(raw) is None


@pytest.mark.parametrize(
    "raw", [b"/a/%", b"/a/%2", b"/a/%zz", b"/a/%00", b"/a/%FF", b"/a/\xff", b"/text/\xff"]
)
def test_rejects_invalid_text(raw: bytes) -> None:
    with pytest.raises(InvalidRequest):
        router().find(raw)


def test_strict_integers_reject_other_text() -> None:
    assert router(strict=True).find(b"/b/x") is None
    assert router(strict=True).find(b"/b/5") is not None


def test_allow_is_complete() -> None:
    made: Router[str] = Router()
    made.add("/a", "POST", frozenset(), "1")
    assert made.add("/a", "GET", frozenset(), "2").allow == ("GET", "HEAD", "OPTIONS", "POST")
    assert made.add("/b", "DELETE", frozenset(), "3").allow == ("DELETE", "OPTIONS")


def test_many_segments_are_cheap() -> None:
    made: Router[str] = Router()
    for depth in range(1, 9):
        made.add("/" + "/".join(f"{{p{i}}}" for i in range(depth)), "GET", frozenset(), "x")
    assert made.find(b"/a" * 4000) is None


@pytest.mark.parametrize("path", ["/a/{x}", "/a/{x}.json"])
def test_rejects_ambiguous_paths(path: str) -> None:
    made: Router[str] = Router()
    made.add("/a/{name}", "GET", frozenset(), "1")
    made.add("/a/{name}.json", "GET", frozenset(), "1")
    with pytest.raises(DocumentError, match="/a/"):
        made.add(path, "GET", frozenset(), "2")


def with_slashes() -> Router[str]:
    made = router()
    made.add("/v/{rest}", "GET", frozenset(), "/v/{rest}", takes_slashes=True)
    made.add("/v/fixed/{id}", "GET", frozenset({"id"}), "/v/fixed/{id}")
    return made


@pytest.mark.parametrize(
    ("raw", "path", "texts"),
    [
        (b"/v/x", "/v/{rest}", {"rest": ["x"]}),
        (b"/v/x/y/z", "/v/{rest}", {"rest": ["x/y/z"]}),
        (b"/v/x%2Fy/z", "/v/{rest}", {"rest": ["x/y/z"]}),
        (b"/v/x/y/", "/v/{rest}", {"rest": ["x/y/"]}),
        (b"/v/fixed/5", "/v/fixed/{id}", {"id": ["5"]}),
        (b"/v/fixed/5/6", "/v/{rest}", {"rest": ["fixed/5/6"]}),
    ],
)
def test_parameter_can_match_slashes(raw: bytes, path: str, texts: dict[str, list[str]]) -> None:
    found = with_slashes().find(raw)
    assert found is not None
    assert (found[0].path, found[1]) == (path, texts)


@pytest.mark.parametrize("raw", [b"/v", b"/v/", b"/w/x/y", b"/a/v/x/y/z"])
def test_parameter_with_slashes_matches_nothing_else(raw: bytes) -> None:
    assert with_slashes().find(raw) is None


@pytest.mark.parametrize("path", ["/v/{a}/{b}", "/v/{a}/end", "/{a}/xax"])
def test_only_the_last_parameter_can_match_slashes(path: str) -> None:
    with pytest.raises(DocumentError, match="only a single parameter at the end takes slashes"):
        Router[str]().add(path, "GET", frozenset(), path, takes_slashes=True)
