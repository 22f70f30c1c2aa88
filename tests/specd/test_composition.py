"""A service is composed from its modules, whose default places follow from its name."""

import sys
from pathlib import Path

import pytest

from specd import Project, Service
from specd._composition import compose
from specd._project import NoProject, find_root, find_root_above
from specd._settings import load_settings
from tests.specd.sample import Sample

DOCUMENT = """
    openapi: 3.1.0
    info: {title: Sample, version: 1.0.0}
    servers: [{url: /things/v1}]
    paths:
      /things/{thing_id}:
        get:
          operationId: get_thing
          tags: [things]
          parameters:
            - {name: thing_id, in: path, required: true, schema: {type: integer, minimum: 1}}
          responses:
            "200":
              description: The thing.
              content: {application/json: {schema: {type: object}}}
"""
HANDLERS = """
    from specd import Context, Refusal

    class NoSuchThing(Refusal):
        status, code, sentence = 404, "no_such_thing", "There is no thing {thing_id}."

    def get_thing(ctx: Context, *, thing_id: int) -> dict[str, int]:
        if thing_id > 1:
            raise NoSuchThing(thing_id=thing_id)
        return {"id": thing_id}
"""


@pytest.fixture
def things(sample: Sample) -> Sample:
    sample.write("{name}/openapi.yaml", DOCUMENT)
    sample.write("{name}/handlers.py", HANDLERS)
    return sample


class TestThreeFiles:
    def test_form_a_service(self, things: Sample) -> None:
        with things.client() as client:
            assert client.get("/things/v1/things/1").json() == {"id": 1}
            refused = client.get("/things/v1/things/2")
            assert (refused.status_code, refused.json()["code"]) == (404, "no_such_thing")
            assert refused.json()["message"] == "There is no thing 2."
            invalid = client.get("/things/v1/things/0")
            assert (invalid.status_code, invalid.json()["code"]) == (400, "invalid_request")
            assert invalid.json()["details"][0]["path"] == "/path/thing_id"

    def test_have_no_database(self, things: Sample) -> None:
        project = things.project()
        assert project.databases == ()
        assert load_settings().database_urls == {}
        assert compose(project[things.name], load_settings()).database is None

    def test_with_a_package_of_handlers(self, things: Sample) -> None:
        (things.root / things.name / "handlers.py").unlink()
        things.write("{name}/handlers/things.py", HANDLERS)
        with things.client() as client:
            assert client.get("/things/v1/things/1").json() == {"id": 1}


class TestPlaces:
    def test_default_places_are_used_if_they_exist(self, things: Sample) -> None:
        name = things.name
        before = things.project()[name]
        parts = ("errors", "models", "wiring", "workers", "pages", "commands", "migrations")
        assert [getattr(before, part) for part in parts] == [""] * len(parts)
        assert before.handlers == f"{name}.handlers"
        for module in ("errors", "models/__init__", "wiring", "workers/__init__", "pages"):
            things.write(f"{name}/{module}.py", "")
        things.write(f"{name}/migrations/env.py", "")
        things.write(f"{name}/commands.py", "")
        after = Service(name).placed_in(things.root)
        assert after.errors == f"{name}.errors:errors"
        assert after.migrations == f"{name}/migrations"
        assert [getattr(after, part) for part in parts[1:-1]] == [
            f"{name}.{part}" for part in parts[1:-1]
        ]
        assert after.has_database

    def test_named_places_are_used(self, tmp_path: Path) -> None:
        service = Service(
            "orders", documents=("specs/orders.yaml", "specs/events.yaml"), handlers="api.orders"
        ).placed_in(tmp_path)
        assert service.files == {"orders": "specs/orders.yaml", "events": "specs/events.yaml"}
        assert service.handlers == "api.orders"

    def test_wiring_composes_the_service(self, things: Sample) -> None:
        things.write(
            "{name}/wiring.py",
            """
            from specd import service_from_settings

            def compose(settings):
                return service_from_settings(settings, "{name}", base_path="/other")
            """,
        )
        with things.client() as client:
            assert client.get("/other/things/1").json() == {"id": 1}

    def test_roles_are_checked_by_the_auth_module(self, things: Sample) -> None:
        things.write("{name}/auth.py", "def require_role(ctx, role): ...")
        service = compose(things.project()[things.name], load_settings())
        assert service.require_role is not None
        assert service.require_role.__module__ == f"{things.name}.auth"


@pytest.mark.parametrize("name", ["app", "Shop", "a-b", "1a", ""])
def test_invalid_name_is_rejected(name: str) -> None:
    with pytest.raises(ValueError, match="name of a service"):
        Project(name)


def test_two_services_with_one_name_are_rejected() -> None:
    with pytest.raises(ValueError, match="Two services are named a"):
        Project("a", Service("a"))


class TestRoot:
    def test_is_found_from_a_subfolder(
        self, things: Sample, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        below = things.root / things.name
        assert find_root_above(below) == things.root
        monkeypatch.delitem(sys.modules, "wsgi")
        monkeypatch.delenv("SPECD_PROJECT", raising=False)
        monkeypatch.chdir(below)
        assert find_root() == things.root

    def test_folder_with_another_wsgi_module_is_not_a_root(self, tmp_path: Path) -> None:
        (tmp_path / "wsgi.py").write_text("application = object()\n")
        assert find_root_above(tmp_path) is None

    def test_root_in_the_environment_must_have_a_project(
        self, things: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SPECD_PROJECT", str(things.root))
        assert find_root() == things.root
        monkeypatch.setenv("SPECD_PROJECT", str(tmp_path))
        with pytest.raises(NoProject, match=r"no wsgi\.py"):
            find_root()

    def test_folders_are_relative_to_the_root(
        self, things: Sample, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        things.project()
        monkeypatch.chdir(things.root)
        assert load_settings().data_dir == Path("var")
        monkeypatch.chdir(things.root / things.name)
        settings = load_settings()
        assert settings.data_dir == things.root / "var"
        assert settings.metrics_dir == things.root / "var/metrics"
